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
from rosenblatt.cli.cluster_options import ClusterOptions
from rosenblatt.cli.errors import running
from rosenblatt.cli.inputs import forgiving, seconds
from rosenblatt.cli.learner_options import TrainLearnerOptions
from rosenblatt.cli.output import exit_cleanly
from rosenblatt.cli.row_options import RowOptions, WeightedRowOptions, grouped
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
@grouped
def train(
    data: given.Files,
    target: given.Target = None,
    learner: given.Learner = "averaged",
    passes: given.Passes = None,
    shuffle: given.Shuffle = True,
    seed: given.Seed = 0,
    early_stopping: given.EarlyStopping = False,
    class_weight: given.ClassWeight = None,
    bias: given.Bias = True,
    multi_class: given.MultiClass = None,
    scale: given.Scale = "auto",
    holdout: given.Holdout = None,
    folds: given.Folds = None,
    test: given.TestFiles = None,
    seeds: given.Seeds = 1,
    out: given.ModelOut = None,
    checkpoint: given.Checkpoint = None,
    every: given.Every = "30s",
    resume: given.Resume = False,
    cache: given.Cache = None,
    names: given.Names = False,
    as_json: given.AsJson = False,
    kernel: given.KernelName = None,
    degree: given.KernelDegree = None,
    gamma: given.Gamma = None,
    coef0: given.Coef0 = None,
    cache_size: given.CacheSize = None,
    max_support: given.MaxSupport = None,
    device: given.Device = None,
    *,
    steps: TrainLearnerOptions,
    on: ClusterOptions,
    rows: WeightedRowOptions,
) -> None:
    """Learn from files and report: accuracy, whether the data is separated, its margin.

    In tables, columns of which it is unclear what they are (ids, dates) are left out, missing numbers are replaced by
    the mean, and columns of numbers are scaled where their sizes differ much; each is said in a line. Ctrl-C ends a
    run early; what was learned so far is reported and saved.

    With --cluster the rows stay where they are loaded and weights travel: the model is the same, to the bit. Without
    --address a cluster is started on this machine, and closed at the end.

    \b
    Example:
      rosenblatt train people.csv --target survived --holdout 20% -o people.model
      rosenblatt train a9a.bz2 --test a9a.t.bz2 -o adult.model
      rosenblatt train a9a.bz2 --learner arow --passes 1
      rosenblatt train rings.csv -t label --learner kernel --kernel rbf
      rosenblatt train "part-*.parquet" -t y --cluster dask
    """
    from rosenblatt.cli.kernel_choice import KernelChoice
    from rosenblatt.cli.train import train as run_it
    from rosenblatt.cli.train_options import TrainOptions

    choice = KernelChoice(kernel, degree, gamma, coef0, cache_size, max_support, device)
    run = TrainOptions(
        learner=learner,
        kernel=choice,
        steps=steps,
        passes=passes,
        shuffle=shuffle,
        seed=seed,
        seeds=seeds,
        early_stopping=early_stopping,
        checkpoint=checkpoint,
        every=seconds(every),
        resume=resume,
        cache=cache,
        bias=bias,
        class_weight=class_weight,
        multi_class=multi_class,
        holdout=holdout,
        folds=folds,
        on=on,
    )
    run_it(data, target, run, test or [], out, forgiving(rows.to_open()) | {"scale": scale}, names, as_json)


@app.command(short_help="Show what the columns of a file are, before training.")
@exit_cleanly
@grouped
def describe(
    data: given.Files,
    target: given.Target = None,
    as_json: given.AsJson = False,
    *,
    rows: RowOptions,
) -> None:
    """Show each column of a file: its kind, what it becomes, its gaps and values, and what looks suspicious.

    Looks at the first 10,000 rows. Columns that number the rows, are different in nearly every row, are constant or
    tell the target alone are pointed out, and so is what has to be answered before training.

    \b
    Example:
      rosenblatt describe passengers.csv --target survived
    """
    from rosenblatt.cli.describe import describe as run_it

    with running(train):  # what it advises are options for training
        run_it(data, target, rows.to_open(), as_json)


for part in (using, proving, connecting, showing):
    app.add_typer(part.commands)

if __name__ == "__main__":
    main()
