"""The function as a whole, with the library's own learner."""

from functools import partial

import pytest

from helpers import slow_dual
from helpers.idx_files import write_mnist
from rosenblatt.kernels.orders import visiting_order
from rosenblatt.reproductions import freund_schapire as memory
from rosenblatt.reproductions import freund_schapire_1999
from rosenblatt.reproductions.freund_schapire import degree_runs, images_of, reproduction

SEED = 10


@pytest.mark.slow
@pytest.mark.parametrize("packed", [False, True])
def test_it_is_the_protocol_with_the_definition_of_the_learner(tmp_path, packed):
    write_mnist(tmp_path, packed, tied=False)  # equal scores of test rows could be rounded to different ones
    images = images_of(tmp_path, False)
    assert len(set(images.y_train[visiting_order(40, SEED)][:4])) == 3  # nor are machines equal at the first look
    found = freund_schapire_1999(tmp_path, degrees=(1, 2, 3), epochs=4, random_state=SEED)
    train = partial(slow_dual.train, epochs=4)
    slow = degree_runs(images, [1, 2, 3], 4, SEED, train, slow_dual.scores_at)
    assert found.table.to_dict() == reproduction("", list(slow), with_paper=False).table.to_dict()


def test_small_digits_are_learned():
    found = freund_schapire_1999(small=True, degrees=[3], epochs=2)
    assert found.title == "scikit-learn's digits: 1,198 rows to train on, 599 to test on."
    assert found.table["epoch"] == [0.1, 1, 2]
    assert found.table["vote"][-1] < 5
    assert found.table["mistakes"] == sorted(found.table["mistakes"])
    assert set(found.table["paper vote"]) == {None}
    assert found.seconds["training"][0] > 0
    assert found.table.to_dict() == freund_schapire_1999(small=True, degrees=[3], epochs=2).table.to_dict()
    other = freund_schapire_1999(small=True, degrees=[3], epochs=2, random_state=1, cache_size=20)
    assert other.table["mistakes"] != found.table["mistakes"]


def test_a_degree_is_learned_once():
    found = freund_schapire_1999(small=True, degrees=(3, 2, 3), epochs=1)
    assert found.table["degree"] == [3, 3, 2, 2]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"degrees": ()}, "degrees must be one integer or more, got none"),
        ({"degrees": (0,)}, "degrees must be an integer of at least 1, got 0"),
        ({"degrees": "12"}, r"degrees must be integers such as \(1, 2, 3\), got '12'"),
        ({"degrees": 3}, r"degrees must be integers such as \(1, 2, 3\), got 3"),
        ({"epochs": 0}, "epochs must be an integer of at least 1, got 0"),
        ({"random_state": -1}, "random_state must be an integer of at least 0, got -1"),
        ({"small": "yes"}, "small must be True or False, got 'yes'"),
        ({"data": "mnist"}, "small learns digits that come with scikit-learn, so it does not go with data"),
    ],
)
def test_bad_parameters_are_one_sentence(given, words):
    with pytest.raises(ValueError, match=f"^{words}.$"):
        freund_schapire_1999(**({"small": True} | given))


@pytest.mark.parametrize(("free", "megabytes"), [(64_000_000_000, 8000), (6_000_000_000, 3000), (0, 1)])
def test_the_cache_takes_half_of_the_free_memory_at_most(monkeypatch, free, megabytes):
    monkeypatch.setattr(memory, "free_bytes", lambda: free)
    assert memory.free_cache_size() == megabytes


def test_free_memory_is_known_without_linux(monkeypatch):
    assert memory.free_bytes() > 0

    def unreadable(self):
        raise FileNotFoundError(str(self))

    monkeypatch.setattr(memory.Path, "read_text", unreadable)
    assert memory.free_bytes() > 0
    monkeypatch.delattr(memory.os, "sysconf")
    assert memory.free_bytes() == 2_000_000_000
