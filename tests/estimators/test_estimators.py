"""scikit-learn's own contract."""

import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from rosenblatt import AveragedPerceptron, KernelPerceptron, Perceptron, VotedPerceptron

# A weight scales a step, while repeating a row is two visits: scikit-learn's own Perceptron fails these as well.
WEIGHTS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "a weight scales a step; a repeated row is two visits"
    for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [
        Perceptron(),
        Perceptron("pocket"),
        Perceptron(multi_class="direct"),
        AveragedPerceptron(),
        VotedPerceptron(),
        VotedPerceptron(multi_class="direct"),
        KernelPerceptron(),
        KernelPerceptron(hypothesis="vote", multi_class="direct"),
    ],
    expected_failed_checks=lambda estimator: WEIGHTS,
)
@pytest.mark.slow
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_in_a_pipeline_and_a_grid():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), AveragedPerceptron(random_state=0))
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.95
    grid = GridSearchCV(pipeline, {"averagedperceptron__max_iter": [1, 5]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.95
