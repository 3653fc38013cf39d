"""The commands about proofs: verdicts on whether classes can be separated, and their certificates."""

from __future__ import annotations

from typing import Annotated

import typer

from rosenblatt.cli import options as given
from rosenblatt.cli.output import exit_cleanly
from rosenblatt.cli.row_options import RowOptions, grouped

commands = typer.Typer(rich_markup_mode=None)


@commands.command(short_help="Decide whether a hyperplane separates; prove it.")
@exit_cleanly
@grouped
def separate(
    data: given.Files,
    target: given.Target = None,
    out: given.CertificateOut = None,
    rtol: given.Rtol = None,
    margin: given.WithMargin = True,
    max_seconds: given.MaxSeconds = None,
    as_json: given.AsJson = False,
    *,
    rows: RowOptions,
) -> None:
    """Decide whether a hyperplane separates the classes, and prove it. Reads all rows into memory.

    The verdict comes first, then its margin; Ctrl-C meanwhile keeps the bracket that was reached. Numbers are taken as
    they are in the files: nothing is scaled.

    \b
    Example:
      rosenblatt separate mushrooms.bz2 -o mushrooms.cert
    """
    from rosenblatt.cli.separate import separate as run_it

    run_it(data, target, out, rtol, margin, max_seconds, rows.to_open(), as_json)


@commands.command(short_help="Recompute every claim of a certificate from the data.")
@exit_cleanly
@grouped
def check(
    certificate: Annotated[str, typer.Argument(metavar="CERT", help="A file that separate wrote.")],
    data: given.Files,
    target: given.Target = None,
    as_json: given.AsJson = False,
    *,
    rows: RowOptions,
) -> None:
    """Recompute every claim of a certificate from the data; exit with 1 if one does not hold.

    Reads all rows into memory. A certificate that separate wrote says which column is the label and how rows are made;
    one without that, of an earlier version or from Python, needs the options that separate was given.

    \b
    Example:
      rosenblatt check mushrooms.cert mushrooms.bz2
    """
    from rosenblatt.cli.separate import check as run_it

    run_it(certificate, data, target, rows, as_json)
