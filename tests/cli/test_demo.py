"""The demos: numbers that are true, few lines of 80 columns, a picture, and code that runs."""

import contextlib
import io
import re
import sys
from pathlib import Path

import pytest

from helpers.commands import command
from rosenblatt import lab, mistake_bound
from rosenblatt.cli.demo import IDEAS, show
from rosenblatt.data import make_sorted
from rosenblatt.figures import demos


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the demo of two data sets once: what it printed, and the picture's path."""
    folder = tmp_path_factory.mktemp("demo") / "deep" / "out"
    result = command("demo", "--out", folder)
    assert result.exit_code == 0
    return result.stdout, folder / "demo.png"


def test_two_data_sets_fit_eighty_columns_and_a_picture(run):
    text, picture = run
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(picture.read_bytes()) > 20_000
    assert max(len(line) for line in text.splitlines() if str(picture) not in line) < 80
    end = text[text.index("What to try next") :]
    assert str(picture) in end
    assert "Perceptron().fit(X, y)" in end


def test_two_data_sets_are_told_with_their_numbers(run):
    text = " ".join(run[0].split())
    assert "Separated: the last pass made no mistake." in text
    assert "7 passes, 79 updates." in text
    assert "35, 21, 11, 6, 2, 4, 0." in text
    assert "The margin (with the bias as one more feature) lies between" in text
    assert text.count("row 3, col 4") == 1
    assert text.index("row 1, col 5") < text.index("row 3, col 4")
    for words in ("warns: ", "training has not converged", "mean of 10 random splits", "worst concave points"):
        assert words in text


@pytest.mark.parametrize(("idea", "before"), [(None, "What to try next"), ("xor", "In Python:")])
def test_without_matplotlib_it_is_told_all_the_same(monkeypatch, capsys, tmp_path, idea, before):
    for name in {"matplotlib.figure"} | {name for name in sys.modules if name.split(".")[0] == "matplotlib"}:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr(demos, "tumours", lambda: None)
    show(idea, tmp_path)
    text = " ".join(capsys.readouterr().out.split())
    assert text.index("pip install 'rosenblatt[plots]'") < text.index(before)
    assert "icture:" not in text
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    """Run every demo once: what it printed, and the folder of the pictures."""
    folder = tmp_path_factory.mktemp("demos") / "new"
    results = {idea: command("demo", idea, "--out", folder) for idea in IDEAS}
    assert all(result.exit_code == 0 and not result.stderr for result in results.values())
    return {idea: result.stdout for idea, result in results.items()}, folder


def joined(texts, idea):
    return " ".join(texts[0][idea].split())


@pytest.mark.slow
@pytest.mark.parametrize("idea", IDEAS)
def test_it_fits_a_screen_and_writes_a_picture(texts, idea):
    text, picture = texts[0][idea], texts[1] / f"demo-{idea}.png"
    lines = text.splitlines()
    assert len(lines) <= 42
    assert max(len(line) for line in lines if str(picture) not in line) <= 78
    assert f"Picture: {picture}" in lines
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert len(picture.read_bytes()) > 20_000


@pytest.mark.slow
@pytest.mark.parametrize("idea", IDEAS)
def test_what_to_try_next_can_be_tried(texts, idea):
    code = texts[0][idea].split("In Python:\n")[1].split("Step by step")[0]
    warns = pytest.warns() if idea == "order" else contextlib.nullcontext()
    with contextlib.redirect_stdout(io.StringIO()) as printed, warns:
        exec("\n".join(line[2:] for line in code.splitlines()), {})
    (points,) = re.findall(r"the points '(.*)'\.", joined(texts, idea))
    assert f'"{points}"' in (Path(lab.__file__).parent / "page/engine/presets.js").read_text(encoding="utf-8")
    if idea == "circle":
        (shown,) = re.findall(r"learned \((\S+), (\S+)\) (\S+)", joined(texts, idea))
        found = re.findall(r"-?\d+\.\d+", printed.getvalue())[:3]
        assert [float(number) for number in found] == pytest.approx([float(number) for number in shown], rel=0.01)


