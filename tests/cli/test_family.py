"""``--learner arow``, ``pa`` and ``margin`` at the command: the models of the library, and what is refused."""

import json
import math
import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import rosenblatt
from helpers.commands import THREE, command, ran, written
from rosenblatt import AROW, AveragedPerceptron, MarginPerceptron, PassiveAggressive, Perceptron, data
from rosenblatt.cli.options import LEARNERS

CASES = [
    (["-l", "arow"], AROW()),
    (["-l", "arow", "--r", "0.5", "--hypothesis", "average"], AROW(r=0.5, hypothesis="average")),
    (["-l", "pa"], PassiveAggressive()),
    (["-l", "pa", "-C", "0.1"], PassiveAggressive(C=0.1)),
    (["-l", "pa", "--C", "inf", "--multi-class", "ovr"], PassiveAggressive(C=math.inf, multi_class="ovr")),
    (["-l", "pa", "--loss", "squared_hinge"], PassiveAggressive(loss="squared_hinge")),
    (["-l", "pa", "--hypothesis", "average", "--decay", "0.1"], PassiveAggressive(hypothesis="average", decay=0.1)),
    (["-l", "margin"], MarginPerceptron()),
    (["-l", "margin", "--margin", "0.25", "-p", "3"], MarginPerceptron(margin=0.25, max_iter=3)),
    (["-l", "perceptron", "--hypothesis", "average"], Perceptron(hypothesis="average")),
    (["--decay", "0.2"], AveragedPerceptron(decay=0.2, multi_class="direct")),
]


@pytest.fixture
def rows(tmp_path):
    """Sixty rows of three classes that no hyperplanes separate."""
    rng = np.random.default_rng(7)
    X = rng.integers(-3, 4, (60, 3)) / 4
    y = np.argmax(X + rng.normal(size=X.shape) / 3, axis=1) + 1
    lines = [
        " ".join([str(label), *(f"{j + 1}:{x}" for j, x in enumerate(row))]) for row, label in zip(X, y, strict=True)
    ]
    return written(tmp_path, "rows.svm", "\n".join(lines) + "\n")


@pytest.mark.quick_cases(4)
@pytest.mark.parametrize(("words", "twin"), CASES, ids=lambda value: " ".join(value) if isinstance(value, list) else "")
def test_the_command_learns_what_the_library_does(rows, tmp_path, words, twin):
    result = ran("train", rows, *words, "--scale", "none", "-o", tmp_path / "m", "--json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        twin.set_params(random_state=0).fit_stream(data.open(rows))
    model = rosenblatt.load(tmp_path / "m")
    assert model.get_params() == twin.get_params()
    assert model.coef_.tobytes() == twin.coef_.tobytes()
    assert model.intercept_.tobytes() == twin.intercept_.tobytes()
    assert model.report_ == twin.report_
    assert json.loads(result.stdout)["updates"] == twin.n_updates_
    tested = json.loads(command("test", tmp_path / "m", rows, "--json").stdout)
    X, y = data.open(rows).read()
    assert tested["accuracy"] == twin.score(X, y)


@pytest.mark.parametrize("learner", ["arow", "pa", "margin"])
def test_the_report_has_updates_beside_mistakes(rows, tmp_path, learner):
    result = command("train", rows, "-l", learner, "-p", "3", "-o", tmp_path / "m")
    report = rosenblatt.load(tmp_path / "m").report_
    assert sum(report.updates_by_pass) == report.updates > sum(report.mistakes_by_pass)
    for what, counts in (("Mistakes by pass", report.mistakes_by_pass), ("Updates by pass", report.updates_by_pass)):
        words = " ".join(result.stdout.split())  # lines are broken by the width of a terminal
        assert re.search(rf"{what}[^:]*: {', '.join(map(str, counts))}\. ", words), result.stdout
    answer = json.loads(command("train", rows, "-l", learner, "-p", "3", "--json").stdout)
    assert answer["updates_by_pass"] == report.updates_by_pass
    assert "updates_by_pass" not in json.loads(command("train", rows, "-p", "3", "--json").stdout)


def test_what_happens_to_several_classes_is_settled_for_each_learner(tmp_path):
    path = written(tmp_path, "three.svm", THREE)
    for name in LEARNERS:
        settled = "direct" if name in ("averaged", "arow", "pa") else "ovr"
        for words, multi_class in (((), settled), (("--multi-class", "ovr"), "ovr")):
            command("train", path, "-l", name, "-o", tmp_path / "m", *words)
            assert rosenblatt.load(tmp_path / "m").multi_class == multi_class
