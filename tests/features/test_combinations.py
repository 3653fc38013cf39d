"""Feature combinations: their columns and names, how many there are, XOR, and the book's example (CIML 4.7)."""

from itertools import combinations, product
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import Perceptron, explain, textbook
from rosenblatt.features import Combinations, n_combinations
from rosenblatt.theory.separability import separability
from rosenblatt.theory.verdicts import Inseparable, Separable

XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]

# excellent, terrible, not; and what CIML says of them
REVIEWS = [[1, 0, 0], [0, 1, 0], [1, 0, 1], [0, 1, 1]], [1, -1, -1, 1]


@pytest.mark.quick_cases(50)
@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([Combinations(), Combinations(3), Combinations((2, 2))])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, (2, 2), (2, 3), (3, 4)])
@pytest.mark.parametrize("kind", [np.array, sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_a_column_is_the_and_of_the_words_in_its_name(degree, kind):
    words = np.array(list("abcde"), dtype=object)
    X = np.random.default_rng(0).integers(0, 2, (30, 5))
    transform = Combinations(degree).fit(kind(X))
    out = transform.transform(kind(X))
    out = out.toarray() if sp.issparse(out) else out
    names = transform.get_feature_names_out(words).tolist()
    least, most = (1, degree) if isinstance(degree, int) else degree
    assert names == ["∧".join(some) for k in range(least, most + 1) for some in combinations("abcde", k)]
    assert len(names) == transform.n_output_features_ == out.shape[1] == n_combinations(5, (least, most))
    for name, column in zip(names, out.T, strict=True):
        assert column.tolist() == [all(row["abcde".index(word)] for word in name.split("∧")) for row in X]


@pytest.mark.parametrize("degree", [2, 3])
def test_rows_that_are_not_in_order_or_hold_an_entry_twice(degree):
    """scikit-learn's PolynomialFeatures gives wrong columns for these."""
    backwards = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([3, 1, 0]), np.array([0, 3])), shape=(1, 4))
    twice = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), np.array([0, 3])), shape=(1, 4))
    for X in (backwards, twice):
        stored = X.indices.copy()
        out = Combinations(degree).fit_transform(X).toarray()
        assert out.tolist() == Combinations(degree).fit_transform(X.toarray()).tolist()
        assert X.indices.tolist() == stored.tolist(), "the given matrix is left as it was"


def test_names_come_from_frames_and_in_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"not": [1.0, 0.0], "very good": [1.0, 1.0]})
    out = Combinations().set_output(transform="pandas").fit_transform(frame)
    assert out.columns.tolist() == ["not", "very good", "not∧very good"]
    many = Combinations().fit(np.zeros((1, 500))).get_feature_names_out()
    assert len(many) == n_combinations(500, (1, 2))
    assert many[-1] == "x498∧x499"
    with pytest.raises(ValueError, match="input_features"):
        Combinations().fit(frame).get_feature_names_out(["other", "names"])


def test_xor_is_impossible():
    """Whatever the perceptron does: no line separates XOR, and four points prove it."""
    X, y = XOR
    verdict = separability(X, y)
    assert isinstance(verdict, Inseparable)
    assert verdict.check(X, y)
    w, b = textbook.perceptron_train(list(zip(X, y, strict=True)), 1000)
    assert any(textbook.perceptron_test(w, b, x) * sign <= 0 for x, sign in zip(X, y, strict=True))
    with pytest.warns(ConvergenceWarning):
        assert not Perceptron(random_state=0, max_iter=1000).fit(X, y).converged_


def test_xor_is_possible_with_the_and_of_both():
    X, y = XOR
    Z = Combinations().fit_transform(X)
    assert np.sign(Z @ [1, 1, -2] - 0.5).tolist() == y, "weights that answer CIML's question"
    assert isinstance(separability(Z, y), Separable)
    model = Perceptron(random_state=0).fit(Z, y)
    assert model.converged_
    assert model.predict(Z).tolist() == y
    w, b = textbook.perceptron_train(list(zip(Z.tolist(), y, strict=True)), 100)
    assert all(textbook.perceptron_test(w, b, x) * sign > 0 for x, sign in zip(Z.tolist(), y, strict=True))


def test_the_books_words_and_weights():
    X, y = REVIEWS
    stated = {"excellent": 1, "terrible": -1, "not": 0, "excellent∧not": -2, "terrible∧not": 2}
    words = Combinations(degree=2).fit(X)
    names = words.get_feature_names_out(["excellent", "terrible", "not"])
    w = np.array([stated.get(name, 0) for name in names])  # the book leaves excellent∧terrible out
    assert stated.keys() - set(names) == set()
    assert (words.transform(X) @ w).tolist() == y
    for excellent, terrible, turned in product((0, 1), repeat=3):
        score = words.transform([[excellent, terrible, turned]]) @ w
        assert score.tolist() == [(excellent - terrible) * (-1 if turned else 1)]


def test_the_books_words_alone_are_not_enough():
    X, y = REVIEWS
    assert isinstance(separability(X, y), Inseparable)
    assert Perceptron(random_state=0).fit(Combinations().fit_transform(X), y).converged_


def test_text_end_to_end():
    texts = ["excellent", "terrible", "not excellent", "not terrible"]
    vectorizer = CountVectorizer(binary=True)
    counts = vectorizer.fit_transform(texts)
    pairs = Combinations().fit(counts)
    model = Perceptron(random_state=0).fit(pairs.transform(counts), ["good", "bad", "bad", "good"])
    assert model.converged_
    names = pairs.get_feature_names_out(vectorizer.get_feature_names_out())
    text = str(explain(model, feature_names=names))
    assert "not∧terrible" in text
    assert "excellent∧not" in text


@pytest.mark.parametrize("D", [0, 1, 2, 5, 9])
@pytest.mark.parametrize("degree", [1, 2, 3, 12])
def test_the_count_is_that_of_the_choices(D, degree):
    assert n_combinations(D, degree) == len(list(combinations(range(D), degree)))
    assert n_combinations(D, (1, degree)) == sum(n_combinations(D, k) for k in range(1, degree + 1))


def test_counts_are_exact_and_triples_grow_with_the_cube():
    assert n_combinations(10**6, 5) == comb(10**6, 5) > 2**64
    assert n_combinations(np.int64(10**6), 3) == comb(10**6, 3), "numpy's integers would overflow"
    D = 10**9
    for degree in (1, 2, 3, 4):
        assert abs(n_combinations(2 * D, degree) / n_combinations(D, degree) - 2**degree) < 1e-6


@pytest.mark.parametrize("degree", [0, -1, 2.0, True, "2", None, (2,), (3, 2), (0, 2), (1, 2, 3), (1.0, 2)])
def test_degrees_that_cannot_be_meant(degree):
    for ask in (lambda: n_combinations(5, degree), lambda: Combinations(degree).fit(np.eye(3))):
        with pytest.raises(
            ValueError,
            match=r"^degree(\[[01]\])? must be an integer (of at least [1-3]|or \(min_degree, max_degree\)), got",
        ):
            ask()


@pytest.mark.parametrize("D", [-1, 2.5, "3", True, None])
def test_numbers_of_features_that_cannot_be_meant(D):
    with pytest.raises(ValueError, match="D must be an integer of at least 0, got"):
        n_combinations(D, 2)


def test_more_features_asked_for_than_there_are():
    assert Combinations(5).fit(np.eye(3)).n_output_features_ == 7
    with pytest.raises(ValueError, match=r"4 features cannot be chosen from 3 feature\(s\)"):
        Combinations((4, 5)).fit(np.eye(3))
