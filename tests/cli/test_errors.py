import errno
import os

import pytest

from helpers.commands import AND, command, written
from rosenblatt import Certificate, data
from rosenblatt.blocks import DataError
from rosenblatt.cli.output import cli_message, running
from rosenblatt.cli.train import train
from rosenblatt.messages import IfAvailable, ParameterError, Setting


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ParameterError("give ", Setting("format", "csv"), " if it is that."), "give --format csv if it is that."),
        (DataError("x; ", Setting("on_error", "skip"), " leaves it out."), "x; --on-error skip leaves it out."),
        (ParameterError("leave ", Setting("target"), " out."), "leave --target out."),
        (ParameterError("give ", Setting("header", False), " if not"), "give --no-header if not"),
        (ParameterError("give ", Setting("header", True), " if so"), "give --header if so"),
        (ParameterError(Setting("random_state"), " must not be negative."), "--seed must not be negative."),
        (ParameterError(Setting("max_iter", 3)), "--passes 3"),
        (ParameterError(Setting("resume", True), " needs ", Setting("checkpoint")), "--resume needs --checkpoint"),
        (
            ParameterError(Setting("drop", ["a", "b c"]), " or ", Setting("kinds", {"a b": "text", "c": "number"})),
            "--drop a --drop 'b c' or --kind 'a b=text' --kind c=number",
        ),
        (ParameterError("close it", IfAvailable("quote", ", or give ", Setting("quote", "")), "."), "close it."),
        (ParameterError("x", IfAvailable("rtol", ": a", otherwise=(": ", Setting("bits", 3)))), "x: --bits 3"),
        (ParameterError("x", IfAvailable("drop", ", or give ", Setting("drop", ["a"]))), "x, or give --drop a"),
        (ParameterError(Setting("quote"), " must be one character."), "quote must be one character."),
        (DataError("a.csv: expected 3 cells,\n got 4"), "a.csv: expected 3 cells, got 4"),
        (ValueError("format=3 and drop=['a'] are left as they are"), "format=3 and drop=['a'] are left as they are"),
        (DataError("dd is no gz file."), "dd is no gz file."),
    ],
)
def test_parameters_become_options(error, message):
    with running(train):
        assert cli_message(error) == message


def test_faults_of_the_system_name_the_file():
    assert cli_message(OSError(errno.ENOSPC, "No space left on device", "m")) == "m: No space left on device."
    assert cli_message(OSError(errno.EIO, "a.csv cannot be read: Input/output error")).startswith(
        "a.csv cannot be read"
    )
    assert cli_message(FileNotFoundError(errno.ENOENT, "No such file or directory", "m")) == "There is no file m."
    assert cli_message(MemoryError()) == "There is not enough memory."


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["separate", "{ids}", "-t", "label"], "by --drop id --drop when, or give --kind id=text --kind when=date."),
        (["train", "{one}", "-t", "label"], "needs at least two classes"),
        (["separate", "{gap}", "-t", "label"], "give --missing zero or --missing mean"),
        (["train", "{and}", "-t", "label", "--bits", "99"], "--bits must be an integer from 1 to 30"),
        (["predict", "{model}", "{gap}"], "fill it in the file; --on-error skip leaves such rows out."),
        (["predict", "{model}", "{svm}"], "give --format csv if it is that."),
        (["predict", "none.model", "{and}"], "There is no file none.model."),
        (["explain", "{model}", "--top", "0"], "--top must be"),
    ],
)
def test_the_way_out_is_one_of_the_command(tmp_path, words, part):
    rows = "".join(f"n{k}z,2024-01-{k % 9 + 10},{k % 2},1,{k % 3 == 0}\n" for k in range(60))
    texts = {
        "and": AND,
        "ids": "id,when,a,b,label\n" + rows,
        "one": "a,b,label\n1,2,x\n3,4,x\n",
        "gap": AND + ",1,no\n",
        "svm": "1 1:1\n-1 2:1\n",
    }
    names = {f"{{{name}}}": written(tmp_path, f"{name}.txt", text) for name, text in texts.items()}
    names["{model}"] = tmp_path / "m"
    given = [] if "{svm}" in words else ["--format", "csv"]
    strict = "--format", "csv", "--missing", "error"
    assert command("train", names["{and}"], "-t", "label", "-o", tmp_path / "m", *strict).exit_code == 0
    given = [] if words[0] == "explain" else given
    result = command(*[names.get(word, word) for word in words], *given)
    assert result.exit_code == 2
    assert part in result.stderr


def test_links_that_lead_to_themselves_are_refused(tmp_path):
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    rows = written(tmp_path, "and.csv", AND)
    for option in ("-o", "--checkpoint", "--cache"):
        result = command("train", rows, "-t", "label", option, tmp_path / "loop")
        assert result.exit_code == 2
        assert "is a link that leads nowhere but to itself" in result.stderr
    assert (tmp_path / "loop").is_symlink()
    with pytest.warns(UserWarning, match="rows cannot be cached"):
        data.open(rows, "label", cache=tmp_path / "loop").read()
    assert (tmp_path / "loop").is_symlink()


def test_certificates_that_are_no_files_are_refused(tmp_path):
    rows = written(tmp_path, "and.csv", AND)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        result = command("check", path, rows, "-t", "label")
        assert result.exit_code == 2
        assert f"{path} is no file." in result.stderr
        with pytest.raises(ValueError, match="is no file"):
            Certificate.load(path)
    (tmp_path / "empty").write_text("[]")
    result = command("check", tmp_path / "empty", rows, "-t", "label")
    assert result.exit_code == 2
    assert "expected a list of certificates, got an empty one" in result.stderr
    (tmp_path / "long").write_text("1" * 5000)
    with pytest.raises(ValueError, match=r"long is no certificate .* a number or brackets without end\.$"):
        Certificate.load(tmp_path / "long")


def test_a_file_without_rows_is_named(tmp_path):
    rows = written(tmp_path, "blank.svm", "\n" * 10)
    result = command("train", rows, "--format", "svmlight")
    assert result.exit_code == 2
    assert "blank.svm" in result.stderr
