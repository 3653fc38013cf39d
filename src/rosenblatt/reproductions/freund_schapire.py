"""Freund and Schapire 1999, Large Margin Classification Using the Perceptron Algorithm: their table of MNIST."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import sys
import time
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, load_digits

from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.messages import ParameterError, Phrase, Setting, check_boolean, check_integer, shorten
from rosenblatt.plots.axes import BLUE, DARK, ORANGE, Axes, import_matplotlib, tidy
from rosenblatt.storage.container import write_atomically
from rosenblatt.tables import Table
from rosenblatt.training.dual.predict import scores_at
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.rows import RowMatrix, as_rows

# MNIST from its four files, in the format that they come in (IDX): big-endian numbers, then bytes.


Bytes = NDArray[np.uint8]
_File = io.BufferedReader | gzip.GzipFile

FILES = {"train": ("train-images", "train-labels"), "test": ("t10k-images", "t10k-labels")}
"""How the names of the four files begin: images and labels of each part."""
WHERE: tuple[Phrase, ...] = (
    " Get MNIST's four files (train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte, .gz or not) from any mirror and name their folder with ",
    Setting("data"),
    ', or leave that out where there is a network (scikit-learn\'s fetch_openml("mnist_784") gets them); ',
    Setting("small", True),
    " needs neither.",
)
"""Where to get MNIST, for the end of a sentence about what is missing."""
_MOST_BYTES = 2**30
_GZIP = b"\x1f\x8b"
_UNSIGNED_BYTES = 8  # the code of their type


def read_mnist(folder: str | os.PathLike[str]) -> dict[str, tuple[Bytes, Bytes]]:
    """Return images, a row of pixels each, and labels of the parts "train" and "test" from a folder's four files.

    A file that is missing or damaged is a ParameterError that says which, and where to get MNIST.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ParameterError(Setting("data"), f" must be a folder, and there is none called {place}.", *WHERE)
    parts = {}
    for part, (images, labels) in FILES.items():
        image_file, label_file = _find(place, images, 3), _find(place, labels, 1)
        pixels, answers = read_idx(image_file, 3), read_idx(label_file, 1)
        if len(pixels) != len(answers):
            raise ParameterError(
                f"{image_file} has {len(pixels):,} images and {label_file} {len(answers):,} labels, which must be "
                "equally many.",
                *WHERE,
            )
        parts[part] = pixels.reshape(len(pixels), math.prod(pixels.shape[1:])), answers
    widths = {part: pixels.shape[1] for part, (pixels, _) in parts.items()}
    if widths["train"] != widths["test"]:
        raise ParameterError(
            f"the images of {place} must all have as many pixels, got {widths['train']:,} in those to train on and "
            f"{widths['test']:,} in those to test on.",
            *WHERE,
        )
    return parts


def read_idx(path: str | os.PathLike[str], dimensions: int) -> Bytes:
    """Return the array of bytes that an IDX file holds, compressed by gzip or not; it has so many dimensions.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels")
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    ...     read_idx(path, 1)
    array([7, 2, 1], dtype=uint8)
    """
    try:
        with _opened(path) as file:
            return _array(file, path, dimensions)
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise _damaged(path, f"gzip cannot unpack it ({fault})") from fault


