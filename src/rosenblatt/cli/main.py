"""The command ``rosenblatt``. Everything heavy is imported inside the commands, so that help answers at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

try:
    import typer
except ImportError:
    print("Error: the command needs the package typer: pip install 'rosenblatt[cli]'.", file=sys.stderr)
    raise SystemExit(2) from None

from rosenblatt.cli import options as given
from rosenblatt.cli import showing
from rosenblatt.cli.inputs import kinds_of, reading_options, seconds, target_of
from rosenblatt.cli.output import exit_cleanly
from rosenblatt.cli.startup import prepare_process, run_and_exit

app = typer.Typer(
    name="rosenblatt",
    help="The perceptron at the command line: train on files, predict, and prove what can be separated.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command."""
    prepare_process()
    run_and_exit(app)


@app.callback()
def _common(version: given.Version = False) -> None: ...


@app.command(short_help="Learn from files; report, test and save.")
@exit_cleanly
def train(
    data: given.Files,
    target: given.Target = None,
    learner: given.Learner = "averaged",
    kernel: given.KernelName = None,
    degree: given.KernelDegree = None,
    gamma: given.Gamma = None,
    coef0: given.Coef0 = None,
    hypothesis: given.Hypothesis = None,
    cache_size: given.CacheSize = None,
    max_support: given.MaxSupport = None,
    device: given.Device = None,
    passes: given.Passes = None,
    shuffle: given.Shuffle = True,
    seed: given.Seed = 0,
    early_stopping: given.EarlyStopping = False,
    test: given.TestFiles = None,
    seeds: given.Seeds = 1,
    out: given.ModelOut = None,
    checkpoint: given.Checkpoint = None,
    every: given.Every = "30s",
    resume: given.Resume = False,
    cache: given.Cache = None,
    names: given.Names = False,
    format: given.Format = None,
    on_error: given.OnError = "raise",
    drop: given.Drop = None,
    kind: given.Kind = None,
    missing: given.Missing = None,
    weight: given.Weight = None,
    header: given.Header = None,
    bits: given.Bits = None,
    ngrams: given.Ngrams = None,
    features: given.Features = None,
    max_line: given.MaxLine = None,
    as_json: given.AsJson = False,
) -> None:
    """Learn from files and report: accuracy, whether the data is separated, its margin.

    Ctrl-C ends a run early; what was learned so far is reported and saved.

    \b
    Example:
      rosenblatt train a9a.bz2 --test a9a.t.bz2 -o adult.model
      rosenblatt train rings.csv -t label --learner kernel --kernel rbf
    """
    from rosenblatt.cli.kernel_choice import KernelChoice
    from rosenblatt.cli.train import TrainOptions
    from rosenblatt.cli.train import train as run_it

    choice = KernelChoice(kernel, degree, gamma, coef0, hypothesis, cache_size, max_support, device)
    order = passes, shuffle, seed, seeds
    run = TrainOptions(learner, choice, *order, early_stopping, checkpoint, seconds(every), resume, cache)
    options = reading_options(format, on_error, drop, missing, header, features, max_line)
    options |= {"bits": bits, "ngrams": ngrams, "kinds": kinds_of(kind), "weight": target_of(weight)}
    run_it(data, target, run, test or [], out, options, names, as_json)


@app.command(short_help="Write one label a line, in the order of the rows.")
@exit_cleanly
def predict(
    model: given.Model,
    data: given.Files,
    out: given.Out = None,
    scores: given.Scores = False,
    format: given.Format = None,
    max_line: given.MaxLine = None,
) -> None:
    """Write one label a line, in the order of the rows. The label column may be missing.

    \b
    Example:
      rosenblatt predict adult.model new.csv -o answers.txt
    """
    from rosenblatt.cli.predict import predict as run_it

    run_it(model, data, out, scores, {"format": format, "max_line_bytes": max_line})


@app.command("test", short_help="Tell how many labelled rows a model predicts right.")
@exit_cleanly
def tell_accuracy(
    model: given.Model,
    data: given.Files,
    format: given.Format = None,
    max_line: given.MaxLine = None,
    as_json: given.AsJson = False,
) -> None:
    """Print how many labelled rows a model predicts right, and which classes it takes for which.

    \b
    Example:
      rosenblatt test adult.model a9a.t.bz2
    """
    from rosenblatt.cli.predict import tell_accuracy as run_it

    run_it(model, data, {"format": format, "max_line_bytes": max_line}, as_json)


