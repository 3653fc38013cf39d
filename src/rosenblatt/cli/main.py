"""The command ``rosenblatt``. Everything heavy is imported inside the commands, so that help answers at once."""

from __future__ import annotations

import sys

try:
    import typer
except ImportError:
    print("Error: the command needs the package typer: pip install 'rosenblatt[cli]'.", file=sys.stderr)
    raise SystemExit(2) from None

from rosenblatt.cli import connecting, proving, showing, using
from rosenblatt.cli import options as given
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
    from rosenblatt.cli.train_options import TrainOptions
    from rosenblatt.cli.train import train as run_it

    choice = KernelChoice(kernel, degree, gamma, coef0, hypothesis, cache_size, max_support, device)
    order = passes, shuffle, seed, seeds
    run = TrainOptions(learner, choice, *order, early_stopping, checkpoint, seconds(every), resume, cache)
    options = reading_options(format, on_error, drop, missing, header, features, max_line)
    options |= {"bits": bits, "ngrams": ngrams, "kinds": kinds_of(kind), "weight": target_of(weight)}
    run_it(data, target, run, test or [], out, options, names, as_json)


for part in (using, proving, connecting, showing):
    app.add_typer(part.commands)

if __name__ == "__main__":
    main()