def _find(folder: Path, start: str, dimensions: int) -> Path:
    """Return the file whose name begins so: mirrors differ in a dot for a dash, and in .gz."""
    names = [f"{start}{dot}idx{dimensions}-ubyte{end}" for dot in "-." for end in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ParameterError(f"there is no file {names[0]} or {names[1]} in {folder}.", *WHERE)


def _opened(path: str | os.PathLike[str]) -> _File:
    with open(path, "rb") as file:
        packed = file.read(2) == _GZIP
    return gzip.open(path, "rb") if packed else open(path, "rb")


def _array(file: _File, path: str | os.PathLike[str], dimensions: int) -> Bytes:
    head = file.read(4)
    if head != bytes([0, 0, _UNSIGNED_BYTES, dimensions]):
        expected = bytes([0, 0, _UNSIGNED_BYTES, dimensions]).hex(" ")
        raise _damaged(path, f"it must begin with the bytes {expected}, got {head.hex(' ') or 'an empty file'}")
    sizes = file.read(4 * dimensions)
    if len(sizes) < 4 * dimensions:
        raise _damaged(path, "it ends before its sizes")
    shape = [int(size) for size in np.frombuffer(sizes, ">u4")]
    count = math.prod(shape)
    if count == 0 or count > _MOST_BYTES:
        raise _damaged(path, f"its sizes are {shorten(shape)}, which make {count:,} bytes")
    content = file.read(count)
    if len(content) < count or file.read(1):
        found = f"{len(content):,}" if len(content) < count else "more"
        raise _damaged(path, f"its sizes make {count:,} bytes, and it has {found}")
    return np.frombuffer(content, np.uint8).reshape(shape)


def _damaged(path: str | os.PathLike[str], why: str) -> ParameterError:
    return ParameterError(f"{os.fspath(path)} is no such file of MNIST, or damaged: {why}.", *WHERE)


# The digits that are learned: MNIST from a folder or from OpenML, or the small ones that scikit-learn brings.


_MNIST_TRAINING_ROWS, _MNIST_ROWS = 60_000, 70_000
_LEAST_CLASSES = 3  # two share one machine


@dataclass(frozen=True)
class Images:
    """Images to train on and to test on, a row of pixels each, from 0 to ``brightest``, and their labels."""

    name: str
    X_train: Bytes
    y_train: NDArray[np.int64]
    X_test: Bytes
    y_test: NDArray[np.int64]
    brightest: int = 255

    @property
    def are_mnist(self) -> bool:
        """Whether there are as many as in MNIST, so that the paper's numbers can stand beside theirs."""
        return self.X_train.shape == (_MNIST_TRAINING_ROWS, 784) and self.X_test.shape == (10_000, 784)


def images_of(data: str | os.PathLike[str] | None, small: bool) -> Images:
    """Return scikit-learn's digits if they are to be ``small``, else MNIST from the folder ``data`` or from OpenML.

    Examples
    --------
    >>> digits = images_of(None, small=True)
    >>> digits.X_train.shape, digits.X_test.shape
    ((1198, 64), (599, 64))
    """
    if small:
        return _small_digits()
    if data is None:
        return _openml_mnist()
    parts = read_mnist(data)
    (X_train, y_train), (X_test, y_test) = parts["train"], parts["test"]
    found = Images("MNIST", X_train, y_train.astype(np.int64), X_test, y_test.astype(np.int64))
    if len(np.unique(found.y_train)) < _LEAST_CLASSES:
        raise ParameterError(
            f"the images of {os.fspath(data)} must be of {_LEAST_CLASSES} classes or more, "
            f"got {len(np.unique(found.y_train))}.",
            *WHERE,
        )
    return found


def _small_digits() -> Images:
    """Return 1,797 digits of 8 x 8 pixels from 0 to 16; every third is for testing."""
    digits = load_digits()
    X, y = digits.data.astype(np.uint8), digits.target.astype(np.int64)
    test = np.arange(len(X)) % 3 == 2
    return Images("scikit-learn's digits", X[~test], y[~test], X[test], y[test], brightest=16)


def _openml_mnist() -> Images:
    """Return MNIST as OpenML has it, in the order of the four files; scikit-learn keeps a copy."""
    parser = "pandas" if find_spec("pandas") else "liac-arff"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of each attempt
            X, y = fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False, parser=parser, n_retries=1)
    except (OSError, ValueError) as fault:
        raise ParameterError(
            f"MNIST could not be had from OpenML ({' '.join(str(fault).split()) or type(fault).__name__}).", *WHERE
        ) from fault
    if X.shape != (_MNIST_ROWS, 784):
        raise ParameterError(f"OpenML's MNIST must be {_MNIST_ROWS:,} x 784 numbers, got {X.shape}.", *WHERE)
    X, y = X.astype(np.uint8), y.astype(np.int64)
    cut = _MNIST_TRAINING_ROWS
    return Images("MNIST", X[:cut], y[:cut], X[cut:], y[cut:])


