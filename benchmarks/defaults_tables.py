"""What `benchmarks.defaults` measured, as one choice for all sets and as the tables of docs/family.md."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import numpy as np

from benchmarks.comparison import markdown

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
