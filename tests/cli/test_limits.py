"""--max-line and --features at every command that reads data."""

import pytest

from helpers.commands import command, written

ROWS = "-1 1:1\n1 2:1 3:0.000000000001\n"
LONG = "line 2: the line has more than 20 bytes, expected a newline before that: give a larger --max-line if lines are"


@pytest.fixture
def files(tmp_path):
    rows = written(tmp_path, "a.svm", ROWS)
    assert command("train", rows, "-o", tmp_path / "m").exit_code == 0
    assert command("separate", rows, "-o", tmp_path / "c").exit_code == 0
    return {"ROWS": rows, "MODEL": tmp_path / "m", "CERT": tmp_path / "c"}


def test_every_command_says_how_long_a_line_may_be(tmp_path, files):
    files["FEW"] = written(tmp_path, "few.svm", "-1 1:1\n1 2:1\n")
    files["ROWS:1"] = f"{files['ROWS']}:1"
    for words in (
        "train ROWS",
        "train FEW --test ROWS",
        "predict MODEL ROWS",
        "test MODEL ROWS",
        "explain MODEL --row ROWS:1",
        "separate ROWS",
        "check CERT ROWS",
        "watch",
    ):
        given = [files.get(word, word) for word in words.split()]
        result = command(*given, "--max-line", 20, input=ROWS)
        assert result.exit_code == 2
        assert LONG in result.stderr
        assert "Traceback" not in result.stderr
        assert command(*given, "--max-line", 24, input=ROWS).exit_code == 0


def test_a_huge_index_needs_consent(tmp_path, files):
    huge = ROWS + "-1 1:1 2147483646:1\n"
    files["ROWS"] = written(tmp_path, "huge.svm", huge)
    for words in ("train ROWS", "separate ROWS", "watch"):
        given = [files.get(word, word) for word in words.split()]
        result = command(*given, input=huge)
        assert result.exit_code == 2
        sentence = (
            "line 3: the index in '2147483646:1' makes 2,147,483,646 columns, whose weights take 34.4 GB, expected at"
        )
        assert f"{sentence} most 67,108,864: give --features 2147483646 if there are that many." in result.stderr
        assert command(*given, "--features", 3, input=huge).exit_code in (0, 1)
