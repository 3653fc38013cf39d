import re
import subprocess
import sys

import pytest

import rosenblatt
from helpers.commands import command
from rosenblatt.cli.main import COMMANDS


def test_every_command_is_listed_and_has_an_example_that_fits():
    listed = command("--help").stdout
    for name, line in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", listed, re.MULTILINE)
        text = command(name, "--help").stdout
        assert re.search("^  Examples?:$", text, re.MULTILINE)
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


_INTERRUPTS = """
import signal, sys, time
from ctypes import CFUNCTYPE
from rosenblatt.cli import main

def twice():
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        print("once", end=" ", flush=True)
        signal.raise_signal(signal.SIGINT)

def where_python_discards_it():  # as in the callbacks of numba's compiler
    CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
    print("discarded", end=" ")
    time.sleep(60)

def three_times():
    try:
        twice()
    finally:
        signal.raise_signal(signal.SIGINT)

main.app = globals()[sys.argv[1]]
main.main()
"""


@pytest.mark.parametrize(
    ("moment", "told"), [("twice", "once "), ("three_times", "once "), ("where_python_discards_it", "discarded ")]
)
def test_an_interrupt_at_any_moment_ends_the_command_without_a_traceback(moment, told):
    words = [sys.executable, "-c", _INTERRUPTS, moment]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (130, told, "")


def test_an_interrupt_after_the_end_changes_nothing():
    code = (
        "import signal, sys; from rosenblatt.cli import main\n"
        "class Late:\n"
        "    def write(self, text): pass\n"
        "    def flush(self): [signal.raise_signal(number) for number in (signal.SIGINT, signal.SIGTERM)]\n"
        "main.app, sys.stdout = lambda: sys.exit(1), Late()\n"
        "main.main()"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (1, "")
