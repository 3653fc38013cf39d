"""The defaults of MarginPerceptron, PassiveAggressive and AROW, chosen by cross-validation on training parts alone.

``ROSENBLATT_DATA=folder python -m benchmarks.defaults --write docs/defaults.md`` puts the tables into the page.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from gzip import open as open_gzip
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import FunctionTransformer
from threadpoolctl import threadpool_limits

import rosenblatt
from benchmarks import comparison as others
from benchmarks.comparison import markdown, placed
from benchmarks.one_pass import NEWS, RCV1, news_texts
from benchmarks.workloads import MNIST, libsvm, mnist, real_data
from rosenblatt import ExactScaler

# The sets on which the defaults of the family were chosen: real ones, each with a test part that no choice sees.


TEST_SHARE = 0.3
Rows = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Parts:
    """Rows to learn from and rows to test on, prepared by what the former say."""

    train: Rows
    test: Rows


@dataclass(frozen=True)
class FamilySet:
    """``load`` returns all rows, of which a part is drawn to test on, or those to learn from and those to test on."""

    name: str
    load: Callable[[], tuple[Rows, ...]]
    files: tuple[str, ...] = ()
    prepare: Callable[[], Any] = FunctionTransformer
    chosen_on: bool = True
    """Whether parameters are chosen on it."""

    @property
    def here(self) -> bool:
        """Whether its files are here, if it has any."""
        return not self.files or real_data(*self.files) is not None

    def parts(self) -> tuple[Rows, Rows]:
        """Return rows to learn from and rows to test on, not yet prepared; a drawn part is the same in every run."""
        loaded = self.load()
        if len(loaded) == 2:
            return loaded[0], loaded[1]
        X, y = loaded[0]
        learned, tested = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, stratify=y, random_state=0)
        return (X[learned], y[learned]), (X[tested], y[tested])

    def prepared(self, learned: Rows, tested: Rows) -> Parts:
        """Return both parts after the preparation that the first one fits."""
        preparation = self.prepare()
        X = preparation.fit_transform(learned[0])
        return Parts((_plain(X), learned[1]), (_plain(preparation.transform(tested[0])), tested[1]))


def cut(rows: Rows, most: int, seed: int) -> Rows:
    """Return at most ``most`` of the rows, drawn by class."""
    X, y = rows
    if len(y) <= most:
        return rows
    some, _ = train_test_split(np.arange(len(y)), train_size=most, stratify=y, random_state=seed)
    return X[some], y[some]


def family_sets() -> Iterator[FamilySet]:
    """Yield the sets that are here."""
    yield from (data for data in SETS if data.here)


def _plain(X: Any) -> Any:
    """Return sparse rows as floats with indices of 32 bits, others as they are."""
    if not sp.issparse(X):
        return X
    X = sp.csr_matrix(X, dtype=np.float64)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _libsvm(*names: str, columns: int) -> tuple[Rows, ...]:
    return tuple(rows for rows in (libsvm(name, columns) for name in names) if rows is not None)


def _dense(name: str, columns: int) -> tuple[Rows, ...]:
    return tuple((X.toarray(), y) for X, y in _libsvm(name, columns=columns))


def _compared(name: str) -> tuple[Rows, ...]:
    """Return a set of the comparison with other classifiers, not prepared."""
    sets = {data.name: data for data in (*others.SHIPPED, *others.REAL)}
    return (sets[name].load(),)


def _mnist() -> tuple[Rows, ...]:
    return tuple(rows for rows in map(mnist, ("train", "t10k")) if rows is not None)


def _rcv1() -> tuple[Rows, ...]:
    folder = real_data()
    assert folder is not None
    parts = []
    for name in RCV1:
        with open_gzip(folder / name, "rt", encoding="utf-8") as file:
            rows = [line.split("|f ", 1) for line in file]
        parts.append((np.array([text for _, text in rows], dtype=object), np.array([int(label) for label, _ in rows])))
    return tuple(parts)


def _news() -> tuple[Rows, ...]:
    return tuple((np.array(texts, dtype=object), np.array(groups)) for texts, groups in news_texts())


def _words() -> CountVectorizer:
    return CountVectorizer(token_pattern=r"\w+")


class _UsedColumns:
    """A preparation that leaves out the columns that no row to learn from has."""

    def fit_transform(self, X: Any) -> Any:
        self.columns = np.unique(X.indices)
        return self.transform(X)

    def transform(self, X: Any) -> Any:
        return X[:, self.columns]


class _Pairs:
    """A preparation of texts such as ``13:0.5 96:1``."""

    def fit_transform(self, texts: np.ndarray) -> Any:
        self.places = {name: i for i, name in enumerate(sorted({name for text in texts for name, _ in _pairs(text)}))}
        return self.transform(texts)

    def transform(self, texts: np.ndarray) -> Any:
        values, columns, starts = [], [], [0]
        for text in texts:
            for name, value in _pairs(text):
                if name in self.places:
                    columns.append(self.places[name])
                    values.append(value)
            starts.append(len(values))
        X = sp.csr_matrix((values, columns, starts), shape=(len(texts), len(self.places)))
        X.sum_duplicates()
        return X


def _pairs(text: str) -> list[tuple[str, float]]:
    split = (pair.rpartition(":") for pair in text.split())
    return [(name, float(value)) for name, _, value in split]


def _libsvm_set(name: str, columns: int, *parts: str, chosen_on: bool = True) -> FamilySet:
    names = parts or (name,)
    files = tuple(f"libsvm/{part}.bz2" for part in names)
    return FamilySet(name, partial(_libsvm, *names, columns=columns), files, _UsedColumns, chosen_on)


def _table(name: str, file: str, load: Callable[[], tuple[Rows, ...]] | None = None) -> FamilySet:
    return FamilySet(name, load or partial(_compared, name), (file,) if file else (), ExactScaler)


SETS = (
    _libsvm_set("a9a", 123, "a9a", "a9a.t"),
    _libsvm_set("w8a", 300),
    _libsvm_set("mushrooms", 112),
    _libsvm_set("splice", 60),
    FamilySet("rcv1, 1,000 rows", _rcv1, RCV1, _Pairs),
    FamilySet("SMS spam", partial(_compared, "SMS spam"), (others.SMS,), _words),
    FamilySet("film reviews", partial(_compared, "film reviews"), (others.POSITIVE, others.NEGATIVE), _words),
    _table("breast cancer", ""),
    _table("heart", "libsvm/heart_scale.bz2"),
    _table("australian", "libsvm/australian.bz2", partial(_dense, "australian", 14)),
    _table("ionosphere", others.IONOSPHERE),
    _table("sonar", others.SONAR),
    _table("iris", ""),
    _table("wine", ""),
    _table("digits", ""),
    FamilySet("MNIST", _mnist, MNIST),
    _libsvm_set("news20", 62_061),
    FamilySet("20 newsgroups", _news, NEWS, _words, chosen_on=False),
    _libsvm_set("sector", 55_197, "sector.scale", "sector.t.scale", chosen_on=False),
)
"""Text is counts of words, as in `benchmarks.one_pass`; tables are scaled as ``rosenblatt train`` scales them."""


# What `benchmarks.defaults` measured, as one choice for all sets and as the tables of docs/defaults.md.


Setting = tuple[tuple[str, Any], ...]
"""Parameters with their values."""
Key = tuple[Setting, int, str]
"""A setting, the number of passes, and the hypothesis."""
Errors = dict[Key, float]
FIXED = {"PassiveAggressive": ("loss", "hinge")}
"""What a default keeps whatever is measured: it has to be the loss of scikit-learn's."""


