"""The MNIST experiment of Freund and Schapire 1999, Large Margin Classification Using the Perceptron Algorithm.

In their protocol the rows are permuted once, and every epoch (a pass over the rows) visits them in that order. A
one-vs-rest classifier is trained for each digit, with the kernel K(x, x') = (1 + x . x')^d. It starts at zero and makes
an update on each row whose score has the wrong sign or is 0. Each degree d is trained once. The results after fewer
epochs are computed from the recorded updates.
"""

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
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, load_digits

from rosenblatt.estimators.kernel import KernelPerceptron
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.messages import Message, ParameterError, check_boolean, check_integer, shorten
from rosenblatt.plots.axes import BLUE, DARK, ORANGE, Axes, import_matplotlib, tidy
from rosenblatt.storage.container import write_atomically
from rosenblatt.tables import Table
from rosenblatt.training.dual.predict import scores_at
from rosenblatt.training.dual.state import DualState
from rosenblatt.training.rows import as_rows

Bytes = NDArray[np.uint8]
EPOCHS: tuple[float, ...] = (0.1, 1, 2, 3, 4, 10)
"""The numbers of epochs after which the paper measures test errors; 0.1 is a tenth of the first epoch."""
PAPER: dict[tuple[int, float], tuple[float | None, float | None, int | None, int | None]] = {
    (1, 1): (8.7, 8.5, 25_461, 19_795),
    (1, 10): (8.3, 8.1, None, None),
    (2, 0.1): (None, 6.0, None, None),
    (2, 1): (2.8, 2.8, 10_201, 8_190),
    (2, 10): (1.9, 1.8, None, None),
    (3, 0.1): (None, 5.4, None, None),
    (3, 1): (2.3, 2.3, 8_475, 6_774),
    (3, 10): (1.6, 1.6, None, None),
}
"""The numbers of the paper by (degree, epochs), with None for a number that it does not give.

They are the test errors in percent of averaged weights and of the vote, the mistakes of all ten classifiers together,
and the number of different support vectors. Y. Freund and R. Schapire, Machine Learning 37(3):277-296.
"""


# MNIST from its four files in IDX format, which has a magic number, big-endian sizes and then the bytes of the array.

FILES = {"train": ("train-images", "train-labels"), "test": ("t10k-images", "t10k-labels")}
"""How the names of the four files begin, as (images, labels) of the training and the test data."""
WHERE = Message(
    "Get MNIST's four files (train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte, .gz or not) from any mirror and give their folder as {data}. With a network "
    'connection, leave out {data}: then scikit-learn downloads them (fetch_openml("mnist_784")). {small=True} needs no '
    "download."
)
"""Advice on how to get MNIST, which ends some error messages."""
_MOST_BYTES = 2**30
_GZIP = b"\x1f\x8b"


def read_mnist(folder: str | os.PathLike[str]) -> dict[str, tuple[Bytes, Bytes]]:
    """Read the four MNIST files in a folder; return (images, labels) for "train" and "test", with images as rows.

    If a file is missing or damaged, raise a ParameterError that names it and says how to get MNIST.
    """
    place = Path(folder)
    if not place.is_dir():
        raise ParameterError("{data} must be a folder, and {place} is not one. {where}", place=place, where=WHERE)
    parts = {}
    for part, (images, labels) in FILES.items():
        image_file, label_file = _find_file(place, images, 3), _find_file(place, labels, 1)
        pixels, answers = read_idx(image_file, 3), read_idx(label_file, 1)
        if len(pixels) != len(answers):
            raise ParameterError(
                "{images} has {n:,} images and {labels} has {m:,} labels, expected equal numbers. {where}",
                images=image_file,
                labels=label_file,
                n=len(pixels),
                m=len(answers),
                where=WHERE,
            )
        parts[part] = pixels.reshape(len(pixels), math.prod(pixels.shape[1:])), answers
    widths = {part: pixels.shape[1] for part, (pixels, _) in parts.items()}
    if widths["train"] != widths["test"]:
        raise ParameterError(
            "the images of {place} must have the same size, got {train:,} pixels for training and {test:,} for "
            "testing. {where}",
            place=place,
            where=WHERE,
            **widths,
        )
    return parts


