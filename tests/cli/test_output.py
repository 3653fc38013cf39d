"""What is written where, and what is refused before any work is done."""

import os

import pytest

import rosenblatt
from helpers.commands import AND, XOR, command, refused, written


@pytest.fixture
def files(tmp_path):
    """A table, the model of it, and what commands call them."""
    data = written(tmp_path, "and.csv", AND)
    assert command("train", data, "-t", "label", "-o", tmp_path / "m").exit_code == 0
    return {"{data}": data, "{model}": tmp_path / "m", "{all}": tmp_path / "*.csv", "{none}": tmp_path / "no" / "x"}


def test_nothing_is_written_over_what_is_read(files):
    before = {name: files[name].read_bytes() for name in ("{data}", "{model}")}
    for words in (
        "train {data} -t label -o {data}",
        "train {all} -t label -o {data}",
        "train {data} -t label --checkpoint {data}",
        "predict {model} {data} -o {data}",
        "predict {model} {data} -o {model}",
        "separate {data} -t label -o {data}",
    ):
        assert "is also an input, so it cannot be the output" in refused(
            *[files.get(word, word) for word in words.split()]
        )
    assert {name: files[name].read_bytes() for name in before} == before


def test_a_folder_that_is_not_there_is_told_before_the_work(files, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.open", lambda *_, **__: pytest.fail("it began to read"))
    for words in (
        "train {data} -t label -o {none}",
        "train {data} -t label --checkpoint {none}",
        "predict {model} {data} -o {none}",
        "separate {data} -t label -o {none}",
        "watch -o {none}",
    ):
        assert "There is no folder" in refused(*[files.get(word, word) for word in words.split()])


def test_a_disk_that_fills_up_costs_no_report(files, monkeypatch, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device", str(tmp_path / "new"))

    monkeypatch.setattr("rosenblatt.training.model_file.write_container", full)
    result = command("train", files["{data}"], "-t", "label", "-o", tmp_path / "new")
    assert result.exit_code == 2
    assert "Mistakes by pass" in result.stdout
    assert "Model written" not in result.stdout
    assert result.stderr == f"Error: {tmp_path / 'new'}: No space left on device.\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_answers_on_a_full_disk(files):
    result = command("predict", files["{model}"], files["{data}"], "-o", "/dev/full")
    assert result.exit_code == 2
    assert result.stderr == "Error: /dev/full: could not be written, no space left on device: write to another place.\n"


def test_rows_to_test_on_are_looked_at_before_training(files, tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.training.train.train", lambda *_, **__: pytest.fail("it began to learn"))
    new = written(tmp_path, "new.txt", "a,b\n0,1\n")
    assert "no labels to test against" in refused(
        "train", files["{data}"], "-t", "label", "--test", new, "--format", "csv"
    )


def test_the_model_is_there_even_if_the_test_fails(files, tmp_path):
    broken = written(tmp_path, "broken.csv", XOR + "x,1,yes\n")
    words = ["train", files["{data}"], "-t", "label", "--test", broken, "-o", tmp_path / "kept"]
    assert command(*words).exit_code == 2
    assert rosenblatt.load(tmp_path / "kept").n_features_in_ == 2