@dataclass(frozen=True)
class Choice:
    """What was measured by one learner, with one way to treat classes, on one set: an entry for each seed."""

    learner: str
    way: str
    """The value of ``multi_class``."""
    data: str
    classes: int
    validation: list[Errors] = field(default_factory=list)
    test: list[Errors] = field(default_factory=list)

    def own(self, hypothesis: str) -> list[float]:
        """Return the test error, by seed, of what cross-validation likes best on this set."""
        return [test[best(errors, hypothesis)] for errors, test in zip(self.validation, self.test, strict=True)]


@dataclass(frozen=True)
class Default:
    """What was chosen for a learner, for all sets."""

    learner: str
    way: str
    key: Key
    losses: Errors
    """How much more the error is than the best of the same set, by cross-validation: the mean over sets and seeds."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What to give to the learner."""
        return {**dict(self.key[0]), "max_iter": self.key[1]}

    def covers(self, choice: Choice) -> bool:
        """Return whether it is about this learner, with classes treated in the way that was chosen, if it matters."""
        return choice.learner == self.learner and (choice.classes == 2 or choice.way == self.way)


def best(errors: Errors, hypothesis: str) -> Key:
    """Return where the error is smallest; the first of equals."""
    return min((key for key in errors if key[2] == hypothesis), key=errors.__getitem__)


