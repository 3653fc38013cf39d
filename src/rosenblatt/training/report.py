"""Reports of training runs: margins, radius, mistakes, and Novikoff's bound from the convergence theorem."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from typing import Any

import numpy as np

from rosenblatt.html import MOST_ROWS, Curve, chart, described, short_name
from rosenblatt.messages import count_of, label_text, list_some, name_some, percent
from rosenblatt.storage.schema import label_to_json
from rosenblatt.tables import Table
from rosenblatt.training.early_stopping import EarlyStoppingFacts
from rosenblatt.training.state import CutPass, RunState

LARGEST_RADIUS = 1e300
"""In a kernel's feature space, a radius of at least this is reported as infinite."""


@dataclass(frozen=True, repr=False)
class Report:
    """The results of a training run, and what they prove about the margin and separability of its data.

    If a bias is learned, norms and margins are those of the vectors (x, 1), else those of x. Margins are those of the
    last weights, even if the model predicts with another hypothesis. With more than two one-vs-rest classes the report
    summarises all classifiers: the smallest margins, and the sums of updates, mistakes and bounds. ``by_class`` has the
    report of each class.

    Attributes
    ----------
    passes, updates : int
        The number of passes over the data, and the number of updates in all passes.
    mistakes_by_pass : list of int
        The number of mistakes in each pass.
    converged : bool
        Whether the last pass was made without a mistake or any other update.
    radius : float
        R, the largest norm of an example.
    margin_low, margin_high : float
        Lower and upper bounds on the margin of the data. After a pass without mistakes, the lower bound is the margin
        of the last weights; otherwise it is minus infinity. The upper bound is the norm of the last weights (plus the
        norm of the initial weights) divided by the sum of the step sizes. No separator of the visited rows has a larger
        margin. A later pass may give a larger upper bound; the smallest upper bound so far remains valid.
    bound : float
        Novikoff's bound (R / margin_low)^2. No training run on this data, in any order of the rows, makes more updates.
        If step sizes differ, R and the margin are those of the examples multiplied by their step sizes. If the run
        started from nonzero weights (``coef_init``) of norm s, 2 s / margin_low is added. The bound then holds for runs
        that start from weights of this norm, or from zero.
    fit_intercept : bool
        Whether a bias was learned.
    by_class : dict
        With several one-vs-rest classifiers, the report of each class; else empty.
    proved_inseparable : bool
        Whether weights that started from zero returned to exactly zero, by updates that were not rounded. Then a sum of
        some rows, each times its label and a positive factor, is zero. So the rows are not linearly separable. With
        several classifiers, whether this is proved for at least one of them.
    last_pass_cut : CutPass or None
        None if the last pass visited all rows. If an interrupt or ``max_updates`` cut the pass short: the number of
        ``rows`` that it visited, and their ``share`` of all rows (None if the share is not known). The mistakes of that
        pass are the mistakes on these rows only.
    updates_by_pass : list of int
        The number of updates in each pass, if correctly classified rows can cause updates. Otherwise empty, since each
        mistake is one update.
    early_stopping : EarlyStoppingFacts or None
        If rows were held out: ``held_out_rows``, ``error_by_pass``, and ``best_pass``, the pass whose weights are kept.
    mixed_shards : int
        The number of shards if a cluster has averaged their weights, else 0. If it is not 0, each pass is one round of
        the cluster. Then ``bound`` also bounds the mean number of mistakes per shard, summed over all rounds of any
        such run.
    """

    passes: int
    updates: int
    mistakes_by_pass: list[int]
    converged: bool
    radius: float
    margin_low: float
    margin_high: float
    bound: float
    fit_intercept: bool = True
    by_class: Mapping[object, Report] = field(default_factory=dict)
    proved_inseparable: bool = False
    last_pass_cut: CutPass | None = None
    early_stopping: EarlyStoppingFacts | None = None
    updates_by_pass: list[int] = field(default_factory=list)
    mixed_shards: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return asdict(self)

    def to_plain(self) -> dict[str, Any]:
        """Return the report as data that JSON can represent; infinite numbers become the strings "inf" and "-inf".

        Optional fields (``OPTIONAL``) are left out if they are empty.
        """
        out: dict[str, Any] = {}
        for name, value in vars(self).items():
            value = value.item() if isinstance(value, np.generic) else value
            if name in OPTIONAL and not value:
                continue
            if is_dataclass(value) and not isinstance(value, type):
                value = asdict(value)
            elif isinstance(value, Mapping):
                value = [{"class": label_to_json(label), **part.to_plain()} for label, part in value.items()]
            elif isinstance(value, float) and not math.isfinite(value):
                value = str(value)
            out[name] = list(value) if isinstance(value, list) else value
        return out

    @property
    def _space(self) -> str:
        """A phrase that describes the space in which margins are measured."""
        return "with the bias as one more feature" if self.fit_intercept else "through the origin"

    # in words

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    def __repr__(self) -> str:
        of = f" of {len(self.by_class)} one-vs-rest classifiers" if self.by_class else ""
        cut = ", the last cut short" if self.last_pass_cut else ""
        made = f"{count_of(self.passes, 'pass')}{cut}, {count_of(self.updates, 'update')}{of}"
        if self.by_class and not self.converged:
            yes, no = self._separated(), self._separated(False)
            result = f"separated: {name_some(yes)}; not: {name_some(no)}" if yes else "no class separated"
        elif self.converged:
            result = f"separated, margin {self.margin_low:.4g} to {self.margin_high:.4g}"
        else:
            result = "proved inseparable" if self.proved_inseparable else "not separated"
            result += f", {count_of(self._last_mistakes, 'mistake')} in the last pass"
            if self._only_within_margin:
                result = f"{count_of(self.updates_by_pass[-1], 'update')} in the last pass, none by a mistake"
        return f"<{type(self).__name__}: {made}; {result}>"

    def _repr_html_(self) -> str:
        table = self._table(most=MOST_ROWS)._repr_html_() if self.by_class else ""
        return described(self._sentences(), draw_mistakes(self.mistakes_by_pass), table)

    @property
    def _only_within_margin(self) -> bool:
        """Whether the last pass made updates, all of them on correctly classified rows."""
        return bool(self.updates_by_pass and self.updates_by_pass[-1] and not self._last_mistakes)

    @property
    def _last_mistakes(self) -> int:
        return self.mistakes_by_pass[-1] if self.mistakes_by_pass else 0

    def _sentences(self) -> list[str]:
        of = f", summed over {len(self.by_class)} one-vs-rest classifiers" if self.by_class else ""
        passes, cut = count_of(self.passes, "pass"), self.last_pass_cut
        if cut is not None:
            part = count_of(cut.rows, "row") if cut.share is None else f"{percent(cut.share)} of its rows"
            passes += f", {'the last ' if self.passes > 1 else ''}cut short after {part}"
        lines = [f"{passes}{',' if cut is None else ';'} {count_of(self.updates, 'update')}{of}."]
        if self.converged:
            lines.append("Separated: the last pass made no mistake.")
        else:
            where = (
                "in the last pass" if cut is None else f"in the {count_of(cut.rows, 'row')} that the last pass visited"
            )
            also = ", summed over these classifiers" if self.by_class and self._last_mistakes else ""
            if self._only_within_margin:
                made = count_of(self.updates_by_pass[-1], "update")
                lines.append(f"No mistake {where}, but {made} on correct rows within the margin.")
            else:
                lines.append(f"Not separated: {count_of(self._last_mistakes, 'mistake')} {where}{also}.")
            if self.by_class:
                lines.append(self._which_separated())
        lines += self._proved()
        if self.mixed_shards:
            lines.append(self._mixed())
        return lines if self.early_stopping is None else [*lines, str(self.early_stopping)]

    def _separated(self, yes: bool = True) -> list[object]:
        """Return the classes that were separated from the rest, or with ``yes=False`` those that were not."""
        return [label for label, part in self.by_class.items() if part.converged == yes]

    def _which_separated(self) -> str:
        """Return a sentence that lists the classes that were separated from the rest, and those that were not."""
        if not self._separated():
            return "None of the classes was separated from the rest."
        return f"Separated: {list_some(self._separated())}. Not separated: {list_some(self._separated(False))}."

    def _proved(self) -> list[str]:
        """Return sentences on the margin bounds or the inseparability that the run proves; [] if it proves neither."""
        if self.proved_inseparable:
            return [self._no_separator()]
        if not self.converged:
            known = math.isfinite(self.margin_high)
            most = f"If a separator exists, its margin ({self._space}) is at most {self.margin_high:.4g}."
            return [most] if known else []
        high = f"lies between {self.margin_low:.4g} and {self.margin_high:.4g}"
        if not math.isfinite(self.margin_high):
            high = f"is at least {self.margin_low:.4g}"
        lines, longest = [f"The margin ({self._space}) {high}."], f"The longest example has length {self.radius:.4g}"
        if not math.isfinite(self.bound):
            return [*lines, f"{longest}."]
        run = "run on one machine" if self.mixed_shards > 1 else "run"
        lines.append(f"{longest}, so a {run} that starts from zero makes at most {_updates(self.bound)}.")
        return lines

    def _mixed(self) -> str:
        """Return a sentence about the number of shards and the bound on their mean updates."""
        mean = f"{self.updates / self.mixed_shards:,.4g}"
        words = f"Mixed from {count_of(self.mixed_shards, 'shard')}, one round per pass. In all rounds together a shard"
        if math.isfinite(self.bound):
            return f"{words} made {mean} updates on average; the average is at most {math.floor(self.bound):,}."
        return f"{words} made {mean} updates on average; the average is at most (R / margin)^2 if a separator exists."

    def _no_separator(self) -> str:
        proved = [label for label, part in self.by_class.items() if part.proved_inseparable]
        whom = f" for {name_some(proved)}" if proved else ""
        return (
            f"No separator exists{whom}: the weights returned to exactly zero, so a sum of rows times their labels, "
            "with positive factors, is zero."
        )

    def _table(self, most: int) -> Table:
        """Return a table with a row for each class, or for the first ``most`` of them."""
        n = len(self.by_class)
        parts = list(self.by_class.values())[:most]
        return Table(
            {
                "class": [short_name(label_text(label)) for label in self.by_class][:most],
                "separated": ["yes" if part.converged else "no" for part in parts],
                "passes": [part.passes for part in parts],
                "updates": [part.updates for part in parts],
                "mistakes in its last pass": [part._last_mistakes for part in parts],
                "margin at least": [part.margin_low if part.converged else None for part in parts],
                "margin at most": [part.margin_high if math.isfinite(part.margin_high) else None for part in parts],
            },
            notes=[f"{len(parts)} of {n:,} classes"] if n > most else [],
        )


