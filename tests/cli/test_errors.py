import errno
import os

import pytest

from helpers.commands import AND, command, refused, written
from rosenblatt import Certificate, data
from rosenblatt.blocks import DataError
from rosenblatt.cli.output import error_text, options_of_command
from rosenblatt.cli.train import train
from rosenblatt.messages import Hint, Message, ParameterError, Setting

SPELLED = [
    (ParameterError("give {format='csv'} if it is that."), "give --format csv if it is that."),
    (DataError("x; {on_error='skip'} leaves it out."), "x; --on-error skip leaves it out."),
    (ParameterError("leave {target} out."), "leave --target out."),
    (ParameterError("give {header=False} if not"), "give --no-header if not"),
    (ParameterError("give {header=True} if so"), "give --header if so"),
    (ParameterError("{random_state} must not be negative."), "--seed must not be negative."),
    (ParameterError("{max_iter=3}"), "--passes 3"),
    (ParameterError("{resume=True} needs {checkpoint}"), "--resume needs --checkpoint"),
    (
        ParameterError(
            "{drop=names} or {column_types=types}", names=["a", "b c"], types={"a b": "text", "c": "number"}
        ),
        "--drop a --drop 'b c' or --kind 'a b=text' --kind c=number",
    ),
    (ParameterError("close it{hint}.", hint=Hint(", or give {quote=''}")), "close it."),
    (ParameterError("x{hint}", hint=Hint(": a {rtol}", otherwise=Message(": {bits=3}"))), "x: --bits 3"),
    (ParameterError("x{hint}", hint=Hint(", or give {drop=names}", names=["a"])), "x, or give --drop a"),
    (ParameterError("{setting} must be one character.", setting=Setting("quote")), "quote must be one character."),
    (DataError("a.csv: expected 3 cells,\n got 4"), "a.csv: expected 3 cells, got 4"),
    (ValueError("format=3 and drop=['a'] are left as they are"), "format=3 and drop=['a'] are left as they are"),
    (DataError("dd is no gz file."), "dd is no gz file."),
]


def test_parameters_become_options():
    with options_of_command(train):
        for error, message in SPELLED:
            assert error_text(error) == message


def test_faults_of_the_system_name_the_file():
    assert error_text(OSError(errno.ENOSPC, "No space left on device", "m")) == "m: No space left on device."
    assert error_text(OSError(errno.EIO, "a.csv cannot be read: Input/output error")).startswith("a.csv cannot be read")
    assert error_text(FileNotFoundError(errno.ENOENT, "No such file or directory", "m")) == "There is no file m."
    assert error_text(MemoryError()) == "There is not enough memory."


WAYS_OUT = {
    "separate {ids} -t label": "what is not a feature, or give --kind id=text --kind when=date.",
    "train {one} -t label": "needs at least two classes",
    "separate {gap} -t label": "give --missing zero or --missing mean",
    "train {and} -t label --bits 99": "--bits must be an integer from 1 to 30",
    "predict {model} {gap}": "fill it in the file; --on-error skip leaves such rows out.",
    "predict {model} {svm}": "give --format csv if it has that format.",
    "predict none.model {and}": "There is no file none.model.",
    "train none.csv": "there is no file none.csv",
    "train {and}": "Give --target",
    "train {and} -t colour": "colour",
    "predict {and} {and}": "and.txt",
    "check {and} {and} -t label": "is not a certificate",
    "explain {model} --top 0": "--top must be",
}


def test_the_way_out_is_one_of_the_command(tmp_path):
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
    csv = "--format", "csv"
    strict = "-o", tmp_path / "m", "--missing", "error", *csv
    assert command("train", names["{and}"], "-t", "label", *strict).exit_code == 0
    for words, part in WAYS_OUT.items():
        given = () if "{svm}" in words or "explain" in words else csv
        assert part in refused(*[names.get(word, word) for word in words.split()], *given, answers=True)


