"""The commands that connect to other programs: learn from what one prints, and write a model for one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rosenblatt.cli import options as given
from rosenblatt.cli.learner_options import LearnerOptions
from rosenblatt.cli.output import exit_cleanly
from rosenblatt.cli.row_options import WeightedRowOptions, grouped

commands = typer.Typer(rich_markup_mode=None)


@commands.command(short_help="Learn from standard input, an endless stream.")
@exit_cleanly
@grouped
def watch(
    target: given.Target = None,
    learner: given.OnlineLearner = None,
    kernel: given.KernelName = None,
    degree: given.KernelDegree = None,
    gamma: given.OnlineGamma = None,
    coef0: given.Coef0 = None,
    max_support: given.MaxSupport = None,
    device: given.Device = None,
    model: given.StartModel = None,
    every: Annotated[int, typer.Option("--every", metavar="N", help="Print a line after every N rows.")] = 1000,
    margin: given.Margin = None,
    out: given.ModelOut = None,
    as_json: given.AsJson = False,
    *,
    steps: LearnerOptions,
    rows: WeightedRowOptions,
) -> None:
    """Learn from standard input as it comes, an endless stream: predict each row, then learn from it.

    Prints the mistakes so far, their share among the last 1,000 rows, the length R of the longest row (the bias is
    one more feature), and a bound: a perceptron makes at most (R / margin)^2 mistakes, so if a hyperplane separates
    all rows, its margin is at most the number printed. What the columns of a table are is decided from the first
    --every rows: a column of which that is unclear is left out, and a missing number is replaced by the mean of these
    rows, unless --keep, --kind or --missing say otherwise. Stops at the end of input or at Ctrl-C, and writes the
    model then; --model goes on from there.

    \b
    Example:
      tail -f clicks.svm | rosenblatt watch --every 1000 -o clicks.model
      tail -f clicks.svm | rosenblatt watch --model clicks.model -o clicks.model
    """
    from rosenblatt.cli.kernel_choice import KernelChoice
    from rosenblatt.cli.watch import watch as run_it

    choice = KernelChoice(kernel, degree, gamma, coef0, None, max_support, device)
    run_it(target, learner, choice, steps, model, every, margin, out, rows, as_json)


@commands.command(short_help="Write a model as ONNX, or as JSON for people.")
@exit_cleanly
def export(
    model: given.Model,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A file that ends in .onnx or .json.")],
) -> None:
    """Write a model for other programs: as ONNX, or as JSON that people can read.

    \b
    Example:
      rosenblatt export adult.model adult.onnx
    """
    from rosenblatt.cli.export import export as run_it

    run_it(model, out)
