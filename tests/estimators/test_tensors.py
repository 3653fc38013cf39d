"""Tensors of PyTorch as input, under scikit-learn's array API dispatch; on every device that there is."""

import numpy as np
import pytest
import sklearn

from rosenblatt import KernelPerceptron, Perceptron
from rosenblatt.estimators.validation import as_numpy, like_input, tensor_device

X = np.array([[2.0, 1.0], [1.0, 3.0], [-1.0, 2.0], [-2.0, -1.0], [1.0, -2.0], [0.5, 0.5]])
y = np.array([1, 1, 0, 1, 0, 0])


def test_arrays_and_lists_stay_as_they_are():
    assert as_numpy(X) is X
    assert tensor_device(X) is None
    assert like_input(y, [[1.0]]) is y


def devices(torch):
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


def test_what_is_learned_from_tensors_is_what_is_learned_from_arrays(torch):
    expected = KernelPerceptron(random_state=0).fit(X, y)
    for device in devices(torch):
        tensor, labels = torch.asarray(X, device=device), torch.asarray(y, device=device)
        with sklearn.config_context(array_api_dispatch=True):
            model = KernelPerceptron(random_state=0).fit(tensor, labels)
            assert model.support_.tolist() == expected.support_.tolist()
            predicted, scores = model.predict(tensor), model.decision_function(tensor)
            assert predicted.device.type == scores.device.type == device
            assert predicted.tolist() == expected.predict(X).tolist()
            assert scores.tolist() == pytest.approx(expected.decision_function(X).tolist())
            linear = Perceptron(random_state=0, hypothesis="average").fit(tensor, labels)
            assert linear.predict(tensor).tolist() == linear.predict(X).tolist()
        assert (model.state_.computing.device or "cpu").startswith(device)


def test_words_as_labels_come_back_as_words(torch):
    names = np.array(["no", "yes"])[y]
    with sklearn.config_context(array_api_dispatch=True):
        model = KernelPerceptron(random_state=0).fit(torch.asarray(X), names)
        assert set(model.predict(torch.asarray(X)).tolist()) <= {"no", "yes"}
