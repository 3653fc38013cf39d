"""``rosenblatt explain`` for a model that has support rows and no weights."""

import json

import rosenblatt
from rosenblatt import KernelPerceptron
from rosenblatt.cli.explain import explain


def test_support_rows_are_explained_by_their_coefficients(tmp_path, capsys):
    X, y = rosenblatt.data.make_rings(60, random_state=0)
    model = KernelPerceptron(degree=2, gamma=1.0, hypothesis="last", max_iter=100, random_state=0).fit(X, y)
    model.preparation_ = {"format": "svmlight", "version": 1, "zero_based": False, "n_features": 2}
    path = str(tmp_path / "model")
    rosenblatt.save(model, path)
    explain(path, 2, None, {}, as_json=True)
    answer = json.loads(capsys.readouterr().out)
    assert [row["coefficient"] for row in answer["rows"]] == rosenblatt.explain(model, top=2)["coefficient"]
    assert answer["notes"][0].startswith("Kernel: poly with degree 2")
    explain(path, 2, None, {}, as_json=False)
    assert "Kernel: poly" in capsys.readouterr().out