def test_links_that_lead_to_themselves_are_refused(tmp_path):
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    rows = written(tmp_path, "and.csv", AND)
    for option in ("-o", "--checkpoint", "--cache"):
        assert "is a symbolic link to itself" in refused("train", rows, "-t", "label", option, tmp_path / "loop")
    assert (tmp_path / "loop").is_symlink()
    with pytest.warns(UserWarning, match="rows cannot be cached"):
        data.open(rows, "label", cache=tmp_path / "loop").read()
    assert (tmp_path / "loop").is_symlink()


def test_certificates_that_are_no_files_are_refused(tmp_path):
    rows = written(tmp_path, "and.csv", AND)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        assert f"{path} is not a file." in refused("check", path, rows, "-t", "label")
        with pytest.raises(ValueError, match="is not a file"):
            Certificate.load(path)
    (tmp_path / "empty").write_text("[]")
    assert "expected a list of certificates, got an empty one" in refused(
        "check", tmp_path / "empty", rows, "-t", "label"
    )
    (tmp_path / "long").write_text("1" * 5000)
    with pytest.raises(ValueError, match=r"long is not a valid certificate: .*, got a number with too many digits\.$"):
        Certificate.load(tmp_path / "long")


def test_a_file_without_rows_is_named(tmp_path):
    rows = written(tmp_path, "blank.svm", "\n" * 10)
    assert "blank.svm" in refused("train", rows, "--format", "svmlight")


