"""Small files for the command, and a way to run it."""

from typer.testing import CliRunner

from rosenblatt.cli.main import app

AND = "a,b,label\n0,0,no\n0,1,no\n1,0,no\n1,1,yes\n"
XOR = "a,b,label\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"
THREE = "+1 1:1 2:1\n+2 1:-1 2:1\n+3 2:-1\n" * 4


def command(*words, input=None, **context):
    """Run the command in this process; its result has exit_code, stdout and stderr."""
    return CliRunner().invoke(app, [str(word) for word in words], input=input, prog_name="rosenblatt", **context)


def ran(*words, input=None):
    """Run a command that has to succeed, and return its result."""
    result = command(*words, input=input)
    assert result.exit_code == 0, result.stderr
    return result


def refused(*words, input=None, answers=False):
    """Run a command that has to fail with an error in a line, and no answer before it; return what it said."""
    result = command(*words, input=input)
    *_, error = result.stderr.splitlines()
    assert (result.exit_code, error[:7]) == (2, "Error: "), (words, result.stderr)
    assert answers or not result.stdout, words
    return " ".join(result.stderr.split())


def written(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path
