"""The command on model files from strangers, with right checksums: an answer or one sentence, never a traceback."""

import json

import numpy as np
import pytest

from helpers.commands import command, refused
from helpers.forging import compact, forge, mutations
from rosenblatt.storage.container import read_container

WORDS = ["red", "green", "blue"]
FILES = {
    "a.csv": "a,b,c,d,y\n"
    + "".join(f"{k},{WORDS[k % 3]},{k % 2 == 0},some words about number{k},{WORDS[k % 2]}\n" for k in range(30)),
    "a.jsonl": "".join(json.dumps({"a": k / 2, "b": WORDS[k % 2], "y": k % 2}) + "\n" for k in range(12)),
    "a.svm": "".join(f"{k % 3} {1 + k % 4}:{k} 7:2\n" for k in range(12)),
    "a.vw": "".join(f"{1 if k % 2 else -1} |f a{k % 5} b:{k}\n" for k in range(12)),
}
OPTIONS = {
    "a.csv": ["-t", "y", "--missing", "mean", "--bits", "4"],
    "a.jsonl": ["-t", "y", "-l", "voted"],
    "a.svm": ["-l", "perceptron"],
    "a.vw": ["--bits", "4"],
}


def uses(model, path):
    yield ["predict", model, path]
    yield ["test", model, path]
    yield ["explain", model, "--row", f"{path}:1"]
    yield ["watch", "--model", model, "-o", path.parent / "watched"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_strange_preparation_is_a_sentence_or_harmless(tmp_path, name):
    path, model = tmp_path / name, tmp_path / "m"
    path.write_text(FILES[name])
    assert command("train", path, *OPTIONS[name], "--passes", "2", "-o", model).exit_code == 0
    header, arrays = read_container(model)
    every = list(mutations(header["preparation"]))
    refused = 0
    for number in np.random.default_rng(0).permutation(len(every))[:12]:
        model.write_bytes(forge(compact(header | {"preparation": every[number]}), arrays))
        for words in uses(model, path):
            result = command(*words, input=FILES[name])
            assert result.exception is None or isinstance(result.exception, SystemExit), (words[0], every[number])
            if result.exit_code:
                assert result.exit_code == 2
                assert result.stderr.splitlines()[-1].startswith("Error: ")
                refused += 1
    assert refused > 12


def test_a_preparation_for_other_features_is_refused_at_once(tmp_path):
    path, model = tmp_path / "a.csv", tmp_path / "m"
    path.write_text("a,b,y\n1,2,0\n3,4,1\n")
    assert command("train", path, "-t", "y", "-o", model).exit_code == 0
    header, arrays = read_container(model)
    columns = header["preparation"]["columns"]
    model.write_bytes(
        forge(compact(header | {"preparation": header["preparation"] | {"columns": columns[:1]}}), arrays)
    )
    assert "its model has 2 features, but its preparation of rows makes 1" in refused("predict", model, path)


def test_a_model_with_data_of_its_own_is_explained_and_watched(tmp_path):
    """What users attach to a model is any plain data, in place of what this command writes."""
    path, model = tmp_path / "a.svm", tmp_path / "m"
    path.write_text(FILES["a.svm"])
    assert command("train", path, "-o", model).exit_code == 0
    header, arrays = read_container(model)
    model.write_bytes(forge(compact(header | {"preparation": {"columns": ["a"]}}), arrays))
    assert command("explain", model).exit_code == 0
    assert "does not describe how features are made" in command("predict", model, path).stderr
    for fingerprint in ("mine", {"files": 1}, {"files": ["x"], "rows": "3"}):
        model.write_bytes(forge(compact(header | {"fingerprint": fingerprint}), arrays))
        assert command("watch", "--model", model, "-o", tmp_path / "n", input=FILES["a.svm"]).exit_code == 0
        assert read_container(tmp_path / "n")[0]["fingerprint"]["rows"] == 12
