"""Class weights, costs and the threshold, for rare classes and for classes whose mistakes cost more than others."""

from __future__ import annotations

import math
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from rosenblatt.cli.inputs import Predictor
from rosenblatt.cli.options import LEARNERS, Group, option
from rosenblatt.cli.output import JsonObject
from rosenblatt.messages import count_of, label_text, name_some

WITHOUT_THRESHOLD = ("VotedPerceptron", "KernelPerceptron")
"""Learners that do not support a threshold, because they have no bias that it could shift."""


class ImbalanceOptions(Group):
    """Options for class weights in training, and for the threshold that decides between two classes."""

    class_weight: list[str] | None = option(
        None,
        "LABEL=W",
        "Weight of a class in training, such as fraud=10; balanced gives rare classes as much weight as common ones. "
        "Repeatable.",
    )
    cost: list[str] | None = option(
        None,
        "LABEL=C",
        "Cost of a mistake on a row of this class, such as fraud=10. Hold out a fifth of the rows, and find the "
        "threshold at which mistakes on them cost least. Repeatable.  [default: 1]",
    )
    threshold: float | None = option(
        None, "T", "With two classes: predict the second if its score is above T.  [default: 0]"
    )

    def check(self, learner: str) -> None:
        """Raise a ValueError for invalid values and for options that cannot be combined."""
        if self.class_weight and self.class_weight != ["balanced"]:
            if "balanced" in self.class_weight:
                raise ValueError(
                    "--class-weight balanced sets the weights of all classes: leave out the other weights."
                )
            numbers_by_label("--class-weight", self.class_weight, ", or balanced")
        numbers_by_label("--cost", self.cost or ())
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise ValueError(f"--threshold must be a finite number, got {self.threshold}.")
        if self.cost and self.threshold is not None:
            raise ValueError("--cost finds a threshold by itself: leave out --threshold.")
        for name, given in (("cost", self.cost), ("threshold", self.threshold)):
            if given not in (None, []) and LEARNERS.get(learner) in WITHOUT_THRESHOLD:
                raise ValueError(
                    f"--{name} moves the bias of linear weights, which --learner {learner} does not have: use "
                    "--class-weight, or another learner."
                )

    def check_classes(self, classes: Sequence[Any]) -> None:
        """Raise a ValueError if costs or a threshold are given, but the number of classes is not two."""
        for name, given in (("cost", self.cost), ("threshold", self.threshold)):
            if given not in (None, []) and len(classes) != 2:
                raise ValueError(
                    f"--{name} is for two classes, but there are {len(classes):,}: use --class-weight, which is for "
                    "any number."
                )

    def weights(self, counts: Mapping[Any, int]) -> dict[Any, float] | None:
        """Return the weight of each class, given its number of training rows, or None if all weights are 1."""
        if not self.class_weight:
            return None
        if self.class_weight == ["balanced"]:
            rows = sum(counts.values())
            return {label: rows / (len(counts) * count) for label, count in sorted(counts.items())}
        return by_class("--class-weight", self.class_weight, sorted(counts))

    def costs(self, classes: Iterable[Any]) -> dict[Any, float]:
        """Return the cost of a mistake on a row of each class."""
        return by_class("--cost", self.cost or (), classes)


def numbers_by_label(name: str, pairs: Iterable[str], other: str = "") -> dict[str, float]:
    """Return a dictionary from labels to numbers, parsed from texts such as ``fraud=10``.

    >>> numbers_by_label("--cost", ["fraud=10", "a=b=0.5"])
    {'fraud': 10.0, 'a=b': 0.5}
    """
    found: dict[str, float] = {}
    for pair in pairs:
        label, equals, text = pair.rpartition("=")
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not equals or not (math.isfinite(number) and number >= 0):
            raise ValueError(
                f"{name} expects LABEL=NUMBER, with a number of at least 0, such as fraud=10{other}, got {pair!r}."
            )
        if label in found:
            raise ValueError(f"{name} is given twice for {label}: leave one out.")
        found[label] = number
    return found


def by_class(name: str, pairs: Iterable[str], classes: Iterable[Any]) -> dict[Any, float]:
    """Return the number given for each class, or 1 by default; raise a ValueError for a label that is not a class.

    >>> by_class("--cost", ["1=10"], [0.0, 1.0])
    {0.0: 1.0, 1.0: 10.0}
    """
    numbers = numbers_by_label(name, pairs)
    texts = {label: label_text(label) for label in classes}
    for label in numbers:
        if label not in texts.values():
            raise ValueError(
                f"{name} names {label!r}, which is not a class: the classes are {name_some(sorted(texts.values()))}."
            )
    return {label: numbers.get(text, 1.0) for label, text in texts.items()}


