"""``rosenblatt explain`` for a model that has support rows and no weights."""

import json

import numpy as np

import rosenblatt
from helpers.naive_kernel import NaiveKernelPerceptron
from rosenblatt.cli.explain import explain


def test_support_rows_are_explained_by_their_coefficients(monkeypatch, capsys):
    X, y = rosenblatt.data.make_rings(60, random_state=0)
    model = NaiveKernelPerceptron("poly", degree=2, hypothesis="last").fit(X, y)
    model.preparation_ = {"format": "svmlight", "version": 1, "zero_based": False, "n_features": 2}
    monkeypatch.setattr(rosenblatt, "load", lambda path: model)
    explain("model", 2, None, {}, as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert [row["coefficient"] for row in answer["rows"]] == rosenblatt.explain(model, top=2)["coefficient"]
    assert answer["notes"][0].startswith("Kernel: poly with degree 2")
    model.last_dual_coef_ = np.zeros_like(model.last_dual_coef_)
    explain("model", 2, None, {}, as_json=False)
    assert "Kernel: poly" in capsys.readouterr().out
