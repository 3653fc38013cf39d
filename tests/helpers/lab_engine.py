"""The page's own engine, asked in Node."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="no Node on the path: install it, and the page's engine is tested")
_ANSWERS = Path(__file__).parents[1] / "lab" / "js" / "answers.mjs"


def asked(questions):
    """Return the engine's answers to many questions ``(name, body)``, from one process; a refusal is a ValueError."""
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    command = [NODE, str(_ANSWERS)]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line, parse_int=_number) for line in done.stdout.splitlines()]
    return [found["answer"] if "answer" in found else ValueError(found["error"]) for found in answers]


def ask(name, body):
    """Return the engine's answer to one question, or raise its refusal."""
    (found,) = asked([(name, body)])
    if isinstance(found, ValueError):
        raise found
    return found


def _number(text):
    """Return an integer, or the float that JavaScript writes as one, whose last digits may be zeros."""
    value = int(text)
    return value if abs(value) < 2**53 else float(text)