@app.command(short_help="Print the features that matter most, or why a row is so.")
@exit_cleanly
def explain(
    model: given.Model,
    top: given.Top = 10,
    label: given.Label = None,
    row: given.Row = None,
    format: given.Format = None,
    max_line: given.MaxLine = None,
    as_json: given.AsJson = False,
) -> None:
    """Print the features that matter most, or why one row is predicted as it is.

    \b
    Example:
      rosenblatt explain adult.model --row new.csv:17
      rosenblatt explain digits.model --label 7
    """
    from rosenblatt.cli.explain import explain as run_it

    run_it(model, top, label, row, {"format": format, "max_line_bytes": max_line}, as_json)


@app.command(short_help="Decide whether a hyperplane separates; prove it.")
@exit_cleanly
def separate(
    data: given.Files,
    target: given.Target = None,
    out: given.CertificateOut = None,
    rtol: given.Rtol = None,
    margin: given.WithMargin = True,
    max_seconds: given.MaxSeconds = None,
    format: given.Format = None,
    on_error: given.OnError = "raise",
    drop: given.Drop = None,
    kind: given.Kind = None,
    bits: given.Bits = None,
    missing: given.Missing = None,
    header: given.Header = None,
    features: given.Features = None,
    max_line: given.MaxLine = None,
    as_json: given.AsJson = False,
) -> None:
    """Decide whether a hyperplane separates the classes, and prove it. Reads all rows into memory.

    The verdict comes first, then its margin; Ctrl-C meanwhile keeps the bracket that was reached.

    \b
    Example:
      rosenblatt separate mushrooms.bz2 -o mushrooms.cert
    """
    from rosenblatt.cli.separate import separate as run_it

    options = reading_options(format, on_error, drop, missing, header, features, max_line)
    options |= {"kinds": kinds_of(kind), "bits": bits}
    run_it(data, target, out, rtol, margin, max_seconds, options, as_json)


@app.command(short_help="Recompute every claim of a certificate from the data.")
@exit_cleanly
def check(
    certificate: Annotated[str, typer.Argument(metavar="CERT", help="A file that separate wrote.")],
    data: given.Files,
    target: given.Target = None,
    format: given.Format = None,
    on_error: given.OnError = "raise",
    drop: given.Drop = None,
    kind: given.Kind = None,
    bits: given.Bits = None,
    missing: given.Missing = None,
    header: given.Header = None,
    features: given.Features = None,
    max_line: given.MaxLine = None,
    as_json: given.AsJson = False,
) -> None:
    """Recompute every claim of a certificate from the data; exit with 1 if one does not hold.

    Reads all rows into memory. Give the options that separate was given.

    \b
    Example:
      rosenblatt check mushrooms.cert mushrooms.bz2
    """
    from rosenblatt.cli.separate import check as run_it

    options = reading_options(format, on_error, drop, missing, header, features, max_line)
    options |= {"kinds": kinds_of(kind), "bits": bits}
    run_it(certificate, data, target, options, as_json)


@app.command(short_help="Learn from standard input, an endless stream.")
@exit_cleanly
def watch(
    target: given.Target = None,
    learner: given.OnlineLearner = None,
    kernel: given.KernelName = None,
    degree: given.KernelDegree = None,
    gamma: given.OnlineGamma = None,
    coef0: given.Coef0 = None,
    hypothesis: given.Hypothesis = None,
    max_support: given.MaxSupport = None,
    device: given.Device = None,
    model: given.StartModel = None,
    every: Annotated[int, typer.Option("--every", metavar="N", help="Print a line after every N rows.")] = 1000,
    margin: given.Margin = None,
    out: given.ModelOut = None,
    format: given.Format = None,
    on_error: given.OnError = "raise",
    features: given.Features = None,
    max_line: given.MaxLine = None,
    as_json: given.AsJson = False,
) -> None:
    """Learn from standard input as it comes, an endless stream: predict each row, then learn from it.

    Prints the mistakes so far, their share among the last 1,000 rows, the length R of the longest row (the bias is
    one more feature), and a bound: a perceptron makes at most (R / margin)^2 mistakes, so if a hyperplane separates
    all rows, its margin is at most the number printed. What the columns of a table are is decided from the first
    --every rows. Stops at the end of input or at Ctrl-C, and writes the model then; --model goes on from there.

    \b
    Example:
      tail -f clicks.svm | rosenblatt watch --every 1000 -o clicks.model
      tail -f clicks.svm | rosenblatt watch --model clicks.model -o clicks.model
    """
    from rosenblatt.cli.kernel_choice import KernelChoice
    from rosenblatt.cli.watch import watch as run_it

    choice = KernelChoice(kernel, degree, gamma, coef0, hypothesis, None, max_support, device)
    options = reading_options(format, on_error, None, None, None, features, max_line)
    run_it(target, learner, choice, model, every, margin, out, options, as_json)


@app.command(short_help="Write a model as ONNX, or as JSON for people.")
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


app.add_typer(showing.commands)

if __name__ == "__main__":
    main()