REFUSED = {
    "--every soon": "--every expects a length of time",
    "--resume": "--resume needs --checkpoint",
    "--seeds 3": "--seeds",
    "--kind a": "COLUMN=KIND",
    "--passes 0": "--passes must be 1 or more",
    "--max-line 0": "--max-line must be an integer from 1 to 1073741824, got 0.",
    "--max-line 2000000000": "--max-line must be an integer from 1 to 1073741824, got 2000000000.",
    "--features -1": "--features",
    "--r 1": "--r applies to --learner arow, not to averaged: leave it out.",
    "-l arow -C 2": "--C applies to --learner pa, not to arow: leave it out.",
    "-l kernel --loss hinge": "--loss applies to --learner pa, not to kernel: leave it out.",
    "-l pa --margin 1": "--margin applies to --learner margin, not to pa: leave it out.",
    "--hypothesis last": "--hypothesis applies to --learner perceptron, margin, pa, arow or kernel, not to averaged",
    "-l voted --decay 0.1": "--decay applies to --learner averaged, perceptron, margin, pa or arow, not to voted",
    "-l arow --decay 0.1": "--decay applies to averaged weights, but this run predicts with the last ones: leave it",
    "-l margin --hypothesis vote": "--hypothesis must be 'last' or 'average', got 'vote'.",
    "-l pa -C 0": "--C must be a number above 0, got 0.0.",
    "-l pa -C nan": "--C must be a number above 0, got nan.",
    "-l pa --loss log": "--loss must be 'hinge' or 'squared_hinge', got 'log'.",
    "-l arow --r inf": "--r must be a finite number above 0, got inf.",
    "-l margin --margin -1": "--margin must be a number of at least 0, got -1.0.",
    "--decay 1": "--decay must be below 1, got 1.0.",
    "-l pa --degree 2": "--degree applies to --learner kernel, not to pa: leave it out.",
    "-l svm": "--learner must be one of averaged, arow, pa, perceptron, margin, voted, kernel, got 'svm'.",
    "-l averaged --kernel rbf": "--kernel applies to --learner kernel, not to averaged: leave it out.",
    "--max-support 5": "--max-support applies to --learner kernel, not to averaged: leave it out.",
    "-l perceptron --hypothesis vote": "--hypothesis must be 'last' or 'average', got 'vote'.",
    "-l kernel --kernel cubic": "--kernel must be 'linear' or 'poly' or 'rbf' or 'laplacian'",
    "-l kernel --kernel precomputed": "--kernel must be 'linear'",
    "-l kernel --kernel rbf --degree 2": "--degree is not a parameter of --kernel rbf: leave it out, or use poly.",
    "-l kernel --kernel rbf --coef0 2": "or use poly or sigmoid.",
    "-l kernel --kernel linear --gamma 2": "--gamma is not a parameter of --kernel linear",
    "-l kernel --gamma wide": "--gamma must be scale, auto or a number of at least 0, got 'wide'.",
    "-l kernel --gamma -1": "--gamma must be",
    "-l kernel --gamma nan": "--gamma must be",
    "-l kernel --degree -1": "--degree must be an integer from 0 to 1000, got -1.",
    "-l kernel --coef0 inf": "--coef0 must be a number, got inf.",
    "-l kernel --hypothesis pocket": "--hypothesis must be 'average' or 'last' or 'vote', got 'pocket'.",
    "-l kernel --cache-size 0": "--cache-size must be a number of megabytes above 0",
    "-l kernel --cache-size inf": "--cache-size must be a number of megabytes above 0",
    "-l kernel --max-support 0": "--max-support must be an integer of at least 1",
    "-l kernel --device abacus": "--device abacus ",
    "--holdout 20": "between 1% and 99%, such as 20%, or last:20% for the last rows, got '20'.",
    "--holdout x": "for the last rows, got 'x'.",
    "--holdout last:20": "got 'last:20'.",
    "--holdout lasting": "got 'lasting'.",
    "--folds 1": "--folds must be an integer from 2 to 1000, got 1.",
    "--folds 3 --holdout 20%": "--folds and --holdout are two ways to measure the accuracy",
    "--folds 3 --holdout-by a": "--folds and --holdout-by are two ways to measure the accuracy",
    "--folds 3 --seeds 2": "--seeds shows how the accuracy varies",
    "--class-weight even": "LABEL=NUMBER, with a number of at least 0, such as fraud=10, or balanced, got 'even'.",
    "--class-weight balanced --class-weight yes=2": "the weights of all classes: leave out the other weights.",
    "--class-weight yes=-1": "got 'yes=-1'.",
    "--class-weight yes=1 --class-weight yes=2": "--class-weight is given twice for yes",
    "--class-weight maybe=2": "--class-weight names 'maybe', which is not a class: the classes are no, yes.",
    "--cost yes": "--cost expects LABEL=NUMBER, with a number of at least 0, such as fraud=10, got 'yes'.",
    "--cost yes=nan": "got 'yes=nan'.",
    "--cost maybe=2": "--cost names 'maybe', which is not a class: the classes are no, yes.",
    "--cost yes=2 --threshold 1": "--cost finds a threshold by itself: leave out --threshold.",
    "--cost yes=2 -l kernel": "--cost moves the bias of linear weights, which --learner kernel does not have",
    "--threshold 0 -l voted": "--threshold moves the bias of linear weights, which --learner voted does not have",
    "--threshold inf": "--threshold must be a finite number, got inf.",
    "--cluster dask --cost yes=2": "--cost cannot be combined with --cluster",
    "--scale minmax": "--scale must be",
    "--multi-class all": "--multi-class must be 'ovr' or 'direct', got 'all'.",
    "--no-bias -l kernel": "--no-bias does not apply to kernels",
    "--cluster spark": "--cluster must be 'dask' or 'ray'",
    "--mode mix": "--mode applies to training on a cluster: add --cluster dask or --cluster ray.",
    "--address tcp://x:1": "--address applies to training on a cluster",
    "--cluster dask --mode fast": "--mode must be 'exact' or 'mix'",
    "--cluster dask --shards 3": "--shards applies to --mode mix",
    "--cluster dask --mode mix --shards 0": "--shards must be an integer of at least 1, got 0.",
    "--cluster dask --mode mix --decay 0.1": "--mode mix trains shards independently",
    "--cluster dask -l arow": "--cluster applies to --learner averaged or perceptron, not to arow",
    "--cluster ray --holdout 20%": "--holdout cannot be combined with --cluster",
    "--cluster ray --folds 3": "--folds cannot be combined with --cluster",
    "--cluster ray --cache c": "--cache cannot be combined with --cluster",
}
"""What ``train`` does not take, and what it says then, before anything is read or looked for."""


def test_what_makes_no_sense_is_one_sentence(tmp_path):
    path = written(tmp_path, "and.csv", AND)
    for words, sentence in REFUSED.items():
        result = command("train", path, "-t", "label", *words.split())
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1), words
        assert result.stderr.startswith("Error: ")
        assert sentence in result.stderr