# Freund and Schapire's protocol: one run for each degree, looked at after so many epochs.
#
# Rows are permuted once, and every epoch visits them in that order. There is a machine for each digit against the
# rest, K(x, x') = (1 + x . x')^d, which starts at zero and learns from each row whose score is on the wrong side or 0.
# Nothing is trained twice: what a run would have been after fewer visits is read from the log of its updates.


Floats = NDArray[np.float64]
EPOCHS: tuple[float, ...] = (0.1, 1, 2, 3, 4, 10)
"""When the paper looks at its runs; a tenth is that of the first epoch."""


class ScoresOfRows(Protocol):
    """Scores of some rows at one moment, by each hypothesis, a column for each machine."""

    @property
    def last(self) -> Floats:
        """Of the weights after the last visit."""

    @property
    def average(self) -> Floats:
        """Of the mean of the weights after each visit."""

    @property
    def vote(self) -> Floats:
        """Votes of all weights, by the visits that each survived."""


Train = Callable[[Floats, NDArray[np.int64], int], DualState]
"""Makes a run of some degree over rows in the order that they are in."""
Score = Callable[[DualState, RowMatrix, Sequence[int]], Sequence[ScoresOfRows]]
"""Returns the scores of rows after each of some numbers of visits."""


@dataclass(frozen=True)
class Moment:
    """What a run was after some epochs: test errors in percent, mistakes of all machines, support vectors in all."""

    epoch: float
    last: float
    average: float
    vote: float
    mistakes: int
    supports: int


@dataclass(frozen=True)
class DegreeRun:
    """A run with the kernel of one degree."""

    degree: int
    moments: list[Moment]
    training_seconds: float
    evaluation_seconds: float


def degree_runs(
    images: Images, degrees: Sequence[int], epochs: int, seed: int, train: Train, score: Score
) -> Iterator[DegreeRun]:
    """Yield the run of each degree, by the protocol: degree 1 on the pixels as they are, others on pixels from 0 to 1.

    ``train`` is given the rows in the order ``visiting_order(n, seed)``, for so many epochs; ``score`` the run.
    """
    order = visiting_order(len(images.X_train), seed)
    X, y = images.X_train[order], images.y_train[order]
    classes = np.unique(y)
    looks = [(epoch, visits_of(epoch, len(X))) for epoch in epochs_up_to(epochs)]
    for degree in degrees:
        started = time.perf_counter()
        state = train(scaled(X, images.brightest, degree), y, degree)
        trained = time.perf_counter()
        rows = as_rows(scaled(images.X_test, images.brightest, degree))
        found = score(state, rows, [visits for _, visits in looks])
        moments = [
            Moment(epoch, *_errors(scores, classes, images.y_test), *_counts(state, visits))
            for (epoch, visits), scores in zip(looks, found, strict=True)
        ]
        yield DegreeRun(degree, moments, trained - started, time.perf_counter() - trained)


def epochs_up_to(epochs: int) -> list[float]:
    """Return the epochs after which the paper looks at a run, up to so many, and the last.

    >>> epochs_up_to(3), epochs_up_to(7)
    ([0.1, 1, 2, 3], [0.1, 1, 2, 3, 4, 7])
    """
    return [epoch for epoch in EPOCHS if epoch < epochs] + [epochs]


def visits_of(epoch: float, n: int) -> int:
    """Return how many rows have been visited after an epoch, or a tenth of one, over ``n`` rows.

    >>> visits_of(0.1, 60000), visits_of(10, 60000)
    (6000, 600000)
    """
    return max(1, round(epoch * n))


