"""``rosenblatt lab``: a page in the browser where a perceptron learns, or one file with a run of it."""

from __future__ import annotations

import os
from pathlib import Path

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.output import note, say
from rosenblatt.cli.startup import enable_gc


def lab(source: str | None, port: int, browser: bool, export: Path | None) -> None:
    """Open the lab with a table of points, a state or an address, until Ctrl-C; or write a run as HTML."""
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
