"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def _print_version(asked: bool) -> None:
    if asked:
        import rosenblatt

        print(f"rosenblatt {rosenblatt.__version__}")
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
]
Files = Annotated[
    list[str], typer.Argument(metavar="DATA", help='Files, patterns such as "part-*.csv", or - for standard input.')
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", "-t", metavar="COL", help="The column with the labels: its name, or its place (-1: last)."
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        metavar="F",
        help="csv, tsv, parquet, arrow, jsonl, svmlight, vw or npz; detected from the file if left out.",
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option("--delimiter", metavar="C", help="The character between the cells of CSV; detected if left out."),
]
OnError = Annotated[
    str,
    typer.Option("--on-error", metavar="raise|skip", help="Stop at a row that cannot be read, or skip it."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COL", help="A column to leave out; repeat for more."),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep", metavar="COL", help="A column to use even if it looks like an id or holds dates; repeat for more."
    ),
]
Kind = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        metavar="COL=KIND",
        help="What a column is: number, boolean, category, text, date, decimal-comma or thousands-comma; repeat it.",
    ),
]
Missing = Annotated[
    str | None,
    typer.Option("--missing", metavar="mean|zero|error", help="What a missing number becomes, or error."),
]
MissingValue = Annotated[
    list[str] | None,
    typer.Option("--missing-value", metavar="WORD", help="A word that stands for a missing value; repeat for more."),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", metavar="COL", help="The column that says how much a row counts, 0 or more."),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line of CSV names the columns."),
]
Bits = Annotated[
    int | None,
    typer.Option("--bits", metavar="N", help="Words are hashed to 2^N columns (18)."),
]
Ngrams = Annotated[
    int | None,
    typer.Option("--ngrams", metavar="N", help="Count up to N words in a row as one."),
]
Features = Annotated[
    int | None,
    typer.Option("--features", metavar="N", help="The columns of svmlight text, where indices do not say them."),
]
MaxLine = Annotated[
    int | None,
    typer.Option("--max-line", metavar="BYTES", help="The longest line that may be read (64,000,000)."),
]
Scores = Annotated[bool, typer.Option("--scores", help="Write CSV with the scores beside the labels.")]
Id = Annotated[
    list[str] | None,
    typer.Option("--id", metavar="COL", help="A column to write beside the labels; repeat for more."),
]
PredictionsOut = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Where to write; .csv, .jsonl and .parquet are written as such."),
]
PredictionsJson = Annotated[
    bool, typer.Option("--json", help="Print JSON lines of predictions; with -o, one line of JSON with counts.")
]
Top = Annotated[int, typer.Option("--top", metavar="N", help="How many of the largest and smallest weights.")]
Label = Annotated[
    list[str] | None, typer.Option("--label", metavar="CLASS", help="Only this class, in full; may be repeated.")
]
Row = Annotated[
    str | None, typer.Option("--row", metavar="FILE:N", help="Explain this row's prediction; the first row is 0.")
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A file that train wrote.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON for machines.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same model.")]
ModelOut = Annotated[Path | None, typer.Option("--out", "-o", metavar="MODEL", help="Where to write the model.")]
CertificateOut = Annotated[
    Path | None, typer.Option("--out", "-o", metavar="CERT", help="Where to write the certificate.")
]
Learner = Annotated[
    str,
    typer.Option("--learner", "-l", metavar="NAME", help="averaged, arow, pa, perceptron, margin, voted or kernel."),
]
Names = Annotated[bool, typer.Option("--names", help="Keep the words that are hashed, for explain (slower).")]

Passes = Annotated[
    int | None,
    typer.Option("--passes", "-p", metavar="N", help="The most passes (10; arow: 5; perceptron and margin: 100)."),
]
Shuffle = Annotated[bool, typer.Option("--shuffle/--no-shuffle", help="Visit rows in a random order.")]
EarlyStopping = Annotated[
    bool, typer.Option("--early-stopping", help="Hold out a tenth of the rows; stop when it gets no better.")
]
ClassWeight = Annotated[
    str | None,
    typer.Option("--class-weight", metavar="balanced", help="Let rare classes count as much as common ones."),
]
Bias = Annotated[bool, typer.Option("--bias/--no-bias", help="Learn a bias besides the weights, or none.")]
MultiClass = Annotated[
    str | None,
    typer.Option(
        "--multi-class",
        metavar="direct|ovr",
        help="More than two classes: all compete (averaged, arow, pa), or each against the rest (the others).",
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        "--scale",
        metavar="HOW",
        help="Bring columns of numbers to one scale: standard, maxabs, none, or auto: in tables, where they differ.",
    ),
]
Holdout = Annotated[
    str | None,
    typer.Option("--holdout", metavar="SHARE", help="Hold out a share of the rows, such as 20%, and test on them."),
]
Folds = Annotated[
    int | None, typer.Option("--folds", metavar="K", help="Cross-validate: test on each of K parts in turn.")
]
TestFiles = Annotated[
    list[str] | None, typer.Option("--test", metavar="FILE", help="Rows to measure the accuracy on; repeat for more.")
]
Seeds = Annotated[int, typer.Option("--seeds", metavar="K", help="Train with K seeds; show how the accuracy varies.")]
Checkpoint = Annotated[
    Path | None, typer.Option("--checkpoint", metavar="FILE", help="Write the state of the run to this file.")
]
Every = Annotated[str, typer.Option("--every", metavar="TIME", help="How often: 30s, 5m, 1h.")]
Cache = Annotated[
    Path | None,
    typer.Option("--cache", metavar="FILE", help="Keep the parsed rows in this file, for later runs too."),
]
ClusterKind = Annotated[
    str | None,
    typer.Option("--cluster", metavar="dask|ray", help="Train on a cluster, each file on one of its workers."),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="ADDR", help="Of the cluster, such as tcp://HOST:8786; if left out, one is started."
    ),
]
Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        metavar="exact|mix",
        help="On a cluster: the model of one machine (if left out), or all shards at once and their mean.",
    ),
]
Shards = Annotated[
    int | None, typer.Option("--shards", metavar="N", help="For --mode mix: the shards to make of the files (8).")
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on from --checkpoint if it is there.")]
OnlineLearner = Annotated[
    str | None,
    typer.Option(
        "--learner", "-l", metavar="NAME", help="perceptron (if left out), averaged, arow, pa, margin, voted or kernel."
    ),
]
KernelName = Annotated[
    str | None,
    typer.Option(
        "--kernel", metavar="NAME", help="For --learner kernel: poly (if left out), rbf, laplacian, linear or sigmoid."
    ),
]
KernelDegree = Annotated[int | None, typer.Option("--degree", metavar="N", help="The degree of poly (3).")]
Gamma = Annotated[
    str | None,
    typer.Option("--gamma", metavar="G", help="Gamma of the kernel: a number, auto or scale (if left out)."),
]
OnlineGamma = Annotated[str | None, typer.Option("--gamma", metavar="G", help="Gamma of the kernel, a number.")]
Coef0 = Annotated[float | None, typer.Option("--coef0", metavar="C", help="The constant of poly and sigmoid (1).")]
Hypothesis = Annotated[
    str | None,
    typer.Option(
        "--hypothesis",
        metavar="NAME",
        help="Which weights predict: last, average (kernel: if left out), for a kernel also vote.",
    ),
]
Regularisation = Annotated[
    float | None,
    typer.Option(
        "--r",
        metavar="R",
        help="For --learner arow: larger values make smaller steps (10; for one pass rather 3).",
    ),
]
LargestStep = Annotated[
    float | None,
    typer.Option("--C", "-C", metavar="C", help="For --learner pa: the largest step; inf for no limit (1)."),
]
Loss = Annotated[
    str | None, typer.Option("--loss", metavar="NAME", help="For --learner pa: hinge (if left out) or squared_hinge.")
]
Decay = Annotated[
    float | None,
    typer.Option("--decay", metavar="D", help="How much of itself the average forgets with each row, below 1 (0)."),
]
MarginBelow = Annotated[
    float | None,
    typer.Option("--margin", metavar="M", help="For --learner margin: update while a row is right by M or less (10)."),
]
CacheSize = Annotated[
    float | None, typer.Option("--cache-size", metavar="MB", help="Megabytes for kernel values that are kept (1000).")
]
MaxSupport = Annotated[
    int | None,
    typer.Option("--max-support", metavar="N", help="The most support rows of a classifier; it forgets the oldest."),
]
StartModel = Annotated[
    str | None, typer.Option("--model", "-m", metavar="MODEL", help="Start from this model and go on learning.")
]
Margin = Annotated[
    float | None,
    typer.Option("--margin", metavar="G", help="Print the most updates for rows separated by a margin of G."),
]
WithMargin = Annotated[
    bool, typer.Option("--margin/--no-margin", help="Go on to the largest margin, which may take far longer.")
]
MaxSeconds = Annotated[
    float | None, typer.Option("--max-seconds", metavar="S", help="Stop after so many seconds with what is proved.")
]
Rtol = Annotated[
    float | None, typer.Option("--rtol", metavar="X", help="How far to settle the margin (1e-6; sparse rows: 1e-2).")
]
Degrees = Annotated[
    list[str] | None,
    typer.Option("--degrees", metavar="D ...", help="Degrees of the kernel (1 2 3 4), one or several."),
]
MnistFolder = Annotated[
    Path | None, typer.Option("--data", metavar="DIR", help="Folder with the four files of MNIST, .gz or not.")
]
Device = Annotated[
    str | None, typer.Option("--device", metavar="NAME", help="Where to compute, such as cuda (needs PyTorch).")
]
