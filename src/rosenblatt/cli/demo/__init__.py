"""``rosenblatt demo``: two small data sets, or one idea, in plain words and a picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from rosenblatt.messages import did_you_mean, shorten

IDEAS = {
    "xor": "what one line cannot do, and how it can",
    "circle": "a circle learned as a plane",
    "proof": "why the mistakes must end",
    "margin": "the room between two classes",
    "order": "why rows are shuffled",
}
"""The ideas that have a demo of their own, each in a module of its name."""


def show(idea: str | None, out: Path) -> None:
    """Show one idea, or two small data sets where none is named; write the picture into the folder ``out``."""
    if idea is not None and idea not in IDEAS:
        question = did_you_mean(idea, IDEAS)
        raise ValueError(
            f"there is no demo {shorten(idea)}" + (f": {question}" if question else f"; there are: {', '.join(IDEAS)}.")
        )
    module = import_module(f"rosenblatt.cli.demo.{idea or 'two_data_sets'}")
    module.show(out)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo as ``python -m rosenblatt.cli.demo`` does, and return 0.

    >>> main(["--help"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    parser = argparse.ArgumentParser(
        prog="python -m rosenblatt.cli.demo", description="Train perceptrons on small data, in plain words."
    )
    parser.add_argument("idea", nargs="?", choices=IDEAS, help="one idea alone, in forty lines")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder for the picture (default: out)")
    given = parser.parse_args(argv)
    show(given.idea, given.out)
    return 0
