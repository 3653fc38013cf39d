"""``rosenblatt lab``: a page in the browser where a perceptron learns, or one file with a run of it."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.options import command, option
from rosenblatt.cli.output import enable_gc, note, say


@command
def lab(
    *,
    source: str | None = typer.Argument(
        None, metavar="SOURCE", help="A table of points (CSV), a state (JSON), or an address of the lab."
    ),
    port: int = option(0, "N", "Port of the address; 0 is a free one."),
    browser: bool = option(True, None, "Open the page in the browser.", "--browser/--no-browser"),
    export: Path | None = option(None, "HTML", "Write the run as one file instead, and end."),
) -> None:
    """Open a page in the browser where a perceptron learns, step by step, forward and back.

    Prints its address, which only this machine can reach, and serves it until Ctrl-C. A table has two columns of
    numbers and one of labels, such as x,y,label; a state is what the page exports. The file that --export writes
    replays the run without Python and without a network.

    \b
    Example:
      rosenblatt lab
      rosenblatt lab points.csv --export run.html
    """
    from rosenblatt.lab.questions import exported, start_state
    from rosenblatt.lab.sources import read_source

    if export is not None:
        read = [source] if source is not None and os.path.exists(source) else []
        check_out(export, read)
    state, left_out = read_source(source) if source is not None else (start_state(), "")
    if left_out:
        note(left_out)
    enable_gc()
    if export is not None:
        from rosenblatt.storage.container import write_atomically

        write_atomically(export, [exported(state).encode()])
        say(f"Run written to {export}: open it in a browser.")
        return
    from rosenblatt.lab.launch import launch

    launch(state, port, browser)
