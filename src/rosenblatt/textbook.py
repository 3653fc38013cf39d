"""The perceptron algorithms as textbooks write them, in plain Python: the specification of this library.

``D`` and ``S`` are lists of examples ``(x, y)``: ``x`` is a list or array of numbers, ``y`` is -1 or +1. Numbers may be
ints, floats or Fractions; with ints and Fractions every decision is exact. Examples are processed in the given order,
and arguments are never changed. All algorithms treat ties in the same way: in training, an example on the boundary
(activation exactly 0) is a mistake. So the first example is always a mistake, since the weights start from zero.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

__all__ = [
    "NoMistakesLeft",
    "Step",
    "activation",
    "averaged_perceptron_train",
    "perceptron_batch",
    "perceptron_online",
    "perceptron_restart",
    "perceptron_test",
    "perceptron_train",
    "perceptron_until_no_mistakes",
    "voted_perceptron_test",
    "voted_perceptron_train",
    "with_dummy_feature",
]

Number = int | float | Fraction
Vector = list[Number]
_LONG_RUN = 1_000_000  # a run without max_updates warns after this many updates, a few seconds
Voter = tuple[Vector, Number, int]
Examples = Iterable[tuple[Iterable[Number], int]]


def activation(w: Iterable[Number], b: Number, x: Iterable[Number]) -> Number:
    """Return w·x + b (CIML section 4.1). A threshold theta instead of 0 is the same as a bias of -theta.

    See Also
    --------
    perceptron_test : The label that follows from the activation.

    Examples
    --------
    >>> activation([2, -1], 3, [5, 4])
    9
    """
    w, x = _plain(w), _plain(x)
    if len(w) != len(x):
        raise ValueError(f"x has {len(x)} features, expected {len(w)}, one for each weight")
    return _dot(w, x) + b


def perceptron_train(D: Examples, max_iter: int) -> tuple[Vector, Number]:
    """Make up to ``max_iter`` passes over ``D`` in order, updating at each mistake; return ``(w, b)``.

    CIML algorithm 5. An example with activation a is a mistake if y·a <= 0, ties included. The loop ends early after a
    pass without a mistake, since later passes would not change the weights.

    See Also
    --------
    rosenblatt.Perceptron : The estimator for this algorithm.
    perceptron_test : Predict with the weights.

    Examples
    --------
    >>> perceptron_train([([1], +1), ([0], -1)], max_iter=10)
    ([2], -1)
    """
    examples, w = _start(D)
    b = 0
    for _ in range(max_iter):
        mistakes = 0
        for x, y in examples:
            a = _dot(w, x) + b
            if y * a <= 0:
                w = _add(w, y, x)
                b = b + y
                mistakes = mistakes + 1
        if mistakes == 0:
            break
    return w, b


def perceptron_test(w: Iterable[Number], b: Number, x: Iterable[Number], boundary: int = -1) -> int:
    """Return the label of ``x``: +1 if w·x + b > 0, -1 if it is < 0, ``boundary`` if it is exactly 0.

    In CIML algorithm 6 only activations above 0 are positive, so the label of a tie is -1. Other texts leave the
    boundary undefined; ``boundary=0`` marks such points.

    See Also
    --------
    perceptron_train : Learn the weights.
    activation : The number w·x + b whose sign is returned.

    Examples
    --------
    >>> [perceptron_test([2], -2, [x]) for x in (0, 1, 2)], perceptron_test([2], -2, [1], boundary=0)
    ([-1, -1, 1], 0)
    """
    return _sign(activation(w, b, x)) or boundary


def averaged_perceptron_train(D: Examples, max_iter: int) -> tuple[Vector, Number]:
    """Make ``max_iter`` passes over ``D`` in order; return the average of ``(w, b)`` over all examples processed.

    In CIML algorithm 7, ``u`` and ``beta`` are sums of the updates, each multiplied by the value of the counter ``c``
    at that time. So they change only on mistakes. A mistake is y·a <= 0, ties included. The loop does not end early,
    because passes without a mistake count in the average, too. ``c`` starts at 1 and is N + 1 after N examples, so the
    initial zero weights count once. This scales the result by N / (N + 1) and changes no sign.

    See Also
    --------
    rosenblatt.AveragedPerceptron : The estimator for this algorithm.
    perceptron_test : Predict with the averaged weights.

    Examples
    --------
    >>> averaged_perceptron_train([([Fraction(1)], +1), ([Fraction(0)], -1)], max_iter=2)
    ([Fraction(4, 5)], Fraction(0, 1))
    """
    examples, w = _start(D)
    u, b, beta, c = w, 0, 0, 1
    for _ in range(max_iter):
        for x, y in examples:
            if y * (_dot(w, x) + b) <= 0:
                w = _add(w, y, x)
                b = b + y
                u = _add(u, y * c, x)
                beta = beta + y * c
            c = c + 1
    # An update s made at counter c_s is part of c - c_s of the c averaged vectors. w sums s and u sums c_s s, so the
    # mean is w - u / c. The bias is an int even if features are Fractions: dividing by a Fraction keeps it exact.
    count = Fraction(c) if any(isinstance(u_d, Fraction) for u_d in u) else c
    return [w_d - u_d / count for w_d, u_d in zip(w, u, strict=True)], b - beta / count


def voted_perceptron_train(D: Examples, max_iter: int) -> list[Voter]:
    """Make ``max_iter`` passes over ``D`` in order; return all weights with counts as ``(w, b, c)``, oldest first.

    CIML Eq 4.17, after Freund and Schapire. The count ``c`` is 1 for the example whose update made the weights, plus 1
    for each following example without a mistake. So the counts sum to the number of examples processed. A mistake is
    y·a <= 0, ties included. So the initial zero weights misclassify the first example and do not become a voter.

    See Also
    --------
    rosenblatt.VotedPerceptron : The estimator for this algorithm.
    voted_perceptron_test : Predict with the voters.

    Examples
    --------
    >>> voted_perceptron_train([([1], +1), ([0], -1)], max_iter=2)
    [([1], 1, 1), ([1], 0, 2), ([1], -1, 1)]
    """
    examples, w = _start(D)
    b, c = 0, 0
    voters: list[Voter] = []
    for _ in range(max_iter):
        for x, y in examples:
            if y * (_dot(w, x) + b) <= 0:
                w, b, c = _add(w, y, x), b + y, 1
                voters.append((w, b, c))
            else:
                c = c + 1
                voters[-1] = (w, b, c)
    return voters


def voted_perceptron_test(voters: Iterable[Voter], x: Iterable[Number], boundary: int = -1) -> int:
    """Return the sign of the sum of c·sign(w·x + b) over all voters (w, b, c), or ``boundary`` if the sum is 0.

    CIML Eq 4.17. A voter whose activation is exactly 0 abstains.

    See Also
    --------
    voted_perceptron_train : Learn the voters.

    Examples
    --------
    >>> voters = voted_perceptron_train([([1], +1), ([0], -1)], max_iter=2)
    >>> voted_perceptron_test(voters, [1]), voted_perceptron_test(voters, [0], boundary=0)
    (1, 0)
    """
    return _sign(sum(c * perceptron_test(w, b, x, boundary=0) for w, b, c in voters)) or boundary


class _WeightsAndUpdates(NamedTuple):
    w: Vector
    k: int


class NoMistakesLeft(_WeightsAndUpdates):
    """The pair ``(w, k)`` of weights and number of updates, with the attribute ``R``, the largest |x|."""

    R: float = 0.0


def perceptron_until_no_mistakes(S: Examples, *, max_updates: int | None = None) -> NoMistakesLeft:
    """Make passes over ``S`` in order, without a bias, until a whole pass makes no mistake; return ``w, k``.

    In Har-Peled figure 30.2, ``k`` is the number of updates. The attribute ``R`` of the result is the largest |x|. A
    mistake is sign(w·x) != y, and sign(0) is 0, so ties are mistakes. If no hyperplane through the origin separates the
    data, the loop never ends; an example is AND without `with_dummy_feature`. If ``max_updates`` is given, a
    RuntimeError is raised when it is exceeded. If it is None, the default, a UserWarning is issued after a million
    updates.

    See Also
    --------
    rosenblatt.mistake_bound : An upper bound on the number of updates.
    perceptron_train : The variant with a bias and a limit on the passes.

    Examples
    --------
    >>> run = perceptron_until_no_mistakes([([3, 4], +1), ([2, 0], -1)])
    >>> w, k = run
    >>> w, k, run.R
    ([-1, 4], 3, 5.0)
    """
    examples, w = _start(S)
    k = 0
    R = math.sqrt(max((_dot(x, x) for x, _ in examples), default=0))
    mistakes = True
    while mistakes:
        mistakes = False
        for x, y in examples:
            if _sign(_dot(w, x)) != y:
                _check_updates_left(k, max_updates)
                w = _add(w, y, x)
                k = k + 1
                mistakes = True
    run = NoMistakesLeft(w, k)
    run.R = R
    return run


def perceptron_batch(S: Examples, max_updates: int | None = None) -> Vector:
    """Update on the first example with y·(w·x) <= 0, ties included, until there is none; return ``w``.

    This is the batch form of the Cornell slides, without a bias. The slides do not specify which of the misclassified
    examples to choose. If no hyperplane through the origin separates the data, the loop never ends; an example is AND
    without `with_dummy_feature`. If ``max_updates`` is given, a RuntimeError is raised when it is exceeded. If it is
    None, the default, a UserWarning is issued after a million updates.

    See Also
    --------
    perceptron_until_no_mistakes : The variant that processes the examples in order.

    Examples
    --------
    >>> perceptron_batch([([3, 4], +1), ([2, 0], -1)])
    [-1, 4]
    """
    examples, w = _start(S)
    k = 0
    while mistakes := [(x, y) for x, y in examples if y * _dot(w, x) <= 0]:
        _check_updates_left(k, max_updates)
        x, y = mistakes[0]
        w = _add(w, y, x)
        k = k + 1
    return w


class Step(NamedTuple):
    """One example of a stream, with the prediction before the update (0 on the boundary) and the weights after it."""

    prediction: int
    y: int
    mistake: bool
    mistakes: int
    w: Vector


def perceptron_online(stream: Examples) -> Iterator[Step]:
    """Predict each example of a stream, then read its label and update at a mistake; yield a `Step` for each.

    This is the online form of the Cornell slides, without a bias. The stream may be endless. A mistake is y·(w·x) <= 0,
    so a prediction of 0 is wrong for either label. ``mistakes`` counts the mistakes so far.

    See Also
    --------
    perceptron_until_no_mistakes : The variant that repeats its passes until none makes a mistake.

    Examples
    --------
    >>> for step in perceptron_online([([3, 4], +1), ([2, 0], -1), ([0, 1], +1)]):
    ...     print(step.prediction, step.y, step.mistake, step.mistakes, step.w)
    0 1 True 1 [3, 4]
    1 -1 True 2 [1, 4]
    1 1 False 2 [1, 4]
    """
    w: Vector = []
    mistakes = 0
    for x, y in _examples(stream):
        w = w or [0] * len(x)  # the first example determines the dimension
        prediction = _sign(_dot(w, x))
        mistake = y * prediction <= 0
        if mistake:
            w = _add(w, y, x)
            mistakes = mistakes + 1
        yield Step(prediction, y, mistake, mistakes, list(w))


def perceptron_restart(D: Examples, max_updates: int) -> Vector:
    """Start again from the first example after each update, until no example is wrong or ``max_updates`` is reached.

    This is algorithm 1 of the parametric learning notes, without a bias. It returns ``w``. An example is wrong if
    y·(w·x) <= 0, ties included.

    See Also
    --------
    perceptron_until_no_mistakes : The variant that continues after an update instead of restarting.

    Examples
    --------
    >>> perceptron_restart([([3, 4], +1), ([2, 0], -1)], max_updates=2)
    [1, 4]
    """
    examples, w = _start(D)
    k = 0
    misclassified = True
    while misclassified and k < max_updates:
        misclassified = False
        for x, y in examples:
            if y * _dot(w, x) <= 0:
                misclassified = True
                w = _add(w, y, x)
                k = k + 1
                break
    return w


def with_dummy_feature(D: Examples) -> list[tuple[Vector, int]]:
    """Return ``D`` with a 1 in front of every x, so that algorithms without a bias learn a bias as ``w[0]``.

    Parametric learning notes, section 3.2. The two models are equivalent: ``w·[1, *x]`` is ``w[1:]·x + w[0]``.

    See Also
    --------
    perceptron_until_no_mistakes, perceptron_batch, perceptron_online, perceptron_restart

    Examples
    --------
    >>> perceptron_until_no_mistakes(with_dummy_feature([([1], +1), ([0], -1)])).w
    [-1, 2]
    """
    return [([1, *x], y) for x, y in _examples(D)]


def _examples(pairs: Examples) -> Iterator[tuple[Vector, int]]:
    """Yield each example as a new list and an int; raise a ValueError for an invalid example."""
    expected = None
    for number, pair in enumerate(pairs):
        try:
            features, y = pair
            x = _plain(features)
        except (TypeError, ValueError) as fault:
            raise ValueError(
                f"example {number} is not a pair (x, y): for arrays X and y, pass list(zip(X, y))"
            ) from fault
        expected = len(x) if expected is None else expected
        if len(x) != expected:
            raise ValueError(f"example {number} has {len(x)} features, expected {expected} as in example 0")
        if any(x_d - x_d != 0 for x_d in x):
            raise ValueError(f"example {number} has a feature that is infinite or not a number: {x}")
        if y not in (-1, 1):
            raise ValueError(f"example {number} has the label {y!r}, expected -1 or +1")
        yield x, int(y)


def _start(D: Examples) -> tuple[list[tuple[Vector, int]], Vector]:
    examples = list(_examples(D))  # checked copies
    return examples, [0] * len(examples[0][0]) if examples else []


def _plain(values: Iterable[Number]) -> Vector:
    """Copy to a list of Python numbers, because numpy's small integers would overflow."""
    return [value.item() if hasattr(value, "item") else value for value in values]


def _dot(w: Vector, x: Vector) -> Number:
    total: Number = 0  # a loop, since sum() rounds floats differently from Python 3.12 on
    for w_d, x_d in zip(w, x, strict=True):
        total = total + w_d * x_d
    return total


def _add(w: Vector, y: int, x: Vector) -> Vector:
    return [w_d + y * x_d for w_d, x_d in zip(w, x, strict=True)]


def _sign(a: Number) -> int:
    return 1 if a > 0 else -1 if a < 0 else 0


def _check_updates_left(k: int, max_updates: int | None) -> None:
    if max_updates is not None and k >= max_updates:
        raise RuntimeError(f"{k} updates were made and mistakes remain: increase max_updates or add features")
    if k == _LONG_RUN and max_updates is None:
        warnings.warn(
            f"{k:,} updates were made and mistakes remain: the run never ends if no hyperplane through the origin "
            "separates the examples. Interrupt it and pass max_updates, or add a bias with with_dummy_feature.",
            stacklevel=3,
        )
