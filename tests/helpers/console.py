"""Console blocks of the pages: the commands in them, how each is run, and whether its output is what the page says."""

import io
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from rosenblatt.cli.main import app

FENCE = re.compile(r"^( *)(`{3,}|~{3,})(.*)\n((?:.*\n)*?)\1\2 *$", re.MULTILINE)
SECONDS = re.compile(r"\b\d+(?:\.\d+)? s\b")
LONG = re.compile(r"\b\d+\.\d{12,}\b")
COMMENT = re.compile(r"\s+# .*")
SHELL = set("|<>&;$`*?\\")


@dataclass
class Block:
    """A fenced block of a page: its language, its lines, and the number of the first of them."""

    language: str
    lines: list[str]
    line: int


@dataclass
class Command:
    """A command of a console block, the output that the page shows below it, and where it is."""

    words: str
    shown: list[str]
    line: int


def blocks(text):
    """Return every fenced block of a page."""
    return [
        Block(found[3].strip(), _dedented(found[4], len(found[1])), text.count("\n", 0, found.start()) + 2)
        for found in FENCE.finditer(text)
    ]


def _dedented(text, spaces):
    return [line[spaces:] for line in text.splitlines()]


def commands(block):
    """Return the commands of a block: lines after ``$``, with those after a backslash, and the output below each."""
    out, lines = [], iter(enumerate(block.lines, block.line))
    for number, line in lines:
        if line.startswith("$ "):
            words = line[2:]
            while words.endswith("\\"):
                words = words[:-1] + next(lines)[1].strip()
            out.append(Command(COMMENT.sub("", words), [], number))
        elif not out:
            raise ValueError(f"line {number}: a console block must begin with a command, after a dollar sign.")
        else:
            out[-1].shown.append(line)
    return out


def run(words):
    """Run a command in the working folder; return its exit code and what it prints, errors among it.

    The command ``rosenblatt`` and ``python -c`` run in this process, which is quicker, unless the shell has a part in
    it that is more than ``| head``.
    """
    alone, head, lines = words.partition(" | head -")
    name, *arguments = shlex.split(alone)
    if name == "rosenblatt" and not SHELL & set(alone):
        code, printed = _run_here(lambda: app(arguments, prog_name="rosenblatt"))
        return code, "".join(printed.splitlines(keepends=True)[: int(lines)]) if head else printed
    if name == "python" and arguments[:1] == ["-c"] and len(arguments) == 2 and not head:
        return _run_here(lambda: exec(arguments[1], {}))
    python = shlex.quote(sys.executable)
    ours = f'rosenblatt() {{ {python} -m rosenblatt "$@"; }}; python() {{ {python} "$@"; }}\n'
    done = subprocess.run(
        ["bash", "-c", ours + words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120
    )
    return done.returncode, done.stdout


def _run_here(call):
    code, output = 0, io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with redirect_stdout(output), redirect_stderr(output):
        try:
            call()
        except SystemExit as ended:
            code = ended.code or 0
    return code, output.buffer.getvalue().decode()


def agrees(shown, printed):
    """Return whether the lines that a page shows are those printed.

    A line ``...`` stands for any lines, also none. Seconds (``0.74 s``) may differ, and so may what is beyond the
    twelfth digit of a number with twelve or more after the point, which is rounding; nothing else may: not spaces
    within a line, not a digit. Empty lines at the end and spaces at the end of a line are not compared.

    >>> agrees(["1 row; 0.5 s.", "...", "Done."], "1 row; 12 s.\\na\\nb\\nDone.\\n")
    True
    >>> agrees(["1 row; 0.5 s.", "Done."], "1 row; 12 s.\\na\\nDone.\\n")
    False
    """
    lines = "\n".join(line.rstrip() for line in shown).rstrip("\n").split("\n")
    text = "\n".join(line.rstrip() for line in printed.splitlines()).rstrip("\n")
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(_comparable(line)) + "\n" for line in lines)
    return re.fullmatch(pattern, _comparable(text) + "\n") is not None


def _comparable(text):
    return LONG.sub(lambda found: f"{float(found[0]):.12g}", SECONDS.sub("# s", text))