def read_idx(path: str | os.PathLike[str], dimensions: int) -> Bytes:
    """Return the array of bytes in an IDX file, gzipped or not, that has the given number of dimensions.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels")
    ...     _ = path.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 3, 7, 2, 1]))
    ...     read_idx(path, 1)
    array([7, 2, 1], dtype=uint8)
    """
    with open(path, "rb") as file:
        packed = file.read(len(_GZIP)) == _GZIP
    try:
        with gzip.open(path, "rb") if packed else open(path, "rb") as file:
            content = file.read(_MOST_BYTES)
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise _damaged(path, f"gzip cannot decompress it ({fault})") from fault
    magic, start = bytes([0, 0, 8, dimensions]), 4 + 4 * dimensions  # 8 is the type code of unsigned bytes
    if content[:4] != magic:
        found = content[:4].hex(" ") or "an empty file"
        raise _damaged(path, f"it must begin with the bytes {magic.hex(' ')}, got {found}")
    if len(content) < start:
        raise _damaged(path, "it ends within its header")
    shape = np.frombuffer(content[4:start], ">u4").tolist()
    count = math.prod(shape)
    if count == 0 or len(content) != start + count:
        raise _damaged(path, f"its sizes {shape} make {count:,} bytes, and it has {len(content) - start:,}")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _find_file(folder: Path, start: str, dimensions: int) -> Path:
    """Return the file whose name begins with ``start``; mirrors write a dot or a dash after it, and may add .gz."""
    names = [f"{start}{dot}idx{dimensions}-ubyte{end}" for dot in "-." for end in ("", ".gz")]
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise ParameterError(
        "there is no file {plain} or {packed} in {folder}. {where}",
        plain=names[0],
        packed=names[1],
        folder=folder,
        where=WHERE,
    )


def _damaged(path: str | os.PathLike[str], why: str) -> ParameterError:
    return ParameterError(
        "{path} is not a valid copy of this MNIST file: {why}. {where}", path=os.fspath(path), why=why, where=WHERE
    )


# The data: MNIST from a folder or from OpenML, or the small digits data of scikit-learn.


_MNIST_TRAINING_ROWS, _MNIST_ROWS = 60_000, 70_000
_LEAST_CLASSES = 3  # for two classes, KernelPerceptron trains a single classifier


@dataclass(frozen=True)
class Images:
    """Training and test images as rows of pixels from 0 to ``brightest``, with their labels."""

    name: str
    X_train: Bytes
    y_train: NDArray[np.int64]
    X_test: Bytes
    y_test: NDArray[np.int64]
    brightest: int = 255

    @property
    def are_mnist(self) -> bool:
        """Whether the data has the shape of MNIST, so that it can be compared with the paper."""
        return self.X_train.shape == (_MNIST_TRAINING_ROWS, 784) and self.X_test.shape == (10_000, 784)


def images_of(data: str | os.PathLike[str] | None, small: bool) -> Images:
    """Return scikit-learn's digits if ``small``, otherwise MNIST from the folder ``data``, or by default from OpenML.

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
            "the images of {data_folder} must have {least} classes or more, got {got}. {where}",
            data_folder=os.fspath(data),
            least=_LEAST_CLASSES,
            got=len(np.unique(found.y_train)),
            where=WHERE,
        )
    return found


def _small_digits() -> Images:
    """Return scikit-learn's 1,797 digits of 8 x 8 pixels from 0 to 16; every third digit is for testing."""
    digits = load_digits()
    X, y = digits.data.astype(np.uint8), digits.target.astype(np.int64)
    test = np.arange(len(X)) % 3 == 2
    return Images("scikit-learn's digits", X[~test], y[~test], X[test], y[test], brightest=16)