def scaled(pixels: Bytes, brightest: int, degree: int) -> Floats:
    """Return pixels as they are for degree 1, divided by the brightest for the others.

    >>> import numpy as np
    >>> scaled(np.array([[0, 255]], np.uint8), 255, 1), scaled(np.array([[0, 255]], np.uint8), 255, 2)
    (array([[  0., 255.]]), array([[0., 1.]]))
    """
    numbers = pixels.astype(np.float64)
    if degree > 1:
        numbers /= brightest
    return numbers


def _errors(scores: ScoresOfRows, classes: NDArray[np.int64], y: NDArray[np.int64]) -> tuple[float, float, float]:
    """Return the errors in percent of last, average and vote; the class is that of the largest score, the first."""
    wrong = [classes[np.argmax(one, axis=1)] != y for one in (scores.last, scores.average, scores.vote)]
    last, average, vote = (100 * int(np.count_nonzero(one)) / len(y) for one in wrong)
    return last, average, vote


def _counts(state: DualState, visits: int) -> tuple[int, int]:
    """Return the mistakes of all machines within so many visits, and on how many rows they were made."""
    members: list[Any] = []
    for k in range(len(state.counters)):
        made = state.updates_of(k)
        members.append(made.members[made.visits < visits])
    together = np.concatenate(members)
    return len(together), len(np.unique(together))


# What Freund and Schapire 1999 report of MNIST, as far as we have it.


class PaperRow(NamedTuple):
    """Test errors in percent, mistakes of all ten machines, support vectors in their union; None where we have none."""

    average: float | None = None
    vote: float | None = None
    mistakes: int | None = None
    supports: int | None = None


PAPER = {
    (1, 1): PaperRow(8.7, 8.5, 25_461, 19_795),
    (1, 10): PaperRow(8.3, 8.1),
    (2, 0.1): PaperRow(vote=6.0),
    (2, 1): PaperRow(2.8, 2.8, 10_201, 8_190),
    (2, 10): PaperRow(1.9, 1.8),
    (3, 0.1): PaperRow(vote=5.4),
    (3, 1): PaperRow(2.3, 2.3, 8_475, 6_774),
    (3, 10): PaperRow(1.6, 1.6),
}
"""By degree and epoch: Y. Freund and R. Schapire, Large Margin Classification Using the Perceptron Algorithm, Machine
Learning 37(3):277-296, 1999."""


# Test errors by epoch: a panel for each degree. Lines differ in dashes and marks as well as in colour.


_STYLES = {
    "last": {"color": ORANGE, "linestyle": ":", "marker": "^"},
    "average": {"color": BLUE, "linestyle": "--", "marker": "s"},
    "vote": {"color": DARK, "linestyle": "-", "marker": "o"},
}
_LOGARITHMIC_FROM = 4.0  # where the largest error is so many times the smallest
_DECADES = (0.001, 0.01, 0.1, 1, 10, 100)
_MANY, _FEW, _FEW_FROM = (1, 2, 3, 5, 8), (1, 2, 5), 50.0  # ticks of a decade, fewer from that ratio on
_MOST_ACROSS = 3
Rows = Sequence[Mapping[str, Any]]


def draw_figure(by_degree: Mapping[int, Rows], title: str, path: str | os.PathLike[str] | None) -> list[Axes]:
    """Draw all panels in a new figure, written to ``path`` if there is one; return their axes."""
    across = min(len(by_degree), _MOST_ACROSS if len(by_degree) != 4 else 2)
    down = math.ceil(len(by_degree) / across)
    size = {"figsize": (4.4 * across + 0.6, 3.6 * down + 0.8), "layout": "constrained"}
    # with a path no window is needed, whatever the screen
    figure = import_matplotlib("pyplot").figure(**size) if path is None else import_matplotlib("figure").Figure(**size)
    panels = list(figure.subplots(down, across, squeeze=False, sharey=True).flat)
    for empty in panels[len(by_degree) :]:
        empty.remove()
    panels = draw_panels(by_degree, panels[: len(by_degree)])
    figure.suptitle(title.rstrip("."), fontsize=11)
    if path is not None:
        picture = io.BytesIO()
        figure.savefig(picture, format=Path(path).suffix.lstrip(".") or "png", dpi=120)
        write_atomically(path, [picture.getvalue()])
    return panels


