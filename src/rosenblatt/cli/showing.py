"""The commands that show something rather than work on files: experiments, figures, demo, lab, benchmarks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli import options as given
from rosenblatt.cli.demo import IDEAS
from rosenblatt.cli.output import exit_cleanly
from rosenblatt.cli.several_values import SeveralDegrees

commands = typer.Typer(rich_markup_mode=None)
"""What `rosenblatt.cli.main` adds after its own commands."""
*_FIRST, _LAST = IDEAS
_NAMES = f"{', '.join(_FIRST)} or {_LAST}"
_DEMO = "\n".join(
    [
        "Run the demo: two small data sets, or one idea, in plain words and a picture.",
        "",
        "\b",
        *(f"{idea:<7} {words}" for idea, words in IDEAS.items()),
        "",
        "\b",
        "Example:",
        "  rosenblatt demo",
        "  rosenblatt demo xor",
    ]
)
_HANDED_ON = {"allow_extra_args": True, "ignore_unknown_options": True}


@commands.command(short_help="Run a paper's experiment; print its table beside ours.", cls=SeveralDegrees)
@exit_cleanly
def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Which paper: freund-schapire-1999.")],
    degrees: given.Degrees = None,
    epochs: Annotated[int, typer.Option("--epochs", metavar="N", help="Passes over the rows.")] = 10,
    data: given.MnistFolder = None,
    device: given.Device = None,
    small: Annotated[bool, typer.Option("--small", help="Learn scikit-learn's digits instead, in seconds.")] = False,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for CSV and picture.")] = Path("."),
    seed: given.Seed = 0,
) -> None:
    """Run the experiment of a paper and print its table beside ours; write it as CSV, and as a picture.

    freund-schapire-1999: voted kernel perceptrons on MNIST, which comes from --data, a folder with its four files, or
    from OpenML where there is a network.

    \b
    Example:
      rosenblatt reproduce freund-schapire-1999 --degrees 2 3 --data mnist
      rosenblatt reproduce freund-schapire-1999 --small
    """
    from rosenblatt.cli.reproduce import reproduce as run_it

    run_it(name, degrees, epochs, data, device, small, out, seed)


@commands.command(short_help="Two small data sets, or one idea, in plain words and a picture.", help=_DEMO)
@exit_cleanly
def demo(
    idea: Annotated[str | None, typer.Argument(metavar="IDEA", help=f"One idea alone: {_NAMES}.")] = None,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Folder for the picture.")] = Path("out"),
) -> None:
    """Run the demo."""
    from rosenblatt.cli.demo import show

    show(idea, out)


@commands.command(short_help="Draw the figures of the textbooks, each from a real run.")
@exit_cleanly
def figures(
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="Folder for the files.")] = "figures",
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ID", help="Draw this figure, or several as in 4.7,4.9."),
    ] = None,
    format: Annotated[str, typer.Option("--format", metavar="svg|png|pdf", help="Format of the pictures.")] = "svg",
) -> None:
    """Draw the figures that the textbooks name, each from data and a run with a fixed seed.

    Writes a picture of each, a page index.html that shows them with captions and numbers, and figures.json with these.

    \b
    Example:
      rosenblatt figures
      rosenblatt figures --only 4.7,4.9 --format png --out pictures
    """
    from rosenblatt.cli.figures import figures as run_it

    run_it(out, only, format)


@commands.command(short_help="Open a page where a perceptron learns, step by step.")
@exit_cleanly
def lab(
    source: Annotated[
        str | None,
        typer.Argument(metavar="SOURCE", help="A table of points (CSV), a state (JSON), or an address of the lab."),
    ] = None,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port of the address; 0 is a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="HTML", help="Write the run as one file instead, and end.")
    ] = None,
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
    from rosenblatt.cli.lab import lab as run_it

    run_it(source, port, browser, export)


@commands.command(short_help="Run the benchmarks, in a checkout.", context_settings=_HANDED_ON)
@exit_cleanly
def bench(context: typer.Context) -> None:
    """Run the benchmarks, in a checkout of the repository; options are handed on to them.

    \b
    Example:
      rosenblatt bench
    """
    from rosenblatt.cli.bench import bench as run_it

    raise typer.Exit(run_it(context.args))