OPTIONAL = ("proved_inseparable", "last_pass_cut", "early_stopping", "updates_by_pass", "mixed_shards")
"""The fields of a report that `Report.to_plain` leaves out if they are empty."""


class KernelReport(Report):
    """The report of a kernel perceptron. Its bounds are finite only if the kernel is positive definite."""

    @property
    def _space(self) -> str:
        return "in the kernel's space"

    def _proved(self) -> list[str]:
        return super()._proved() if math.isfinite(self.margin_high) else []


def draw_mistakes(mistakes: Sequence[int]) -> str:
    """Return a small chart of the mistakes of each pass for notebooks, as HTML; "" if there are no passes.

    >>> "Mistakes by pass: 3, 1, 0." in draw_mistakes([3, 1, 0])
    True
    >>> "Mistakes by pass: 9, 8, 7, 6, 5 and 5 more; 0 in the last." in draw_mistakes(range(9, -1, -1))
    True
    """
    if not mistakes:
        return ""
    named = name_some(mistakes)
    last = f"; {mistakes[-1]} in the last" if "more" in named else ""
    passes = range(1, len(mistakes) + 1)
    return chart([Curve(passes, mistakes, "mistakes")], f"Mistakes by pass: {named}{last}.", "pass", least=0.0)


def _updates(bound: float) -> str:
    return count_of(math.floor(bound), "update") if bound < 1e9 else f"{bound:.3g} updates"


