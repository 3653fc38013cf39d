import sys
from types import SimpleNamespace
from urllib.error import URLError

import pytest

from helpers.commands import command, ran, refused
from helpers.idx_files import write_mnist
from rosenblatt.cli import reproduce
from rosenblatt.reproductions import freund_schapire as images

NAME = "freund-schapire-1999"


def test_small_digits_are_learned_printed_and_written(tmp_path):
    folder = tmp_path / "deep" / "out"
    result = ran("reproduce", NAME, "--small", "--degrees", "2,3", "--epochs", "1", "--out", folder)
    assert result.stderr == ""
    assert "Degree 2: trained in" in result.stdout
    assert "Degree 3: trained in" in result.stdout
    assert f"Table written to {folder / NAME}.csv." in " ".join(result.stdout.split())
    assert f"Plot written to {folder / NAME}.png." in " ".join(result.stdout.split())
    lines = (folder / f"{NAME}.csv").read_text().splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [["2", "0.1"], ["2", "1"], ["3", "0.1"], ["3", "1"]]
    assert (folder / f"{NAME}.png").read_bytes().startswith(b"\x89PNG")


def test_it_writes_to_this_folder_from_files_and_seeds_differ(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_mnist(tmp_path, packed=True)
    written = []
    for seed in ("0", "0", "1"):
        result = ran("reproduce", NAME, "--data", ".", "--degrees", "1,2", "--epochs", "2", "--seed", seed)
        assert "MNIST: 40 rows to train on, 30 to test on." in result.stdout
        written.append((tmp_path / f"{NAME}.csv").read_text())
    assert written[0] == written[1] != written[2]


def test_without_matplotlib_the_table_is_written(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = ran("reproduce", NAME, "--small", "--degrees", "2", "--epochs", "1", "--out", tmp_path)
    assert "pip install 'rosenblatt[plots]'" in " ".join(result.stderr.split())
    assert [path.name for path in tmp_path.iterdir()] == [f"{NAME}.csv"]
    assert "Picture" not in result.stdout


def test_progress_is_shown_on_a_terminal(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(
        "rosenblatt.reproductions.freund_schapire_1999", lambda *_, verbose, **__: asked.append(verbose)
    )
    command("reproduce", NAME, "--out", tmp_path)
    monkeypatch.setattr(reproduce, "sys", SimpleNamespace(stderr=SimpleNamespace(isatty=lambda: True)))
    command("reproduce", NAME, "--out", tmp_path)
    assert asked == [0, 1]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["rosenblatt-1958"], "there is no experiment 'rosenblatt-1958': use freund-schapire-1999."),
        ([NAME, "--small", "--degrees", "0"], "--degrees must be an integer of at least 1, got 0."),
        ([NAME, "--small", "--degrees", "two"], "--degrees expects integers such as 1,2,3, got 'two'."),
        ([NAME, "--small", "--degrees", ","], "--degrees expects integers such as 1,2,3, got ','."),
        ([NAME, "--small", "--epochs", "0"], "--epochs must be an integer of at least 1, got 0."),
        ([NAME, "--small", "--seed", "-1"], "--seed must be an integer of at least 0, got -1."),
        ([NAME, "--small", "--data", "here"], "--small uses the digits of scikit-learn"),
        ([NAME, "--data", "nowhere"], "--data must be a folder, and nowhere is not one."),
        ([NAME, "--small", "--out", "{file}"], "out.txt"),
    ],
)
def test_bad_use_is_one_sentence(tmp_path, monkeypatch, words, part):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.txt").write_text("a file")
    assert part in refused("reproduce", *[word.replace("{file}", "out.txt") for word in words])


def test_without_a_network_it_says_where_to_get_mnist_in_words_of_the_command(tmp_path, monkeypatch):
    def unreachable(*_, **__):
        raise URLError("Name or service not known")

    monkeypatch.setattr(images, "fetch_openml", unreachable)
    said = refused("reproduce", NAME, "--out", tmp_path)
    assert "any mirror and give their folder as --data" in said
    assert "--small needs no download." in said
    assert list(tmp_path.iterdir()) == []
