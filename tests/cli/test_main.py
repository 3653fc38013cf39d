import re
import subprocess
import sys

import rosenblatt
from helpers.commands import command
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


def test_what_is_no_option_is_refused():
    assert command("train", "--colour").exit_code == 2


def test_without_typer_it_says_what_to_install():
    code = "import sys; sys.modules['typer'] = None; import rosenblatt.cli.main"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert ran.stderr == "Error: the command needs the package typer: pip install 'rosenblatt[cli]'.\n"
