"""What a stranger's file or model is called, and what is in it, reaches the terminal as printable text."""

import json
import unicodedata

import pytest

import rosenblatt
from helpers.commands import command
from rosenblatt.cli.main import COMMANDS
from rosenblatt.messages import escape_unprintable, list_some, name_some
from rosenblatt.tables import Table

TITLE, CLEAR, REVERSE, C1, BACK = "\x1b]0;x\x07", "\x1b[2J", "\u202e", "\x9b2J", "ab\x08\x08"
HEADER = [f"a{TITLE}", f"b{REVERSE}", f"c{C1}", f"y{CLEAR}"]
LABELS = [f"no{BACK}", f"yes{TITLE}", f"maybe{REVERSE}"]
WORDS = [f"red{CLEAR}", f"blue{C1}", "green"]
MODEL, DATA, CERTIFICATE = f"m{TITLE}", f"d{CLEAR}.csv", f"c{REVERSE}.json"
TARGET = ["--target", HEADER[-1]]
QUIET = {"demo", "figures", "reproduce"}
"""Commands that read no file."""
RUNS = [
    ("serve", DATA, "--read-only"),
    ("serve", MODEL, "--read-only", "--target", HEADER[0]),
    ("describe", DATA, *TARGET),
    ("describe", DATA, *TARGET, "--json"),
    ("train", DATA, *TARGET, "-o", MODEL),
    ("train", DATA, *TARGET, "-o", MODEL, "--json"),
    ("train", DATA, *TARGET, "--holdout", "0.3", "--scale", "none"),
    ("train", DATA, *TARGET, "--folds", "3", "--seeds", "2"),
    ("train", DATA, *TARGET, "--learner", "kernel", "--checkpoint", f"k{CLEAR}"),
    ("train", DATA, *TARGET, "--drop", HEADER[2], "--class-weight", "balanced"),
    ("train", DATA, "--target", f"x{C1}"),
    ("train", f"none{CLEAR}.csv", *TARGET),
    ("train", DATA, *TARGET, f"--x{CLEAR}"),
    ("train", f"x{CLEAR}", *TARGET, "-p", f"1{TITLE}"),
    ("train", f"bad{CLEAR}.csv", *TARGET),
    ("train", f"bad{CLEAR}.csv", *TARGET, "--on-error", "skip"),
    ("predict", MODEL, DATA, "-o", f"out{REVERSE}.csv", "--json"),
    ("predict", MODEL, f"new{C1}.csv", "-o", f"out{REVERSE}.csv"),
    ("predict", MODEL, DATA, "--id", f"q{CLEAR}"),
    ("test", MODEL, DATA),
    ("test", MODEL, DATA, "--json"),
    ("test", MODEL, f"new{C1}.csv"),
    ("explain", MODEL),
    ("explain", MODEL, "--json"),
    ("explain", MODEL, "--label", LABELS[0]),
    ("explain", MODEL, "--label", TITLE),
    ("explain", MODEL, "--row", f"{DATA}:1"),
    ("explain", MODEL, MODEL),
    ("explain", DATA),
    ("separate", DATA, *TARGET, "-o", CERTIFICATE),
    ("separate", DATA, *TARGET, "--json"),
    ("check", CERTIFICATE, DATA),
    ("check", CERTIFICATE, f"new{C1}.csv"),
    ("check", MODEL, DATA),
    ("export", MODEL, f"e{CLEAR}.json"),
    ("export", MODEL, f"e{CLEAR}.xyz"),
    ("watch", "--format", "csv", *TARGET, "--every", "5", "-o", f"w{TITLE}"),
    ("exercises", "show", f"x{CLEAR}"),
    ("exercises", "grade", f"none{CLEAR}.json"),
    ("exercises", "grade", f"handed{TITLE}.json"),
    ("exercises", "grade", f"handed{TITLE}.json", "--json"),
    ("lab", f"points{C1}.csv", "--export", f"run{CLEAR}.html"),
    ("lab", DATA, "--export", f"run{CLEAR}.html"),
]


