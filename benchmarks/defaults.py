"""The defaults of MarginPerceptron, PassiveAggressive and AROW, chosen by cross-validation on training parts alone.

``ROSENBLATT_DATA=folder python -m benchmarks.defaults --write docs/family.md`` puts the tables into the page.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

import rosenblatt
from benchmarks.comparison import placed
from benchmarks.defaults_sets import FamilySet, Parts, Rows, cut, family_sets
from benchmarks.defaults_tables import Choice, Default, Errors, Key, Setting, best, default, tables

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