def draw_panels(by_degree: Mapping[int, Rows], where: Axes | Sequence[Axes]) -> list[Axes]:
    """Draw a panel for each degree on axes of its own; return these."""
    panels: list[Axes] = [where] if hasattr(where, "plot") else list(where)
    if len(panels) != len(by_degree):
        raise ParameterError(
            f"a picture of {len(by_degree)} degrees needs so many axes, got {len(panels)}: "
            "leave them out for a new figure."
        )
    errors = [row[name] for rows in by_degree.values() for row in rows for name in _STYLES]
    ratio = max(errors) / min(errors) if min(errors) > 0 else 1.0  # no error at all has no logarithm
    for ax, (degree, rows) in zip(panels, by_degree.items(), strict=True):
        _draw_lines(ax, rows)
        ax.set(title=f"degree {degree}", xlabel="epoch (logarithmic)", ylabel="test error (%)", xscale="log")
        _set_ticks(ax.xaxis, [row["epoch"] for row in rows])
        if ratio >= _LOGARITHMIC_FROM:
            ax.set(ylabel="test error (%, logarithmic)", yscale="log")
            _set_ticks(ax.yaxis, [ten * digit for ten in _DECADES for digit in (_MANY if ratio < _FEW_FROM else _FEW)])
    limits = [limit for ax in panels for limit in ax.get_ylim()]
    for ax in panels:
        ax.set_ylim(min(limits), max(limits))
    return panels


def _draw_lines(ax: Axes, rows: Rows) -> None:
    """Draw errors by epoch, with open marks where the paper has a number."""
    epochs = [row["epoch"] for row in rows]
    for name, style in _STYLES.items():
        ax.plot(epochs, [row[name] for row in rows], label=name, markersize=5, linewidth=1.5, **style)
    for name in ("average", "vote"):
        known = [(row["epoch"], row[f"paper {name}"]) for row in rows if row[f"paper {name}"] is not None]
        if known:
            style = {"color": _STYLES[name]["color"], "marker": _STYLES[name]["marker"], "linestyle": ""}
            ax.plot(*zip(*known, strict=True), label=f"paper: {name}", markersize=11, fillstyle="none", **style)
    ax.legend(frameon=False)
    tidy(ax)


def _set_ticks(axis: Any, ticks: Sequence[float]) -> None:
    """Put ticks at these places of a logarithmic axis and no others, with plain numbers."""
    ticker = import_matplotlib("ticker")
    axis.set_major_locator(ticker.FixedLocator(ticks))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:g}"))


# What a reproduction found: a table by degree and epoch, with the paper's numbers, that can be printed and drawn.


_HEADS = ("epoch", "last", "avg", "vote", "mistakes", "support", "avg", "vote", "mistakes", "support")
_WIDTHS = (5, 5, 5, 5, 8, 7, 6, 5, 8, 7)
_OURS = 6  # columns that are ours