def report(state: RunState, classes: np.ndarray, early_stopping: EarlyStoppingFacts | None = None) -> Report:
    """Return the report of a run, including a report for each class if there are several classifiers."""
    if len(state.counters) == 1:
        return replace(_single(state, 0), last_pass_cut=state.cut, early_stopping=early_stopping)
    parts = {label: _single(state, k) for k, label in enumerate(classes.tolist())}
    reports = list(parts.values())
    return _kind(state)(
        passes=state.passes,
        updates=sum(part.updates for part in reports),
        mistakes_by_pass=[int(np.maximum(counts, 0).sum()) for counts in state.mistakes],
        converged=all(part.converged for part in reports),
        radius=max(part.radius for part in reports),
        margin_low=min(part.margin_low for part in reports),
        margin_high=min(part.margin_high for part in reports),
        bound=sum(part.bound for part in reports),
        fit_intercept=state.fit_intercept,
        by_class=parts,
        updates_by_pass=[int(np.maximum(counts, 0).sum()) for counts in state.pass_updates],
        proved_inseparable=any(part.proved_inseparable for part in reports),
        last_pass_cut=state.cut,
        early_stopping=early_stopping,
        mixed_shards=state.mixed_shards,
    )


def _kind(state: RunState) -> type[Report]:
    return KernelReport if state.in_kernel_space else Report


def _single(state: RunState, k: int) -> Report:
    """Return the report of classifier ``k``, or of all classes if they compete directly."""
    mistakes = [int(counts[k]) for counts in state.mistakes if counts[k] >= 0]
    updates = [int(counts[k]) for counts in state.updates_by_pass if counts[k] >= 0]
    low, high, bound = state.margins(k)
    return _kind(state)(
        passes=len(mistakes),
        updates=sum(updates),
        updates_by_pass=updates if state.updates_right_rows else [],
        mistakes_by_pass=mistakes,
        converged=bool(state.done[k]),
        radius=math.inf if state.in_kernel_space and state.radius >= LARGEST_RADIUS else state.radius,
        margin_low=low,
        margin_high=high if high >= low else math.inf,  # bounds cross if the weights come partly from other data
        bound=bound,
        fit_intercept=state.fit_intercept,
        proved_inseparable=bool(state.inseparable is not None and state.inseparable[k]),
        mixed_shards=state.mixed_shards,
    )