@pytest.mark.slow
def test_xor_fails_is_proved_and_succeeds(texts):
    text = joined(texts, "xor")
    assert "4,000 mistakes in 1,000 passes, 4 of them in the last" in text
    assert "checked exactly: it holds." in text
    assert "Not separable" in text
    assert "2 x1 +2 x2 -5 (x1 AND x2) -1" in text
    for x1, x2, answer in ((0, 0, "no"), (0, 1, "yes"), (1, 0, "yes"), (1, 1, "no")):
        a = 2 * x1 + 2 * x2 - 5 * (x1 and x2) - 1
        assert f"{x1} {x2} {x1 and x2} {a} {answer}" in text


@pytest.mark.slow
def test_the_circle_is_that_of_the_plane(texts):
    text = joined(texts, "circle")
    w1, w2, w3, b = map(float, re.search(r"passes: (\S+) x1 (\S+) x2 (\S+) \(x1² \+ x2²\) (\S+) is", text).groups())
    x, y, r = map(float, re.search(r"learned \((\S+), (\S+)\) (\S+)", text).groups())
    assert (x, y) == (pytest.approx(-w1 / (2 * w3), rel=0.01), pytest.approx(-w2 / (2 * w3), rel=0.01))
    assert r**2 == pytest.approx(x**2 + y**2 - b / w3, rel=0.03)
    assert "It has 120 of 120 points on the correct side" in text


@pytest.mark.slow
def test_the_proof_squeezes_at_every_line(texts):
    rows = re.findall(r"^  +(\d+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)$", texts[0]["proof"], re.MULTILINE)
    assert len(rows) == 9
    for row in rows:
        k, low, projection, norm, high, cosine, cosine_low = map(float, row)
        assert low <= projection <= norm <= high
        assert cosine_low <= cosine
        assert k <= 107
    text = joined(texts, "proof")
    assert "which is 107 here" in text
    assert "52 mistakes" in text
    assert "fell at 21 updates" in text


@pytest.mark.slow
def test_the_three_margins_are_named_and_ordered(texts):
    text = joined(texts, "margin")
    geometric, augmented, homogeneous = (
        float(re.search(rf"{kind} (\S+)", text)[1]) for kind in ("geometric", "augmented", "homogeneous")
    )
    assert geometric > augmented > homogeneous > 0
    found, best = re.search(r"its margin was (\S+)\. .* The largest margin is (\S+),", text).groups()
    assert float(found) < float(best) == geometric
    longest = float(re.search(r"√\(R² \+ 1\) = (\S+),", text)[1])
    assert (longest / augmented) ** 2 == pytest.approx(97, abs=1)
    assert "= 97 updates" in text


@pytest.mark.slow
def test_sorted_rows_take_many_passes(texts):
    text = joined(texts, "order")
    passes = {name: float(re.search(rf"{name} \d+ (\S+)", text)[1]) for name in ("as sorted", "anew each pass")}
    assert passes["as sorted"] > 5 * passes["anew each pass"]
    assert f"{mistake_bound(*make_sorted(1000, random_state=0)):,.0f} here" in text


def test_an_unknown_idea_is_one_sentence_and_help_names_all(tmp_path):
    for idea, words in (("Xorr", "did you mean 'xor'?"), ("zebra", "use xor, circle, proof, margin or order.")):
        result = command("demo", idea, "--out", tmp_path)
        assert (result.exit_code, result.stderr) == (2, f"Error: there is no demo '{idea}': {words}\n")
    assert list(tmp_path.iterdir()) == []
    help = command("demo", "--help").stdout
    assert all(f"{idea:<7} {words}" in help for idea, words in IDEAS.items())


@pytest.mark.parametrize(("idea", "alike"), [("xor", True), ("margin", True), ("circle", False)])
def test_panels_of_the_same_points_have_the_same_limits_and_names(idea, alike, monkeypatch, tmp_path):
    kept = []
    monkeypatch.setattr(demos, "draw", lambda path, size, fill: kept.append((size, fill)))
    monkeypatch.setattr("builtins.print", lambda *args, **kwargs: None)
    show(idea, tmp_path)
    ((size, fill),) = kept
    figure = demos.blank(*size)
    fill(figure)
    left, right = figure.axes
    for ax in (left, right):
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x₁", "x₂")
    if alike:
        assert (left.get_xlim(), left.get_ylim()) == (right.get_xlim(), right.get_ylim())
        marks = [one for ax in figure.axes for one in ax.collections if one.get_zorder() == 3]
        assert len({float(one.get_sizes()[0]) for one in marks}) == 1
