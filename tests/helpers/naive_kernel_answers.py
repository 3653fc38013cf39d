"""What the slow twin of the kernel perceptron predicts by each hypothesis, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from helpers.naive_kernel import (
    Classifier,
    Coefficients,
    Kernel,
    Number,
    Update,
    Values,
    combine,
    exceeds,
    first_best,
    rational,
    sign,
    summed,
)


class Answer(NamedTuple):
    """The class number of a row, whether it is tied with another one, and all scores."""

    label: int
    tied: bool
    scores: list[Number]


def answers(run: list[Classifier], hypothesis: str, kernel: Kernel, classes: int, training, X) -> list[Answer]:
    """Return what a run on ``training`` = (X, y, steps) says of the rows of ``X``; ``steps`` may be None."""
    values = Values(kernel, training[0], X)
    direct = classes > 2 and len(run) == 1
    kept = [classifier.updates for classifier in run]
    if hypothesis == "pocket":
        kept = pockets(run, kernel, classes, training)
    out = []
    for row in range(len(values.rows)):
        if hypothesis == "vote":
            scores = _votes(run, values, row, classes, direct)
        elif direct:
            scores = [_score(run[0], kept[0], values, row, hypothesis, k) for k in range(classes)]
        else:
            scores = [_score(run[k], kept[k], values, row, hypothesis) for k in range(len(run))]
        out.append(decided(scores))
    return out


def decided(scores: list[Number]) -> Answer:
    """Return the class of largest score, the first of equals; the sign decides where there is one score."""
    if len(scores) == 1:
        return Answer(int(sign(scores[0]) > 0), sign(scores[0]) == 0, scores)
    best = first_best(scores, range(len(scores)))
    others = [k for k in range(len(scores)) if k != best]
    return Answer(best, any(exceeds(scores[best], scores[k]) == 0 for k in others), scores)


def coefficients(classifier: Classifier, hypothesis: str, k: int | None = None) -> Coefficients:
    """Return the coefficient of each row in the last weights, or in their mean over all visits."""
    if hypothesis == "last":
        return summed(classifier.updates, k)
    out: Coefficients = {}
    for update in classifier.updates:
        for row, factor in summed([update], k).items():
            share = Fraction(classifier.visits - update.visits, classifier.visits)
            out[row] = out.get(row, 0) + factor * share
    return out


def _score(classifier, updates: list[Update], values: Values, row: int, hypothesis: str, k: int | None = None):
    if hypothesis == "pocket":
        return values.score(row, summed(updates, k))
    return values.score(row, coefficients(classifier, hypothesis, k))


def _votes(run: list[Classifier], values: Values, row: int, classes: int, direct: bool) -> list[Number]:
    """Return the votes as shares of all visits; a voter whose score is zero, or best score shared, abstains."""
    totals = [Fraction(0)] * (classes if direct else len(run))
    for j, classifier in enumerate(run):
        stops = [update.visits for update in classifier.updates[1:]] + [classifier.visits]
        scores: list[Number] = [{} for _ in range(classes if direct else 1)]
        for update, stop in zip(classifier.updates, stops, strict=True):
            for k in range(len(scores)):
                part = values.score(row, summed([update], k if direct else None))
                scores[k] = combine([(1, scores[k]), (1, part)])
            share = Fraction(stop - update.visits, classifier.visits)
            if not direct:
                totals[j] += share * sign(scores[0])
            elif not decided(scores).tied:
                totals[decided(scores).label] += share
    return [{0: total} if total else {} for total in totals]


def pockets(run: list[Classifier], kernel: Kernel, classes: int, training) -> list[list[Update]]:
    """Return the updates that led to the fewest training mistakes, counted by their steps, for each classifier.

    The moments compared are, pass by pass, the one that survived the most visits among those which an update of the
    pass ended (the first of equals, and the one of an earlier pass where none survived any), and the end of the pass.
    Only fewer mistakes than so far count.
    """
    X, y, steps = training
    values = Values(kernel, X)
    out = []
    for j, classifier in enumerate(run):
        assert len(classifier.updates) == classifier.made, "a pocket is not kept of what was forgotten"
        best, fewest, candidate, started = 0, None, 0, (0, 0)
        for end in classifier.ends:
            candidate = longest_survivor(classifier.updates, started, end, candidate)
            for moment in (candidate, end[0]):
                kept, mistakes = classifier.updates[:moment], 0
                for row in range(len(y)):
                    weight = 1 if steps is None else rational(steps[row])
                    if weight and _is_wrong(values, row, kept, y, j, len(run), classes):
                        mistakes += weight
                if fewest is None or mistakes < fewest:
                    best, fewest = moment, mistakes
            started = end
        out.append(classifier.updates[:best])
    return out


def longest_survivor(updates: list[Update], started: tuple[int, int], end: tuple[int, int], candidate: int) -> int:
    """Return after how many updates came the longest time without one, of those that a further update ended."""
    longest, changed = 0, started[1]
    for place in range(started[0], end[0]):
        if updates[place].visits - changed > longest:
            longest, candidate = updates[place].visits - changed, place
        changed = updates[place].visits + 1
    return candidate


def _is_wrong(values: Values, row: int, updates: list[Update], y, j: int, count: int, classes: int) -> bool:
    if count == 1 and classes > 2:
        answer = decided([values.score(row, summed(updates, k)) for k in range(classes)])
        return answer.tied or answer.label != y[row]
    target = 1 if classes == 2 else j
    return (1 if y[row] == target else -1) * sign(values.score(row, summed(updates))) <= 0
