"""``rosenblatt lab``: an interactive web page that shows a perceptron learning, as one HTML file."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from rosenblatt.cli.inputs import check_out
from rosenblatt.cli.options import command, option
from rosenblatt.cli.output import print_text


@command
def lab(
    *,
    source: str | None = typer.Argument(
        None, metavar="SOURCE", help="Table of points (CSV), saved state (JSON), or link to a lab page."
    ),
    out: Path = option(Path("perceptron-lab.html"), "FILE", "HTML file to write.", "--out -o"),
    browser: bool = option(True, None, "Open the page in the browser.", "--browser/--no-browser"),
) -> None:
    """Write a web page that shows a perceptron learning, and open it. Step forward and back through its updates.

    Prints the path of the file, which needs neither Python nor a network. A table has two columns of numbers and one of
    labels, such as x1,x2,label. A saved state is a file exported from the page.

    \b
    Examples:
      rosenblatt lab
      rosenblatt lab points.csv -o points.html --no-browser
    """
    from rosenblatt.lab.bundle import bundle
    from rosenblatt.lab.sources import read_source
    from rosenblatt.storage.container import write_atomically

    check_out(out, [source] if source is not None and os.path.exists(source) else [])
    write_atomically(out, [bundle(read_source(source) if source is not None else {}).encode()])
    print_text(str(out))
    if browser:
        import webbrowser

        webbrowser.open(out.resolve().as_uri())
