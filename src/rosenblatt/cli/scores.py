"""How well each class is predicted: precision, recall and F1, and the accuracy that counts every class alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from rosenblatt.cli.output import as_text

_MOST_LETTERS = 30
"""A longer name of a class is cut in the table, so that a line fits a terminal of 80 columns."""


@dataclass(frozen=True)
class ClassScore:
    """How well one class is predicted; a share of no rows at all is None.

    Attributes
    ----------
    label : object
        The class.
    rows : int
        How many rows are of this class.
    precision : float or None
        The share of rows of this class among those predicted as it.
    recall : float or None
        The share of rows predicted as this class among those of it.
    f1 : float or None
        Twice the rows that are both, over the rows of this class plus those predicted as it.
    """

    label: Any
    rows: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class ClassScores:
    """The scores of all classes, and the mean recall of those that occur among the rows (None: no rows)."""

    by_class: tuple[ClassScore, ...]
    balanced_accuracy: float | None

    def to_plain(self) -> dict[str, Any]:
        """Return what ``--json`` prints: balanced accuracy, and a list with one entry for each class."""
        names = ("rows", "precision", "recall", "f1")
        entries = [{"class": one.label} | {name: getattr(one, name) for name in names} for one in self.by_class]
        return {"balanced_accuracy": self.balanced_accuracy, "by_class": entries}

    def to_table(self) -> Any:
        """Return a `Table` for people."""
        return scores_table(self.to_plain()["by_class"])


def scores_table(by_class: Iterable[Mapping[str, Any]]) -> Any:
    """Return the scores of classes, as `ClassScores.to_plain` has them, for people: shares in percent."""
    from rosenblatt.tables import Table

    entries = list(by_class)
    columns: dict[str, list[Any]] = {
        "class": [_shortened(as_text(entry["class"])) for entry in entries],
        "rows": [entry["rows"] for entry in entries],
    }
    for title in ("precision", "recall", "F1"):
        columns[title] = [_percent(entry[title.lower()]) for entry in entries]
    return Table(columns, "How well each class is predicted, in percent")


def class_scores(pairs: Mapping[tuple[Any, Any], int], classes: Iterable[Any]) -> ClassScores:
    """Return how well each class is predicted.

    Parameters
    ----------
    pairs : mapping of (true, predicted) to int
        How many rows of each class were predicted as each; pairs that are left out count 0.
    classes : iterable
        The classes, in the order in which they are listed. Others that occur in ``pairs`` come after them.

    Examples
    --------
    >>> scores = class_scores({("ham", "ham"): 5, ("spam", "ham"): 1, ("spam", "spam"): 2}, ["ham", "spam", "eggs"])
    >>> scores.to_table()
    How well each class is predicted, in percent
    class  rows  precision  recall     F1
    -------------------------------------
    ham       5      83.33     100  90.91
    spam      3        100   66.67     80
    eggs      0          -       -      -
    >>> scores.balanced_accuracy
    0.8333333333333333
    """
    listed = list(dict.fromkeys([*classes, *(true for true, _ in pairs), *(predicted for _, predicted in pairs)]))
    rows, taken = dict.fromkeys(listed, 0), dict.fromkeys(listed, 0)
    for (true, predicted), count in pairs.items():
        rows[true] += count
        taken[predicted] += count
    scores = []
    for label in listed:
        right = pairs.get((label, label), 0)
        precision, recall = _share(right, taken[label]), _share(right, rows[label])
        scores.append(ClassScore(label, rows[label], precision, recall, _share(2 * right, rows[label] + taken[label])))
    recalls = [one.recall for one in scores if one.recall is not None]
    return ClassScores(tuple(scores), sum(recalls) / len(recalls) if recalls else None)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _shortened(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 3] + "..."
