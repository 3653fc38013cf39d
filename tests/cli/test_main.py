import re
import subprocess
import sys

import rosenblatt
from helpers.commands import AND, command, written
from rosenblatt.cli.main import COMMANDS


def test_every_command_is_listed_and_has_an_example_that_fits():
    listed = command("--help").stdout
    for name, line in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", listed, re.MULTILINE)
        text = command(name, "--help").stdout
        assert "Example:" in text
        assert f"rosenblatt {name}" in text
        assert max(map(len, text.splitlines())) <= 80
    assert "Did you mean 'train'" in command("trian").stderr


def test_version():
    assert command("--version").stdout == f"rosenblatt {rosenblatt.__version__}\n"
    run = subprocess.run([sys.executable, "-m", "rosenblatt", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout == f"rosenblatt {rosenblatt.__version__}\n"


BAD_USE = (
    ("train none.csv", "there is no file none.csv"),
    ("train {and}", "Give --target"),
    ("train {and} -t colour", "colour"),
    ("train {and} -t label --learner svm", "--learner must be one of"),
    ("train {and} -t label --every soon", "--every expects a length of time"),
    ("train {and} -t label --resume", "--resume needs --checkpoint"),
    ("train {and} -t label --seeds 3", "--seeds"),
    ("train {and} -t label --kind a", "COLUMN=KIND"),
    ("train {and} -t label --passes 0", "--passes must be 1 or more"),
    ("predict {and} {and}", "and.csv"),
    ("test none.model {and}", "none.model"),
    ("check {and} {and} -t label", "is not a certificate"),
)


def test_bad_use_is_one_sentence(tmp_path):
    path = written(tmp_path, "and.csv", AND)
    for words, part in BAD_USE:
        result = command(*[word.replace("{and}", str(path)) for word in words.split()])
        assert (result.exit_code, result.stdout) == (2, ""), words
        assert part.lower() in result.stderr.lower()
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
    assert command("train", "--colour").exit_code == 2


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import rosenblatt.cli.main"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "Error: the command needs the package typer: pip install 'rosenblatt[cli]'.\n"