def _openml_mnist() -> Images:
    """Return MNIST from OpenML, whose rows are in the order of the four files; scikit-learn caches the download."""
    parser = "pandas" if find_spec("pandas") else "liac-arff"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fetch_openml warns about each failed attempt
            X, y = fetch_openml("mnist_784", version=1, return_X_y=True, as_frame=False, parser=parser, n_retries=1)
    except (OSError, ValueError) as fault:
        raise ParameterError(
            "MNIST could not be downloaded from OpenML ({why}). {where}",
            why=" ".join(str(fault).split()) or type(fault).__name__,
            where=WHERE,
        ) from fault
    if X.shape != (_MNIST_ROWS, 784):
        raise ParameterError(
            "OpenML's MNIST must have shape ({rows}, 784), got {got}. {where}",
            rows=_MNIST_ROWS,
            got=X.shape,
            where=WHERE,
        )
    X, y = X.astype(np.uint8), y.astype(np.int64)
    cut = _MNIST_TRAINING_ROWS
    return Images("MNIST", X[:cut], y[:cut], X[cut:], y[cut:])


# The runs, one for each degree, with test errors after several numbers of epochs.

DegreeRun: TypeAlias = tuple[list[dict[str, Any]], float, float]
"""The table rows of one degree, and the seconds that training and evaluation took."""


def degree_run(
    images: Images,
    degree: int,
    epochs: int,
    seed: int,
    train: Callable[..., DualState],
    score: Callable[..., Sequence[Any]] = scores_at,
) -> DegreeRun:
    """Train and evaluate the classifiers of one degree; degree 1 uses unscaled pixels, others pixels from 0 to 1.

    The function ``train(X, y, degree)`` gets the rows in the order ``visiting_order(n, seed)`` and returns the state of
    the run. The function ``score(state, rows, visits)`` returns, for each number of visits, the scores of the rows by
    the last weights, their average and the vote, with a column for each classifier.
    """
    order = visiting_order(len(images.X_train), seed)
    started = time.perf_counter()
    state = train(scaled(images.X_train[order], images.brightest, degree), images.y_train[order], degree)
    trained = time.perf_counter()
    looks = [epoch for epoch in EPOCHS if epoch < epochs] + [epochs]
    visits = [max(1, round(epoch * len(order))) for epoch in looks]
    found = score(state, as_rows(scaled(images.X_test, images.brightest, degree)), visits)
    classes, logs, rows = np.unique(images.y_train), [state.updates_of(k) for k in range(len(state.counters))], []
    for epoch, made, scores in zip(looks, visits, found, strict=True):
        row: dict[str, Any] = {"degree": degree, "epoch": epoch}
        for name in _STYLES:  # predicts the class with the largest score, and the first class if scores are equal
            wrong = classes[np.argmax(getattr(scores, name), axis=1)] != images.y_test
            row[name] = 100 * int(np.count_nonzero(wrong)) / len(wrong)
        members: Any = np.concatenate([log.members[log.visits < made] for log in logs])
        rows.append(row | {"mistakes": len(members), "support vectors": len(np.unique(members))})
    return rows, trained - started, time.perf_counter() - trained


def scaled(pixels: Bytes, brightest: int, degree: int) -> NDArray[np.float64]:
    """Return the pixels as floats, divided by ``brightest`` unless the degree is 1.

    >>> import numpy as np
    >>> scaled(np.array([[0, 255]], np.uint8), 255, 1), scaled(np.array([[0, 255]], np.uint8), 255, 2)
    (array([[  0., 255.]]), array([[0., 1.]]))
    """
    numbers = pixels.astype(np.float64)
    if degree > 1:
        numbers /= brightest
    return numbers


# The result: a table by degree and epoch with the numbers of the paper, which can be printed and drawn.