@dataclass(frozen=True, repr=False)
class Reproduction:
    """Test errors by degree and epoch beside those of a paper; printing it shows them.

    Attributes
    ----------
    title : str
        What was learned, and from how many rows.
    table : Table
        A row for each degree and epoch: test errors of the last weights, their average and the vote, in percent;
        mistakes of all machines together; support vectors in their union; the paper's numbers, None where we have none.
    seconds : Table
        How long training and evaluation took for each degree.

    Examples
    --------
    >>> from rosenblatt.reproductions import freund_schapire_1999
    >>> found = freund_schapire_1999(small=True, degrees=(2,), epochs=1)
    >>> found.table.columns[:5]
    ['degree', 'epoch', 'last', 'average', 'vote']
    >>> found.seconds["degree"]
    [2]
    """

    title: str
    table: Table
    seconds: Table

    def __repr__(self) -> str:
        columns = self.table.columns
        has_paper = any(value is not None for name in columns if name.startswith("paper") for value in self.table[name])
        shown = len(_HEADS) if has_paper else _OURS
        head = _line(_HEADS[:shown])
        group = " paper ".center(len(_line(_HEADS)) - len(_line(_HEADS[:_OURS])) - 2, "-")
        lines = [self.title, "Errors in percent of the test rows; mistakes of all machines; support vectors."]
        lines += ["Paper: Freund and Schapire 1999."] * has_paper
        for seconds in self.seconds:
            lines += [
                "",
                "Degree {degree}: trained in {training:.1f} s, evaluated in {evaluation:.1f} s.".format(**seconds),
            ]
            lines += [group.rjust(len(head))] * has_paper + [head, "-" * len(head)]
            lines += [_line(_cells(row)[:shown]) for row in self.table if row["degree"] == seconds["degree"]]
        return "\n".join(lines)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as CSV; what the paper does not say is left empty."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.table.columns)
        writer.writerows(row.values() for row in self.table)
        write_atomically(path, [text.getvalue().encode()])

    def plot(self, where: str | os.PathLike[str] | Axes | Sequence[Axes] | None = None) -> Any:
        """Draw test errors by epoch, a panel for each degree.

        Parameters
        ----------
        where : path, matplotlib Axes, sequence of them, or None
            A picture to write, whose name says its format; or axes to draw on, one for each degree; or None for those
            of a new figure.

        Returns
        -------
        list of matplotlib Axes
        """
        by_degree = {
            degree: [row for row in self.table if row["degree"] == degree] for degree in self.seconds["degree"]
        }
        if where is None or isinstance(where, str | os.PathLike):
            return draw_figure(by_degree, self.title, where)
        return draw_panels(by_degree, where)


def reproduction(title: str, runs: Sequence[DegreeRun], with_paper: bool) -> Reproduction:
    """Return runs as a table, with the paper's numbers where they are about the same data."""
    columns: dict[str, list[Any]] = {}
    for run in runs:
        for moment in run.moments:
            paper = PAPER.get((run.degree, moment.epoch), PaperRow()) if with_paper else PaperRow()
            row = {
                "degree": run.degree,
                "epoch": moment.epoch,
                "last": moment.last,
                "average": moment.average,
                "vote": moment.vote,
                "mistakes": moment.mistakes,
                "support vectors": moment.supports,
                "paper average": paper.average,
                "paper vote": paper.vote,
                "paper mistakes": paper.mistakes,
                "paper support vectors": paper.supports,
            }
            for name, value in row.items():
                columns.setdefault(name, []).append(value)
    seconds: dict[str, list[Any]] = {
        "degree": [run.degree for run in runs],
        "training": [run.training_seconds for run in runs],
        "evaluation": [run.evaluation_seconds for run in runs],
    }
    note = "Errors in percent of the test rows; paper: Freund and Schapire 1999."
    return Reproduction(title, Table(columns, title, [note]), Table(seconds, "Seconds by degree"))


def _line(cells: Sequence[str]) -> str:
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=False))


def _cells(row: dict[str, Any]) -> list[str]:
    """Return the numbers of a row as they are printed; ours to two decimals, the paper's to one."""
    _, epoch, *numbers = row.values()
    cells = [f"{epoch:g}"]
    for place, number in enumerate(numbers):
        if number is None:
            cells.append("-")
        elif isinstance(number, int):
            cells.append(f"{number:,}")
        else:
            cells.append(f"{number:.2f}" if place < _OURS - 1 else f"{number:.1f}")
    return cells


# How much memory a run may keep kernel values in.


_MOST = 8000  # megabytes: the kernel values of degree 2 on MNIST, and some
_MB = 1_000_000
_UNKNOWN = 2000 * _MB


