from collections import Counter

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, precision_recall_fscore_support

from rosenblatt.cli.test import class_scores


def slow_scores(true, predicted, label):
    """Precision, recall and F1 of one class, counted row by row."""
    both = [t == p == label for t, p in zip(true, predicted, strict=True)].count(True)
    of_it, as_it = list(true).count(label), list(predicted).count(label)
    precision = both / as_it if as_it else None
    recall = both / of_it if of_it else None
    return of_it, precision, recall, 2 * both / (of_it + as_it) if of_it + as_it else None


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_counted_row_by_row_and_those_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    classes = list("abcde")[: rng.integers(1, 6)]
    true, predicted = rng.choice(classes, 30).tolist(), rng.choice(classes[: rng.integers(1, 6)], 30).tolist()
    found = class_scores(Counter(zip(true, predicted, strict=True)), classes)
    assert [one.label for one in found.by_class] == classes
    for one in found.by_class:
        assert (one.rows, one.precision, one.recall, one.f1) == slow_scores(true, predicted, one.label)
    for zero in (0.0, 1.0):  # what stands for 0/0 there
        theirs = np.array(precision_recall_fscore_support(true, predicted, labels=classes, zero_division=zero)[:3]).T
        for one, row in zip(found.by_class, theirs, strict=True):
            ours = [zero if share is None else share for share in (one.precision, one.recall, one.f1)]
            np.testing.assert_allclose(ours, row, rtol=1e-12)
    if set(predicted) <= set(true) and len(set(true)) > 1:  # scikit-learn warns otherwise
        np.testing.assert_allclose(found.balanced_accuracy, balanced_accuracy_score(true, predicted), rtol=1e-12)


def test_balanced_accuracy_counts_only_classes_that_occur():
    found = class_scores({("a", "a"): 9, ("a", "b"): 1, ("c", "a"): 1}, ["a", "b", "c"])
    assert found.balanced_accuracy == (0.9 + 0.0) / 2
    assert found.to_plain()["by_class"][1] == {"class": "b", "rows": 0, "precision": 0.0, "recall": None, "f1": 0.0}
    assert class_scores({}, ["a"]).balanced_accuracy is None


def test_labels_that_are_no_classes_are_listed_last():
    assert [one.label for one in class_scores({("x", "b"): 1}, ["b", "a"]).by_class] == ["b", "a", "x"]


def test_the_table_fits_a_terminal():
    found = class_scores({("a" * 99, "b" * 99): 1_234_567}, [])
    assert max(map(len, str(found.to_table()).splitlines())) < 80
    assert str(found.to_table()).splitlines()[3].split()[1:] == ["1234567", "-", "0", "0"]