_STYLES = {  # lines differ in dashes and markers as well as in colour
    "last": {"color": ORANGE, "linestyle": ":", "marker": "^"},
    "average": {"color": BLUE, "linestyle": "--", "marker": "s"},
    "vote": {"color": DARK, "linestyle": "-", "marker": "o"},
}
# ratios of the largest to the smallest error from which the axis of errors is logarithmic, and has fewer ticks
_LOGARITHMIC_FROM, _FEW_TICKS_FROM = 4.0, 50.0
# the printed columns: name, width and format of each
_COUNTS = (("mistakes", 8, ","), ("support", 7, ","))
_OURS = (("epoch", 5, "g"), ("last", 5, ".2f"), ("avg", 5, ".2f"), ("vote", 5, ".2f"), *_COUNTS)
_PAPERS = (("avg", 6, ".1f"), ("vote", 5, ".1f"), *_COUNTS)


@dataclass(frozen=True, repr=False)
class Reproduction:
    """Reproduced test errors by degree and epoch, beside the published ones. Print the object to see them.

    Attributes
    ----------
    title : str
        The name of the data, and the numbers of training and test rows.
    table : Table
        A row for each degree and number of epochs. ``last``, ``average`` and ``vote`` are the test errors in percent of
        the last weights, the averaged weights and the vote. ``mistakes`` is the number of mistakes of all one-vs-rest
        classifiers together, and ``support vectors`` is the number of different support vectors. The columns whose
        names begin with ``paper`` contain the numbers of the paper, or None if it does not give a number.
    seconds : Table
        The seconds that training and evaluation took for each degree.

    See Also
    --------
    freund_schapire_1999 : Run the reproduction.

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
        has_paper = any(value is not None for value in self.table["paper vote"])
        columns = _OURS + _PAPERS * has_paper
        head = "  ".join(name.rjust(width) for name, width, _ in columns)
        group = " paper ".center(sum(width + 2 for _, width, _ in _PAPERS) - 2, "-")
        lines = [self.title, "Errors: percent of the test rows; mistakes of all classifiers; support vectors."]
        lines += ["Paper: Freund and Schapire 1999."] * has_paper
        for took, rows in zip(self.seconds, self._by_degree().values(), strict=True):
            words = "Degree {degree}: trained in {training:.1f} s, evaluated in {evaluation:.1f} s."
            lines += ["", words.format(**took), *[group.rjust(len(head))] * has_paper, head, "-" * len(head)]
            for row in rows:
                cells = zip(columns, list(row.values())[1:], strict=False)
                texts = [
                    ("-" if value is None else f"{value:{form}}").rjust(width) for (_, width, form), value in cells
                ]
                lines.append("  ".join(texts))
        return "\n".join(lines)

    def _by_degree(self) -> dict[int, list[dict[str, Any]]]:
        return {degree: [row for row in self.table if row["degree"] == degree] for degree in self.seconds["degree"]}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a CSV file, with an empty cell for None.

        Parameters
        ----------
        path : str or path-like
            File to write. It is replaced atomically.
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.table.columns)
        writer.writerows(row.values() for row in self.table)
        write_atomically(path, [text.getvalue().encode()])

    def plot(self, where: str | os.PathLike[str] | Axes | Sequence[Axes] | None = None) -> Any:
        """Draw the test errors by epoch, in a panel for each degree.

        Parameters
        ----------
        where : str, path-like, matplotlib Axes or sequence of Axes, default=None
            A path writes the plot to a file, whose ending determines the format. If Axes are given, one for each
            degree, the plot is drawn on them. None creates a new figure.

        Returns
        -------
        axes : list of matplotlib Axes
            The axes of the panels.
        """
        by_degree = self._by_degree()
        if where is not None and not isinstance(where, str | os.PathLike):
            return draw_panels(by_degree, [where] if hasattr(where, "plot") else list(where))
        across = 2 if len(by_degree) == 4 else min(len(by_degree), 3)
        down = math.ceil(len(by_degree) / across)
        # a plot that is written to a file needs no window
        make = import_matplotlib("pyplot").figure if where is None else import_matplotlib("figure").Figure
        figure = make(figsize=(4.4 * across + 0.6, 3.6 * down + 0.8), layout="constrained")
        panels = list(figure.subplots(down, across, squeeze=False, sharey=True).flat)
        for empty in panels[len(by_degree) :]:
            empty.remove()
        panels = draw_panels(by_degree, panels[: len(by_degree)])
        figure.suptitle(self.title.rstrip("."), fontsize=11)
        if where is not None:
            picture = io.BytesIO()
            figure.savefig(picture, format=Path(where).suffix.lstrip(".") or "png", dpi=120)
            write_atomically(where, [picture.getvalue()])
        return panels


def reproduction(title: str, runs: Iterable[DegreeRun], with_paper: bool) -> Reproduction:
    """Return the results of some runs, with the numbers of the paper if ``with_paper``."""
    names = ("paper average", "paper vote", "paper mistakes", "paper support vectors")
    rows, seconds = [], []
    for found, training, evaluation in runs:
        seconds.append({"degree": found[0]["degree"], "training": training, "evaluation": evaluation})
        for row in found:
            paper = PAPER.get((row["degree"], row["epoch"])) if with_paper else None
            rows.append(row | dict(zip(names, paper or [None] * len(names), strict=True)))
    columns, times = ({name: [one[name] for one in table] for name in table[0]} for table in (rows, seconds))
    note = "Errors in percent of the test rows; paper: Freund and Schapire 1999."
    return Reproduction(title, Table(columns, title, [note]), Table(times, "Seconds by degree"))


def draw_panels(by_degree: Mapping[int, list[dict[str, Any]]], panels: list[Axes]) -> list[Axes]:
    """Draw test errors by epoch, on one Axes for each degree, with open markers for the numbers of the paper."""
    if len(panels) != len(by_degree):
        raise ParameterError(
            "a plot for {n} kernel degrees needs {n} axes, got {got}: leave the axes out for a new figure.",
            n=len(by_degree),
            got=len(panels),
        )
    errors = [row[name] for rows in by_degree.values() for row in rows for name in _STYLES]
    ratio = max(errors) / min(errors) if min(errors) > 0 else 1.0  # an error of 0 has no logarithm
    for ax, (degree, rows) in zip(panels, by_degree.items(), strict=True):
        epochs = [row["epoch"] for row in rows]
        for name, style in _STYLES.items():
            ax.plot(epochs, [row[name] for row in rows], label=name, markersize=5, linewidth=1.5, **style)
        for name in ("average", "vote"):
            known = [(row["epoch"], row[f"paper {name}"]) for row in rows if row[f"paper {name}"] is not None]
            if known:
                look = _STYLES[name] | {"linestyle": "", "markersize": 11, "fillstyle": "none"}
                ax.plot(*zip(*known, strict=True), label=f"paper: {name}", **look)
        ax.legend(frameon=False)
        tidy(ax)
        ax.set(title=f"degree {degree}", xlabel="epoch (logarithmic)", ylabel="test error (%)", xscale="log")
        _set_ticks(ax.xaxis, epochs)
        if ratio >= _LOGARITHMIC_FROM:
            ax.set(ylabel="test error (%, logarithmic)", yscale="log")
            digits = (1, 2, 3, 5, 8) if ratio < _FEW_TICKS_FROM else (1, 2, 5)
            _set_ticks(ax.yaxis, [ten * digit for ten in (0.001, 0.01, 0.1, 1, 10, 100) for digit in digits])
    limits = [limit for ax in panels for limit in ax.get_ylim()]
    for ax in panels:
        ax.set_ylim(min(limits), max(limits))
    return panels


def _set_ticks(axis: Any, ticks: Sequence[float]) -> None:
    """Set the ticks of a logarithmic axis, with plain numbers as labels."""
    ticker = import_matplotlib("ticker")
    axis.set_major_locator(ticker.FixedLocator(ticks))
    axis.set_minor_locator(ticker.NullLocator())
    axis.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:g}"))


def free_cache_size() -> float:
    """Return the size of the kernel cache in megabytes: 8,000, or half of the free memory if that is less.

    >>> 1 <= free_cache_size() <= 8000
    True
    """
    return float(max(1, min(8000, free_bytes() // 2_000_000)))


def free_bytes() -> int:
    """Return the available memory in bytes, including file caches, up to the limit of a container; 2 GB if unknown."""
    free = 2_000_000_000
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
        free = min(free, int(Path("/sys/fs/cgroup/memory.max").read_text()))  # "max" means no limit
    return free


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
    """Train voted kernel perceptrons on MNIST as Freund and Schapire did, and compare the test errors with theirs.

    For each degree d, ten one-vs-rest classifiers with the kernel K(x, x') = (1 + x . x')^d are trained from zero. They
    make ``epochs`` passes over the rows, always in the same random order. Degree 1 uses pixels from 0 to 255, and the
    other degrees pixels from 0 to 1. Test errors of the last weights, the averaged weights and the vote are computed
    after 0.1, 1, 2, 3, 4 and 10 epochs, as far as these do not exceed ``epochs``, and after the last epoch.

    Parameters
    ----------
    data : str or path-like, default=None
        Folder with the four files of MNIST, gzipped or not. None loads MNIST with scikit-learn's ``fetch_openml``,
        which needs a network connection the first time.
    degrees : iterable of int, default=(1, 2, 3, 4)
        Degrees of the kernel, each at least 1.
    epochs : int, default=10
        Number of passes over the rows.
    small : bool, default=False
        Whether to use scikit-learn's 1,797 digits instead of MNIST, two thirds of them for training. This takes
        seconds. The paper has no results for this data.
    device : str, default=None
        PyTorch device on which kernel values are computed, such as "cuda". None uses NumPy.
    cache_size : float, default=None
        Size in megabytes of the cache of kernel values, which affects only the time. None uses 8,000, or half of the
        free memory if that is less.
    random_state : int, default=0
        Seed of the visiting order, which is ``visiting_order(n, random_state)``.
    verbose : int, default=0
        With 1, progress is shown on standard error.

    Returns
    -------
    result : Reproduction
        Test errors by degree and epoch, beside the numbers of the paper. It can be printed, drawn and written to CSV.

    See Also
    --------
    rosenblatt.KernelPerceptron : The classifier that is trained.

    References
    ----------
    Y. Freund and R. E. Schapire (1999). Large margin classification using the perceptron algorithm. Machine Learning
    37, 277-296.

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
        raise ParameterError("{small} uses the digits of scikit-learn, so it cannot be combined with {data}.")
    images = images_of(data, small)
    cache_size = free_cache_size() if cache_size is None else cache_size

    def train(X: Any, y: Any, degree: int) -> DualState:
        if verbose:
            print(f"degree {degree}: {len(X):,} rows, {epochs} epochs", file=sys.stderr, flush=True)
        paper: dict[str, Any] = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "hypothesis": "vote", "shuffle": False}
        model = KernelPerceptron(
            **paper, degree=degree, max_iter=epochs, cache_size=cache_size, device=device, verbose=verbose
        )
        return model.fit(X, y).state_

    runs = [degree_run(images, degree, epochs, seed, train) for degree in wanted]
    title = f"{images.name}: {len(images.X_train):,} rows to train on, {len(images.X_test):,} to test on."
    return reproduction(title, runs, with_paper=images.are_mnist)


def _checked_degrees(degrees: Iterable[int]) -> list[int]:
    if isinstance(degrees, str | bytes) or not isinstance(degrees, Iterable):
        raise ParameterError("{degrees} must be integers such as (1, 2, 3), got {got}.", got=shorten(degrees))
    wanted = list(dict.fromkeys(check_integer("degrees", degree, 1) for degree in degrees))
    if not wanted:
        raise ParameterError("{degrees} must hold at least one integer, got none.")
    return wanted
