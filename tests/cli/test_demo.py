import sys

import pytest

from helpers.commands import command
from rosenblatt.cli.demo import main


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run the command once: its exit code, what it printed, the picture's path."""
    folder = tmp_path_factory.mktemp("demo") / "deep" / "out"
    result = command("demo", "--out", folder)
    return result.exit_code, result.stdout, folder / "demo.png"


def test_it_succeeds_and_writes_a_picture(run):
    code, _, picture = run
    assert code == 0
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 20_000


def test_it_fits_eighty_columns_but_for_the_path(run):
    _, text, picture = run
    lines = [line for line in text.splitlines() if str(picture) not in line]
    assert max(map(len, lines)) < 80


def test_it_tells_of_the_zeros(run):
    text = " ".join(run[1].split())
    assert "Separated: the last pass made no mistake." in text
    assert "7 passes, 79 updates." in text
    assert "35, 21, 11, 6, 2, 4, 0." in text
    assert "The margin (with the bias as one more feature) lies between" in text
    assert text.count("row 3, col 4") == 1
    assert text.index("row 1, col 5") < text.index("row 3, col 4")


def test_it_tells_of_the_tumours(run):
    text = " ".join(run[1].split())
    assert "warns: " in text
    assert "the data is not separated" in text
    assert "mean of 10 random splits" in text
    assert "worst concave points" in text


def test_it_ends_with_the_picture_and_what_to_try(run):
    _, text, picture = run
    end = text[text.index("What to try next") :]
    assert str(picture) in end
    assert "Perceptron().fit(X, y)" in end


def test_without_matplotlib_it_says_what_to_install(monkeypatch, capsys, tmp_path):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr("rosenblatt.cli.demo.two_data_sets._tumours", lambda: None)
    assert main(["--out", str(tmp_path)]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "pip install 'rosenblatt[plots]'" in text
    assert "Look at the picture" not in text
    assert list(tmp_path.iterdir()) == []