def table(header, labels, rows=30):
    """Return rows of two numbers, a word and a label as CSV."""
    lines = [header] + [[f"{i % 5}", f"{i % 7}.5", WORDS[i % 3], labels[i * i // 3 % len(labels)]] for i in range(rows)]
    return "".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in lines)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with tables, a model and a certificate, all of them a stranger's."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("stranger")
        patch.chdir(folder)
        files = {
            DATA: table(HEADER, LABELS),
            f"bad{CLEAR}.csv": table(HEADER, LABELS) + f'"{TITLE}","{CLEAR}","red","{LABELS[0]}"\n',
            f"new{C1}.csv": table([*HEADER[:3], f"z{BACK}"], [f"other{REVERSE}", TITLE]),
            f"points{C1}.csv": f'x,y,"{HEADER[-1]}"\n0,0,"{LABELS[0]}"\n1,"","{LABELS[0]}"\n1,1,"{LABELS[1]}"\n',
        }
        answer = {"exercise": f"4.12{CLEAR}", "answer": {f"w{C1}": REVERSE}}
        files[f"handed{TITLE}.json"] = json.dumps({"version": 1, "name": TITLE, "results": [answer]})
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
        assert command("train", DATA, *TARGET, "-o", MODEL).exit_code == 0
        assert command("separate", DATA, *TARGET, "-o", CERTIFICATE).exit_code in (0, 1)
        yield folder


def unprintable(text):
    return {c for c in text if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"}


def test_every_command_that_reads_files_is_tried():
    assert {run[0] for run in RUNS} == set(COMMANDS) - QUIET


@pytest.mark.parametrize("words", RUNS, ids=lambda words: escape_unprintable(" ".join(words)))
def test_no_command_shows_a_raw_control_character(words, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = command(*words, input=table(HEADER, LABELS) if words[0] == "watch" else None)
    assert isinstance(result.exception, SystemExit | None)
    assert result.stdout + result.stderr
    assert not unprintable(result.stdout + result.stderr)
    if "--json" in words and result.exit_code == 0:
        json.loads(result.stdout)


def test_json_and_predictions_keep_every_character(folder, monkeypatch):
    monkeypatch.chdir(folder)
    scores = json.loads(command("test", MODEL, DATA, "--json").stdout)
    assert {entry["class"] for entry in scores["by_class"]} == set(LABELS)
    assert set(command("predict", MODEL, DATA).stdout.split("\n")[:-1]) <= set(LABELS)
    lines = command("predict", MODEL, DATA, "--json").stdout.split("\n")[:-1]
    assert {json.loads(line)["label"] for line in lines} <= set(LABELS)


def test_a_label_of_two_lines_adds_no_line_to_the_report(tmp_path):
    (tmp_path / "d.csv").write_text("a,y\n" + '1,"x\nAccuracy 100%"\n2,z\n' * 9)
    text = command("train", tmp_path / "d.csv", "-t", "y", "--holdout", "0.5").stdout
    assert "classes x\\nAccuracy 100%, z" in " ".join(text.split())
    assert not any(line.startswith("Accuracy 100%\n") for line in text.splitlines(keepends=True))


def test_reports_and_tables_in_python_show_no_control_character():
    X, y = [[0.0], [1.0], [2.0], [3.0]], LABELS[:2] * 2
    model = rosenblatt.AveragedPerceptron(max_iter=2).fit(X + X, y + [LABELS[2]] * 4)
    model.feature_names_in_ = [HEADER[0]]
    for shown in (model.report_, rosenblatt.explain(model), Table({TITLE: [CLEAR]}, REVERSE, [C1])):
        assert not unprintable(str(shown))
    assert name_some(LABELS[:1]) == "noab\\x08\\x08"
    assert list_some(["a", TITLE]) == "a and \\x1b]0;x\\x07"


def test_columns_of_a_table_stay_aligned():
    lines = str(Table({"class": [CLEAR, "b"], "rows": [1, 22]})).splitlines()
    assert lines[2:] == ["\\x1b[2J     1", "b          22"]