def threshold_line(facts: JsonObject, classes: Sequence[Any]) -> str:
    """Return a line with the threshold and, if costs were given, the total cost of the mistakes.

    >>> threshold_line({"threshold": 2.5}, ["fraud", "ok"])
    'Threshold: ok is predicted above a score of 2.5. The model subtracts it from its scores.'
    """
    line = f"Threshold: {label_text(classes[1])} is predicted above a score of {facts['threshold']:.6g}. "
    if "cost" in facts:
        line += (
            f"Mistakes on {count_of(facts['rows'], 'more row')} held out of training then cost {facts['cost']:g}; with "
            f"a threshold of 0, {facts['cost_at_zero']:g}. "
        )
    return f"{line}The model subtracts it from its scores."


# What to try, given the scores of a model on rows that it has not learned from.


_LOW_RECALL = 0.1
"""A class with a recall below this value counts as missed."""
_MOST_NAMED = 5


def weighs_mistakes(model: Predictor) -> bool:
    """Return whether a model was trained with class weights, costs or a threshold, which may increase its mistakes."""
    options, state = getattr(model, "options", None), getattr(model, "state", None)
    return bool(getattr(options, "class_weight", None)) or getattr(state, "threshold", None) is not None


def advice(scores: JsonObject, classes: Collection[Any], learner: str, weighted: bool = False) -> list[str]:
    """Return advice if a model misses a class, or is less accurate than always predicting the most common class.

    The sentences name options of ``train``. ``scores`` is the result of `rosenblatt.cli.test.class_scores`, ``classes``
    are those of the model, ``learner`` is the name of the learner's class, and ``weighted`` the result of
    `weighs_mistakes`. Other labels among the rows get no advice, because no option helps to find them.

    >>> by_class = [{"class": "fraud", "rows": 20, "recall": 0.05}, {"class": "ok", "rows": 980, "recall": 0.99}]
    >>> scores = {"accuracy": 0.971, "commonest": {"class": "ok", "accuracy": 0.98}, "by_class": by_class}
    >>> worse, missed = advice(scores, ["fraud", "ok"], "AROW")
    >>> worse
    'always predicting ok is right more often: train with --cost ok=1 for the threshold with the fewest mistakes'
    >>> missed
    'only 5.0% of the rows of fraud are found: train with --class-weight fraud=49 or --cost fraud=49 to find more'

    Labels are quoted for the shell:

    >>> for entry in by_class: entry["class"] = {"fraud": "no; (yet)", "ok": "it's ok"}[entry["class"]]
    >>> scores["commonest"]["class"] = "it's ok"
    >>> worse, missed = advice(scores, ["it's ok", "no; (yet)"], "AROW")
    >>> print(worse.partition("train ")[2])
    with --cost 'it'"'"'s ok=1' for the threshold with the fewest mistakes
    >>> print(missed.partition("train ")[2])
    with --class-weight 'no; (yet)=49' or --cost 'no; (yet)=49' to find more
    """
    by_class = [entry for entry in scores["by_class"] if entry["class"] in classes]
    commonest, sentences = scores["commonest"], []
    has_threshold = len(by_class) == 2 and learner not in WITHOUT_THRESHOLD
    if commonest["accuracy"] == 1.0:
        if len(by_class) > 1:
            label = label_text(commonest["class"])
            sentences.append(f"all rows tested are of class {label}, so these scores say nothing about the others")
    elif scores["accuracy"] < commonest["accuracy"] and commonest["class"] in classes and not weighted:
        label = label_text(commonest["class"])
        remedy = f"--cost {shlex.quote(f'{label}=1')} for the threshold with the fewest mistakes"
        if not has_threshold:
            remedy = "another --learner, or look at the columns with describe"
        sentences.append(f"always predicting {label} is right more often: train with {remedy}")
    missed = [entry for entry in by_class if entry["rows"] and entry["recall"] < _LOW_RECALL]
    if len(missed) == 1 and has_threshold:
        label, recall, rows = label_text(missed[0]["class"]), missed[0]["recall"], missed[0]["rows"]
        times = max(2, round((sum(entry["rows"] for entry in by_class) - rows) / rows))
        weight = shlex.quote(f"{label}={times}")
        sentences.append(
            f"only {recall:.1%} of the rows of {label} are found: train with --class-weight {weight} or --cost "
            f"{weight} to find more"
        )
    elif missed and len(by_class) > 1:
        names = name_some([f"{label_text(entry['class'])} {entry['recall']:.1%}" for entry in missed], _MOST_NAMED)
        sentences.append(
            f"few rows of some classes are found (recall {names}): train with --class-weight balanced to find more"
        )
    return sentences
