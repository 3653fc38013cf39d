"""``rosenblatt lab``: an interactive web page that shows a perceptron learning, or a file that replays one run."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.options import command, option
from rosenblatt.cli.output import enable_gc, print_note, print_text


@command
def lab(
    *,
    source: str | None = typer.Argument(
        None, metavar="SOURCE", help="Table of points (CSV), saved state (JSON), or address of a lab page."
    ),
    port: int = option(0, "N", "Port to serve on; 0 picks a free port."),
    browser: bool = option(True, None, "Open the page in the browser.", "--browser/--no-browser"),
    export: Path | None = option(None, "HTML", "Write the run to one file instead of serving it."),
) -> None:
    """Open a web page that shows a perceptron learning. Step forward and back through its updates.

    Prints the address of the page, which only this machine can reach, and serves the page until Ctrl-C. A table has two
    columns of numbers and one of labels, such as x,y,label. A saved state is a file exported from the page. The file
    written by --export replays the run without Python or a network.

    \b
    Examples:
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
        print_note(left_out)
    enable_gc()
    if export is not None:
        from rosenblatt.storage.container import write_atomically

        write_atomically(export, [exported(state).encode()])
        print_text(f"Run written to {export}: open it in a browser.")
        return
    from rosenblatt.lab.launch import launch

    launch(state, port, browser)