def default(choices: list[Choice], learner: str) -> Default:
    """Return the setting whose errors, by cross-validation, are nearest to the best of each set, with its best passes.

    A setting has to serve one pass as well as ten: it has the least mean over all numbers of passes. Where a learner
    was tried with classes treated in two ways, the way is chosen first, so too, on the sets of more than two.
    """
    mine = [choice for choice in choices if choice.learner == learner]
    several = [choice for choice in mine if choice.classes > 2]
    ways = list(dict.fromkeys(choice.way for choice in several)) or ["ovr"]

    def least(way: str) -> float:
        return min(_by_setting(_means(choice for choice in several if choice.way == way)).values())

    way = min(ways, key=least) if len(ways) > 1 else ways[0]
    losses = _means((choice for choice in mine if choice.classes == 2 or choice.way == way), of_best=True)
    by_setting = _by_setting(losses)
    allowed = [setting for setting in by_setting if FIXED.get(learner, setting[0]) in setting]
    chosen = min(allowed, key=by_setting.__getitem__)
    return Default(learner, way, best({key: losses[key] for key in losses if key[0] == chosen}, "last"), losses)


def _by_setting(errors: Errors) -> dict[Setting, float]:
    """Return the mean over the numbers of passes, of the last weights."""
    found: dict[Setting, list[float]] = {}
    for (setting, _, hypothesis), error in errors.items():
        if hypothesis == "last":
            found.setdefault(setting, []).append(error)
    return {setting: float(np.mean(values)) for setting, values in found.items()}


def _means(choices: Iterable[Choice], of_best: bool = False) -> Errors:
    """Return the mean error over sets and seeds, or of its distance to the best of the set and the seed."""
    runs = [errors for choice in choices for errors in choice.validation]
    return {key: float(np.mean([run[key] - of_best * min(run.values()) for run in runs])) for key in runs[0]}


def losses_table(chosen: Default) -> str:
    """Return how far from each set's best the errors are, in points, for each setting and number of passes."""
    by_setting = _by_setting(chosen.losses)
    numbers = list(dict.fromkeys(key[1] for key in chosen.losses))
    heads = [[f"{kind}, {_passes(passes)}" for passes in numbers] for kind in ("last", "average")]
    rows = [[f"`{chosen.learner}`", *heads[0], "mean of these", *heads[1]]]
    for setting in by_setting:
        last, average = ([_points(chosen, (setting, n, kind)) for n in numbers] for kind in ("last", "average"))
        mean = f"{100 * by_setting[setting]:.2f}"
        rows.append([words(setting), *last, f"**{mean}**" if setting == chosen.key[0] else mean, *average])
    return markdown(rows)


def _points(chosen: Default, key: Key) -> str:
    shown = f"{100 * chosen.losses[key]:.2f}" if key in chosen.losses else ""
    return f"**{shown}**" if key == chosen.key else shown


def _passes(n: int) -> str:
    return f"{n} pass" if n == 1 else f"{n} passes"


def words(setting: Setting) -> str:
    """Return parameters as they are written in code."""
    parts = [f'{name}="{value}"' if isinstance(value, str) else f"{name}={number(value)}" for name, value in setting]
    return f"`{', '.join(parts)}`"


def number(value: float) -> str:
    """Return a number in as few characters as it needs."""
    return "inf" if math.isinf(value) else f"{value:g}"


def test_table(choices: list[Choice], defaults: list[Default]) -> str:
    """Return the test errors in percent with the default, with its average, and with each set's own choice."""
    heads = [f"{chosen.learner}{kind}" for chosen in defaults for kind in ("", ", average", ", own choice")]
    rows = [["data", "classes", *heads]]
    sums: list[list[list[float]]] = []
    for name in dict.fromkeys(choice.data for choice in choices):
        cells: list[list[float]] = []
        for chosen in defaults:
            found = next(choice for choice in choices if choice.data == name and chosen.covers(choice))
            setting, passes, _ = chosen.key
            cells += [[test[setting, passes, kind] for test in found.test] for kind in ("last", "average")]
            cells.append(found.own("last"))
            classes = found.classes
        rows.append([name, str(classes), *map(spread, cells)])
        sums.append(cells)
    means = [f"{100 * np.mean([cells[i] for cells in sums]):.1f}" for i in range(len(heads))]
    return markdown([*rows, ["mean", "", *means]])


