"""Checkpoints from strangers, with right checksums: refused, or a run that ends with a model that can be saved."""

import os

import numpy as np
import pytest

from helpers.examples import small_set
from helpers.forging import compact, forge, mutations, other_arrays
from rosenblatt import AveragedPerceptron, VotedPerceptron, load, save
from rosenblatt.storage.container import read_container

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FORGERIES = int(os.environ.get("FORGERIES", "150"))
OPTIONS = {"max_iter": 2, "random_state": 0}
LEARNERS = {
    "one by one": AveragedPerceptron(early_stopping=True, validation_fraction=0.4, **OPTIONS),
    "direct": VotedPerceptron(multi_class="direct", **OPTIONS),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNERS)
def test_forged_checkpoints_are_refused_or_sound(tmp_path, monkeypatch, name):
    monkeypatch.setattr(os, "fsync", lambda file: None)
    path, model = tmp_path / "checkpoint", LEARNERS[name]
    X, y = small_set("gauss", n=40, classes=3, seed=5)
    blocks = [(X[start : start + 10], y[start : start + 10]) for start in range(0, 40, 10)]
    model.fit_stream(blocks, checkpoint=path, every=0)
    header, arrays = read_container(path)
    rng = np.random.default_rng(0)
    forgeries = [(other, arrays) for other in mutations(header) if type(other) is dict]
    forgeries += [(header, other) for other in other_arrays(arrays, rng)]
    refused = 0
    for number in rng.permutation(len(forgeries))[:FORGERIES]:
        other, some = forgeries[number]
        path.write_bytes(forge(compact(other), some))
        try:
            model.fit_stream(blocks, checkpoint=path, every=1000, resume=True)
        except ValueError as refusal:
            assert str(refusal).startswith(str(path))  # noqa: PT017
            refused += 1
            continue
        save(model, tmp_path / "model")
        assert len(load(tmp_path / "model").predict(X)) == 40
    assert FORGERIES / 2 < refused < FORGERIES
