import errno

import pytest

from helpers.commands import AND, command, written
from rosenblatt.cli.errors import sentence


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ("say format='csv' if it is that.", "Say --format csv if it is that."),
        ('say missing="zero" or missing="mean" to fill it.', "Say --missing zero or --missing mean to fill it."),
        ('x; on_error="skip" leaves such rows out.', "x; --on-error skip leaves such rows out."),
        ("leave target= out, or say format=.", "Leave --target out, or say --format."),
        ("say header=False if it is not", "Say --no-header if it is not"),
        ("say header=True if it has them", "Say --header if it has them"),
        ("random_state must not be negative, got -1.", "--seed must not be negative, got -1."),
        ("drop=['a', 'b'] and kinds={'a b': 'text'}", "--drop a --drop b and --kind 'a b=text'"),
        ("a.csv: expected 3 cells,\n got 4", "a.csv: expected 3 cells, got 4"),
        ("weights must be 1, w=3", "weights must be 1, w=3"),
    ],
)
def test_parameters_become_options(said, heard):
    assert sentence(ValueError(said)) in (heard, heard[0].upper() + heard[1:])


def test_faults_of_the_system_name_the_file():
    assert sentence(OSError(errno.ENOSPC, "No space left on device", "m")) == "m: No space left on device."
    assert sentence(OSError(errno.EIO, "a.csv cannot be read: Input/output error")).startswith("a.csv cannot be read")
    assert sentence(FileNotFoundError(errno.ENOENT, "No such file or directory", "m")) == "There is no file m."
    assert sentence(MemoryError()) == "There is not enough memory."


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["train", "{ids}", "-t", "label"], "by --drop id --drop when, or say --kind id=text --kind when=category."),
        (["train", "{one}", "-t", "label"], "Training needs at least two classes"),
        (["train", "{gap}", "-t", "label"], "say --missing zero or --missing mean"),
        (["train", "{and}", "-t", "label", "--bits", "99"], "--bits must be between 1 and 30"),
        (["predict", "{model}", "{ids}"], "take it out of the file."),
        (["predict", "{model}", "{svm}"], "say --format csv if it is that."),
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
    assert command("train", names["{and}"], "-t", "label", "-o", tmp_path / "m", "--format", "csv").exit_code == 0
    given = [] if words[0] == "explain" else given
    result = command(*[names.get(word, word) for word in words], *given)
    assert result.exit_code == 2
    assert part in result.stderr