def ways_table(found: dict[str, dict[tuple[str, str, str], list[float]]]) -> str:
    """Return the test errors in percent of one-vs-rest and direct side by side, the smaller mean bold."""
    pairs = list(dict.fromkeys(key[:2] for errors in found.values() for key in errors))
    rows = [
        ["data", *(f"{learner}, {hypothesis}: {way}" for learner, hypothesis in pairs for way in ("ovr", "direct"))]
    ]
    for name, errors in found.items():
        cells = []
        for pair in pairs:
            both = [spread(errors[*pair, way]) for way in ("ovr", "direct")]
            least = min(float(cell.split(" ")[0]) for cell in both)
            for cell in both:
                mean, rest = cell.split(" ", 1)
                cells.append(f"**{mean}** {rest}" if float(mean) == least else cell)
        rows.append([name, *cells])
    means = [
        f"{100 * np.mean([errors[*pair, way] for errors in found.values()]):.1f}"
        for pair in pairs
        for way in ("ovr", "direct")
    ]
    return markdown([*rows, ["mean", *means]])


def spread(errors: list[float]) -> str:
    """Return mean and standard deviation in percent."""
    return f"{100 * np.mean(errors):.1f} ± {100 * np.std(errors):.1f}"


def tables(
    choices: list[Choice], defaults: list[Default], ways: dict[str, dict[tuple[str, str, str], list[float]]], seeds: int
) -> str:
    """Return the text that goes between the marks of the page."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("rosenblatt", "scikit-learn", "numpy"))
    sets = len({choice.data for choice in choices})
    parts = [
        f"How many points of error more than the best of the same set, by cross-validation: the mean over {sets} sets "
        f"and {seeds} seeds. Bold: the choice."
    ]
    parts += [losses_table(chosen) for chosen in defaults]
    said = "; ".join(
        f"`{chosen.learner}` {words((*chosen.key[0], ('max_iter', chosen.key[1])))}" for chosen in defaults
    )
    parts += [
        f"So the choice for all sets is {said}. Test error in percent with these, with the average of the same run, "
        "and with what cross-validation chose for the set alone (last weights); mean ± standard deviation over "
        f"{seeds} seeds:",
        test_table(choices, defaults),
        "Several classes, one-vs-rest or direct: test error in percent with the same parameters and up to 5,000 rows, "
        f"mean ± standard deviation over {seeds} seeds. Bold: the smaller of the two.",
        ways_table(ways),
        f"Measured with {packages}.",
    ]
    return "\n\n".join(parts)


SEEDS = 5
FOLDS = 3
PASSES = (1, 2, 5, 10)
HYPOTHESES = ("last", "average")
MOST = {2: 5_000, 3: 2_000}
"""Rows to choose on where there are two classes, and where there are more."""
MOST_TABLE = 5_000
"""Rows to learn from in the table of direct against one-vs-rest."""


def _grid(**values: Iterable[Any]) -> list[Setting]:
    return [tuple(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


GRIDS: dict[str, list[Setting]] = {
    "AROW": _grid(r=(0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)),
    "PassiveAggressive": [
        *_grid(loss=("hinge", "squared_hinge"), C=(0.001, 0.01, 0.1, 1.0, 10.0)),
        *_grid(loss=("hinge",), C=(math.inf,)),
    ],
    "MarginPerceptron": _grid(margin=(0.0, 0.1, 1.0, 10.0, 100.0)),
}
DIRECT = ("AROW", "PassiveAggressive")
"""Learners whose classes may all compete; both ways are tried."""


def fits(learner: str, setting: Setting, multi_class: str, parts: Parts, seed: int) -> Iterator[tuple[int, str, float]]:
    """Train once, and yield the number of passes, the hypothesis and the error on the rows to test on."""
    model = getattr(rosenblatt, learner)(**dict(setting), multi_class=multi_class, random_state=seed, warm_start=True)
    made = 0
    for passes in PASSES:
        try:
            model.set_params(max_iter=passes - made).fit(*parts.train)  # goes on as one longer fit would
        except ValueError:  # steps without a limit grew beyond the range of floats
            yield from ((left, hypothesis, 1.0) for left in PASSES if left > made for hypothesis in HYPOTHESES)
            return
        made = passes
        for hypothesis in HYPOTHESES:
            model.set_params(hypothesis=hypothesis)
            yield passes, hypothesis, 1.0 - model.score(*parts.test)


def folds(data: FamilySet, rows: Rows, seed: int) -> list[Parts]:
    """Return the parts of cross-validation, each prepared by what is learned from."""
    X, y = rows
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(np.zeros(len(y)), y)
    return [data.prepared((X[learned], y[learned]), (X[tested], y[tested])) for learned, tested in splits]


def errors(learner: str, settings: list[Setting], way: str, parts: list[Parts], seed: int) -> Errors:
    """Return the mean error over the parts for each setting, number of passes and hypothesis."""
    found: dict[Key, list[float]] = {}
    for setting in settings:
        for part in parts:
            for passes, hypothesis, error in fits(learner, setting, way, part, seed):
                found.setdefault((setting, passes, hypothesis), []).append(error)
    return {key: float(np.mean(values)) for key, values in found.items()}


def validate(data: FamilySet, seeds: int) -> list[Choice]:
    """Return the errors of cross-validation on a set by each learner, with classes treated in each way."""
    learned, _ = data.parts()
    classes = len(np.unique(learned[1]))
    both = ("ovr", "direct") if classes > 2 else ("ovr",)
    found = [
        Choice(learner, way, data.name, classes)
        for learner in GRIDS
        for way in (both if learner in DIRECT else both[:1])
    ]
    for seed in range(seeds):
        parts = folds(data, cut(learned, MOST[min(classes, 3)], seed), seed)
        for choice in found:
            choice.validation.append(errors(choice.learner, GRIDS[choice.learner], choice.way, parts, seed))
    return found


def test(data: FamilySet, choices: list[Choice], defaults: list[Default]) -> None:
    """Add the test errors of the defaults, and of what was chosen on this set alone."""
    learned, tested = data.parts()
    for seed in range(len(choices[0].validation)):
        parts = [data.prepared(cut(learned, MOST[min(choices[0].classes, 3)], seed), tested)]
        for chosen in defaults:
            mine = next(choice for choice in choices if chosen.covers(choice))
            settings = list(dict.fromkeys([chosen.key[0], best(mine.validation[seed], "last")[0]]))
            mine.test.append(errors(chosen.learner, settings, mine.way, parts, seed))


def ways(data: FamilySet, settings: dict[str, dict[str, Any]], seeds: int) -> dict[tuple[str, str, str], list[float]]:
    """Return the test errors of each learner, hypothesis and way to treat classes, one for each seed."""
    learned, tested = data.parts()
    found: dict[tuple[str, str, str], list[float]] = {}
    for seed in range(seeds):
        parts = data.prepared(cut(learned, MOST_TABLE, seed), tested)
        for learner, setting in settings.items():
            for way in ("ovr", "direct"):
                model = getattr(rosenblatt, learner)(**setting, multi_class=way, random_state=seed).fit(*parts.train)
                for hypothesis in HYPOTHESES if learner in DIRECT else ("average",):
                    if learner in DIRECT:
                        model.set_params(hypothesis=hypothesis)
                    found.setdefault((learner, hypothesis, way), []).append(1.0 - model.score(*parts.test))
    return found


def measure(sets: list[FamilySet], seeds: int) -> str:
    """Return the tables of these sets."""
    found = {}
    for data in sets:
        if data.chosen_on:
            say(f"{data.name}: cross-validation")
            found[data.name] = validate(data, seeds)
    every = [choice for choices in found.values() for choice in choices]
    defaults = [default(every, learner) for learner in GRIDS]
    for chosen in defaults:
        say(f"{chosen.learner}: {chosen.way}, {chosen.parameters}")
    settings = {chosen.learner: chosen.parameters for chosen in defaults if chosen.learner in DIRECT}
    compared = {}
    for data in sets:
        if data.chosen_on:
            say(f"{data.name}: test")
            test(data, found[data.name], defaults)
        if not data.chosen_on or found[data.name][0].classes > 2:
            say(f"{data.name}: direct or one-vs-rest")
            compared[data.name] = ways(data, {"AveragedPerceptron": {}, **settings}, seeds)
    return tables(every, defaults, compared, seeds)


def say(text: str) -> None:
    """Say what is under way."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, and print the tables or write them into a page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=SEEDS, help="seeds of the cuts, the folds and the orders")
    parser.add_argument("--only", nargs="+", metavar="SET", help="the sets to measure")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="the page whose tables are replaced")
    arguments = parser.parse_args()
    sets = [data for data in family_sets() if not arguments.only or data.name in arguments.only]
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        text = measure(sets, arguments.seeds)
    if arguments.write is None:
        print(text)
    else:
        arguments.write.write_text(placed(arguments.write.read_text(), text))
        print(f"Written to {arguments.write}.")


if __name__ == "__main__":
    main()
