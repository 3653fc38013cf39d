import math

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from rosenblatt import KernelPerceptron
from rosenblatt.inspection.contributions import contributions
from rosenblatt.inspection.explain import explain
from rosenblatt.inspection.support import kernel_words, support_rule

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, (80, 2)).astype(float)
INSIDE = np.where((X**2).sum(axis=1) < 12, "in", "out")
THREE = np.array(["a", "b", "c"])[np.digitize(np.hypot(*X.T), [2.0, 4.0])]


def perceptron(kernel="poly", **options):
    return KernelPerceptron(kernel, **{"gamma": 1.0, "shuffle": False, "max_iter": 100} | options)


def with_coefficients(coefficients):
    """Return a two-class model with these coefficients, whose rows are kernel values: one mistake on each of its rows,
    which have nothing in common."""
    names = np.where(np.sign(coefficients) > 0, "yes", "no")
    model = perceptron("precomputed", hypothesis="last", max_iter=2)
    return model.fit(np.eye(len(names)), names, sample_weight=np.abs(coefficients))


def nothing_learned():
    """Return a model that has seen rows of weight 0 only, which are not visited."""
    return perceptron().partial_fit(X[:3], ["in", "out", "in"], sample_weight=np.zeros(3))


# the largest and the smallest coefficients


def test_largest_come_first_and_smallest_last():
    table = explain(with_coefficients([4, -1, 0.5, 7, -9, 2]), top=2)
    assert table.columns == ["row", "coefficient"]
    assert table["row"] == [3, 0, 1, 4]
    assert table["coefficient"] == [7, 4, -1, -9]
    assert table.title == "Coefficients of support vectors: positive for 'yes', negative for 'no'"
    assert table.notes == ("Kernel: precomputed; 6 support vectors.",)


def test_rows_are_numbers_in_the_training_data():
    model = perceptron("poly", degree=2, hypothesis="last").fit(X, INSIDE)
    table = explain(model, top=1000)
    assert len(table) == len(model.support_)
    found = dict(zip(model.support_.tolist(), model.last_dual_coef_[0].tolist(), strict=True))
    assert dict(zip(table["row"], table["coefficient"], strict=True)) == found
    # a row's coefficient has the sign of its class
    assert all((INSIDE[row] == "out") == (c > 0) for row, c in found.items())


def test_coefficients_are_those_that_predict():
    model = perceptron(hypothesis="average", max_iter=3).fit(X, INSIDE)
    assert sorted(explain(model, top=1000)["coefficient"]) == sorted(model.average_dual_coef_[0])
    model.hypothesis = "last"
    assert sorted(explain(model, top=1000)["coefficient"]) == sorted(model.last_dual_coef_[0])


def test_a_vote_shows_its_average_and_says_so():
    model = perceptron(hypothesis="vote").fit(X, INSIDE)
    table = explain(model, top=1000)
    assert sorted(table["coefficient"]) == sorted(model.average_dual_coef_[0])
    assert table.notes[-1] == "A vote has no coefficients of its own: these are averaged coefficients."
    model.hypothesis = "average"
    assert not any("vote" in note for note in explain(model).notes)


def test_each_of_more_classes_has_its_own_lines_and_only_its_own_support_rows():
    model = perceptron("rbf", gamma=0.5, hypothesis="last").fit(X, THREE)
    table = explain(model, top=1)
    assert table.columns == ["class", "row", "coefficient"]
    assert table["class"] == ["a", "a", "b", "b", "c", "c"]
    for k in range(3):
        own = model.dual_coef_[k]
        assert table["coefficient"][2 * k : 2 * k + 2] == [own.max(), own.min()]
    assert 0 not in explain(model, top=1000)["coefficient"]
    assert table.title == "Coefficients of support vectors: positive for the class, negative against it"
    assert table.notes == (f"Kernel: rbf with gamma 0.5; {len(model.support_)} support vectors.",)


def test_a_pipeline_that_ends_in_one_works():
    model = make_pipeline(StandardScaler(), perceptron()).fit(X, INSIDE)
    assert explain(model).to_dict() == explain(model[-1]).to_dict()


def test_nothing_learned_is_an_empty_table():
    table = explain(nothing_learned())
    assert len(table) == 0
    assert table.notes == ("Kernel: poly with degree 3, gamma 1, coef0 1; 0 support vectors.",)
    assert "row" in str(table)
    why = contributions(nothing_learned(), [1, 2])
    assert len(why) == 0
    assert "label is undefined" in why.title


def test_kernels_say_the_parameters_that_they_use():
    def cosine_of_angles(A, B):
        return A @ B.T

    model = perceptron(gamma=2)
    for kernel, words in [
        ("linear", "linear"),
        ("precomputed", "precomputed"),
        ("laplacian", "laplacian with gamma 2"),
        ("sigmoid", "sigmoid with gamma 2, coef0 1"),
        (cosine_of_angles, "the function cosine_of_angles"),
    ]:
        model.kernel = kernel
        assert kernel_words(model) == words
    model.kernel, model.gamma = "rbf", "scale"
    assert kernel_words(model) == "rbf with gamma scale"
    model.fit(X, INSIDE)
    assert kernel_words(model) == f"rbf with gamma {model.gamma_:.4g}"
    model.set_params(kernel="poly", gamma=7.0)  # what it was trained with is in use still
    assert kernel_words(model) == f"rbf with gamma {model.gamma_:.4g}"
    model = perceptron(cosine_of_angles).fit(X, INSIDE)
    assert kernel_words(model) == "the function cosine_of_angles"