def free_cache_size() -> float:
    """Return how many megabytes of kernel values to keep: 8,000, or half of the memory that is free if that is less.

    >>> 1 <= free_cache_size() <= 8000
    True
    """
    return float(max(1, min(_MOST, free_bytes() // 2 // _MB)))


def free_bytes() -> int:
    """Return how much memory is free, what files are cached in included; no more than the limit of a container."""
    free = _available() or _UNKNOWN
    try:
        return min(free, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    except (OSError, ValueError):  # no limit
        return free


def _available() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):  # not Linux
        try:
            return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        except (AttributeError, OSError, ValueError):
            return None


def freund_schapire_1999(
    data: str | os.PathLike[str] | None = None,
    degrees: Iterable[int] = (1, 2, 3, 4),
    epochs: int = 10,
    small: bool = False,
    device: str | None = None,
    cache_size: float | None = None,
    random_state: int = 0,
    verbose: int = 0,
) -> Reproduction:
    """Train voted kernel perceptrons on MNIST as Freund and Schapire did, and return their table with ours.

    Ten one-vs-rest machines with K(x, x') = (1 + x . x')^d start at zero and make ``epochs`` passes over the rows in
    one random order, degree 1 on pixels from 0 to 255 and the others on pixels from 0 to 1. Test errors of the last
    weights, of their average and of the vote are those after 0.1, 1, 2, 3, 4 and 10 epochs, from one run for each
    degree.

    Parameters
    ----------
    data : path or None
        A folder with the four files of MNIST, compressed or not; None gets them by scikit-learn's ``fetch_openml``,
        which needs a network the first time.
    degrees : iterable of int
        Degrees of the kernel, from 1 on.
    epochs : int
        Passes over the rows.
    small : bool
        Whether to learn scikit-learn's 1,797 digits instead, two of three to train on: this takes seconds, and the
        paper has no numbers for it.
    device : str or None
        A device of PyTorch, such as "cuda"; None for NumPy.
    cache_size : float or None
        Megabytes of kernel values that are kept from epoch to epoch; None for 8,000, or half of the memory that is free
        where that is less. It changes nothing but the time.
    random_state : int
        The rows are visited in the order ``visiting_order(n, random_state)``.
    verbose : int
        1 shows progress on standard error.

    Returns
    -------
    Reproduction

    Examples
    --------
    >>> found = freund_schapire_1999(small=True, degrees=(2, 3), epochs=1)
    >>> found.table["degree"], found.table["epoch"]
    ([2, 2, 3, 3], [0.1, 1, 0.1, 1])
    >>> all(error < 6 for error in found.table["vote"][1::2])
    True
    """
    wanted = _checked_degrees(degrees)
    epochs, seed = check_integer("epochs", epochs, 1), check_integer("random_state", random_state, 0)
    check_boolean("small", small)
    if small and data is not None:
        raise ParameterError(
            Setting("small"),
            " learns digits that come with scikit-learn, so it does not go with ",
            Setting("data"),
            ".",
        )
    images = images_of(data, small)
    cache_size = free_cache_size() if cache_size is None else cache_size

    def train(X: Floats, y: NDArray[np.int64], degree: int) -> DualState:
        if verbose:
            print(f"degree {degree}: {len(X):,} rows, {epochs} epochs", file=sys.stderr, flush=True)
        model = KernelPerceptron(
            kernel="poly",
            degree=degree,
            gamma=1.0,
            coef0=1.0,
            hypothesis="vote",
            shuffle=False,
            max_iter=epochs,
            cache_size=cache_size,
            device=device,
            verbose=verbose,
        )
        return model.fit(X, y).state_

    runs = list(degree_runs(images, wanted, epochs, seed, train, scores_at))
    title = f"{images.name}: {len(images.X_train):,} rows to train on, {len(images.X_test):,} to test on."
    return reproduction(title, runs, with_paper=images.are_mnist)


def _checked_degrees(degrees: Iterable[int]) -> list[int]:
    if isinstance(degrees, str | bytes) or not isinstance(degrees, Iterable):
        raise ParameterError(Setting("degrees"), f" must be integers such as (1, 2, 3), got {shorten(degrees)}.")
    wanted = list(dict.fromkeys(check_integer("degrees", degree, 1) for degree in degrees))
    if not wanted:
        raise ParameterError(Setting("degrees"), " must be one integer or more, got none.")
    return wanted
