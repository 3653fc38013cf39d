import subprocess
import sys

import pytest

import rosenblatt
from helpers.commands import AND, command, written

NAMES = [
    "train",
    "predict",
    "test",
    "explain",
    "separate",
    "check",
    "watch",
    "export",
    "reproduce",
    "demo",
    "lab",
    "bench",
]


def test_help_names_every_command():
    result = command("--help")
    assert result.exit_code == 0
    for name in NAMES:
        assert f"\n  {name} " in result.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_an_example_that_fits(name):
    text = command(name, "--help").stdout
    assert "Example:" in text
    assert f"rosenblatt {name}" in text
    assert max(map(len, text.splitlines())) <= 80


def test_version():
    assert command("--version").stdout == f"rosenblatt {rosenblatt.__version__}\n"
    run = subprocess.run([sys.executable, "-m", "rosenblatt", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"rosenblatt {rosenblatt.__version__}\n"


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom rosenblatt.cli.main import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        "sys.exit(any(name in sys.modules for name in ('numpy', 'scipy', 'sklearn', 'numba', 'pyarrow', 'rich')))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["train", "none.csv"], "there is no file none.csv"),
        (["train", "{and}"], "Give --target"),
        (["train", "{and}", "-t", "colour"], "colour"),
        (["train", "{and}", "-t", "label", "--learner", "svm"], "--learner must be one of"),
        (["train", "{and}", "-t", "label", "--every", "soon"], "--every expects a length of time"),
        (["train", "{and}", "-t", "label", "--resume"], "--resume needs --checkpoint"),
        (["train", "{and}", "-t", "label", "--seeds", "3"], "--seeds"),
        (["train", "{and}", "-t", "label", "--kind", "a"], "COLUMN=KIND"),
        (["train", "{and}", "-t", "label", "--passes", "0"], "--passes must be 1 or more"),
        (["predict", "{and}", "{and}"], "and.csv"),
        (["test", "none.model", "{and}"], "none.model"),
        (["check", "{and}", "{and}", "-t", "label"], "is no certificate"),
    ],
)
def test_bad_use_is_one_sentence(tmp_path, words, part):
    path = written(tmp_path, "and.csv", AND)
    result = command(*[word.replace("{and}", str(path)) for word in words])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert part.lower() in result.stderr.lower()
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1


def test_an_unknown_option_is_bad_use():
    assert command("train", "--colour").exit_code == 2


def test_bench_needs_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr("rosenblatt.cli.bench.__file__", str(tmp_path / "a" / "b" / "c" / "bench.py"))
    result = command("bench")
    assert result.exit_code == 2
    assert "checkout" in result.stderr


def test_bench_hands_on_its_options_and_its_exit_code(monkeypatch, tmp_path):
    folder = tmp_path / "benchmarks"
    folder.mkdir()
    written(folder, "__main__.py", "import os, sys\nopen('told', 'w').write(' '.join(sys.argv[1:]))\nsys.exit(3)\n")
    monkeypatch.setattr("rosenblatt.cli.bench.__file__", str(tmp_path / "src" / "rosenblatt" / "cli" / "bench.py"))
    assert command("bench", "--quick", "--only", "memory").exit_code == 3
    assert (tmp_path / "told").read_text() == "--quick --only memory"


@pytest.mark.slow
def test_bench_is_that_of_the_repository(capfd):
    assert command("bench", "--only", "no such figure").exit_code == 2
    assert "nothing is called 'no such figure'; there are " in capfd.readouterr().err


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import rosenblatt.cli.main"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "Error: the command needs the package typer: pip install 'rosenblatt[cli]'.\n"