def test_what_cannot_be_explained_is_refused():
    with pytest.raises(NotFittedError):
        explain(perceptron())
    with pytest.raises(NotFittedError):
        contributions(perceptron(), [1, 2])
    model = perceptron().fit(X, INSIDE)
    for call in (lambda: explain(model, ["a", "b"]), lambda: contributions(model, X[0], ["a", "b"])):
        with pytest.raises(ValueError, match=r"explained by support vectors, which have no feature names: leave"):
            call()
    for call in (lambda: explain(model, top=0), lambda: contributions(model, X[0], top=0)):
        with pytest.raises(ValueError, match="top must be an integer of at least 1, got 0"):
            call()
    with pytest.raises(TypeError, match=r"such as KernelPerceptron or SVC, got KNeighborsClassifier"):
        support_rule(KNeighborsClassifier().fit(X, THREE))
    with pytest.raises(TypeError, match="got str"):
        support_rule("model")


def test_a_sparse_svc_has_a_rule_too():
    import scipy.sparse as sp

    dense, sparse = SVC().fit(X, INSIDE), SVC().fit(sp.csr_matrix(X), INSIDE)
    np.testing.assert_allclose(support_rule(sparse).coefficients, support_rule(dense).coefficients)


# why one prediction


def test_contributions_are_coefficient_times_kernel_value_by_size():
    table = contributions(with_coefficients([4, -1, 2, 7]), [1, 9, 0, -1])
    assert table.columns == ["row", "coefficient", "kernel", "contribution"]
    assert table["row"] == [1, 3, 0]
    assert table["kernel"] == [9, -1, 1]
    assert table["coefficient"] == [-1, 7, 4]
    assert table["contribution"] == [-9, -7, 4]
    assert table.title == "Predicted 'no': the activation is -12"
    assert table.notes == ("Kernel: precomputed.", "1 of 4 support vectors contributes nothing and is left out.")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hypothesis", ["last", "average", "pocket"])
@pytest.mark.parametrize("top", [None, 3])
@pytest.mark.parametrize("kernel", ["poly", "rbf", "laplacian", "linear"])
def test_contributions_add_up_to_the_decision_value(hypothesis, top, kernel):
    model = perceptron(kernel, gamma=0.5, hypothesis=hypothesis, max_iter=3).fit(X, INSIDE)
    for x in X[:5]:
        table = contributions(model, x, top=top)
        assert math.fsum(table["contribution"]) == pytest.approx(model.decision_function([x])[0], rel=1e-9, abs=1e-9)
        assert table.title.startswith(f"Predicted {str(model.predict([x])[0])!r}: the activation is")
        sizes = [abs(part) for part in table["contribution"][:top]]
        assert sizes == sorted(sizes, reverse=True)


def test_with_more_classes_contributions_add_up_to_the_score_of_the_one_predicted():
    model = perceptron("rbf", gamma=0.5).fit(X, THREE)
    for x in X[:10]:
        table = contributions(model, x)
        assert math.fsum(table["contribution"]) == pytest.approx(model.decision_function([x]).max(), abs=1e-12)
        assert table.title.startswith(f"Predicted {str(model.predict([x])[0])!r}: the score of this class is")


def test_top_adds_up_the_others():
    table = contributions(with_coefficients([4, -1, 2, 7]), [1, 1, 1, 1], top=1)
    assert table["row"] == [3, "(3 more)"]
    assert table["contribution"] == [7, 5]
    assert table["kernel"] == [1, None]
    assert contributions(with_coefficients([4, -1]), [1, 1], top=2)["row"] == [0, 1]


def test_zero_contributions_are_left_out():
    values = np.zeros(40)
    values[[3, 5]] = 1, -2
    signs = (-1.0) ** np.arange(40)
    table = contributions(with_coefficients(signs), values)
    assert table["row"] == [5, 3]
    assert table.notes[-1] == "38 of 40 support vectors contribute nothing and are left out."
    assert len(contributions(with_coefficients(signs[:20]), values[:20])) == 2


def test_a_row_of_a_frame_goes_through_a_pipeline():
    frame = pd.DataFrame(X * [1, 100], columns=["a", "b"])
    model = make_pipeline(StandardScaler(), perceptron("rbf")).fit(frame, INSIDE)
    table = contributions(model, frame.iloc[0])
    assert math.fsum(table["contribution"]) == pytest.approx(model.decision_function(frame[:1])[0], rel=1e-12)


def test_values_beyond_the_floats_are_refused():
    model = perceptron(hypothesis="last").fit([[1.0], [-1.0]], ["yes", "no"])
    assert model.predict([[1e120]]) == ["yes"]
    with pytest.raises(ValueError, match="coefficient times kernel value overflows float64"):
        contributions(model, [1e120])
