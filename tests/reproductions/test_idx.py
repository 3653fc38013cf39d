import gzip

import numpy as np
import pytest

from helpers.idx_files import NAMES, idx_bytes, write_mnist
from rosenblatt.reproductions.freund_schapire import read_idx, read_mnist


@pytest.mark.parametrize("packed", [False, True])
def test_the_four_files_are_read(tmp_path, packed):
    arrays = write_mnist(tmp_path, packed)
    parts = read_mnist(tmp_path)
    found = [*parts["train"], *parts["test"]]
    for one, other in zip(found, arrays, strict=True):
        assert np.array_equal(one, other.reshape(len(other), -1) if other.ndim == 3 else other)


def test_mirrors_that_write_a_dot_are_read(tmp_path):
    write_mnist(tmp_path)
    for name in NAMES:
        (tmp_path / name).rename(tmp_path / name.replace("-idx", ".idx"))
    assert len(read_mnist(str(tmp_path))["train"][0]) == 40


def test_a_packed_file_need_not_say_so(tmp_path):
    path = tmp_path / "labels"
    path.write_bytes(gzip.compress(idx_bytes([1, 2])))
    assert read_idx(path, 1).tolist() == [1, 2]


GOOD = idx_bytes(np.arange(12).reshape(3, 2, 2))
DAMAGED = {
    "empty": b"",
    "three bytes": GOOD[:3],
    "labels": idx_bytes([1, 2, 3]),
    "another type": GOOD[:2] + b"\x0d" + GOOD[3:],
    "text": b"<html>not found</html>",
    "half a head": GOOD[:9],
    "no rows": GOOD[:4] + bytes(4) + GOOD[8:],
    "endless": GOOD[:4] + b"\xff" * 12 + GOOD[16:],
    "cut short": GOOD[:-1],
    "too long": GOOD + b"\0",
    "packed and cut short": gzip.compress(GOOD)[:-9],
    "packed and damaged": gzip.compress(GOOD)[:-8] + bytes(8),
    "packed nonsense": gzip.compress(GOOD)[:10] + b"\xff" * 20,
    "hardly packed": b"\x1f\x8b",
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file_is_named_with_the_place_to_get_it(tmp_path, content):
    write_mnist(tmp_path)
    (tmp_path / NAMES[2]).write_bytes(content)
    with pytest.raises(ValueError, match="is no such file of MNIST, or damaged: ") as error:
        read_mnist(tmp_path)
    words = str(error.value)
    assert words.startswith(str(tmp_path / NAMES[2]))
    assert "fetch_openml" in words
    assert "small=True" in words
    assert "\n" not in words


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_file_is_named(tmp_path, name):
    write_mnist(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(ValueError, match=f"there is no file {name} or {name}.gz in .*any mirror"):
        read_mnist(tmp_path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"data must be a folder, and there is none called .*nowhere.*any mirror"):
        read_mnist(tmp_path / "nowhere")


def test_images_and_labels_are_equally_many(tmp_path):
    write_mnist(tmp_path)
    (tmp_path / NAMES[3]).write_bytes(idx_bytes([1, 2]))
    with pytest.raises(ValueError, match=r"30 images and .* 2 labels, which must be equally many"):
        read_mnist(tmp_path)


def test_images_to_train_and_to_test_on_have_as_many_pixels(tmp_path):
    write_mnist(tmp_path)
    (tmp_path / NAMES[2]).write_bytes(idx_bytes(np.zeros((30, 2, 2))))
    with pytest.raises(ValueError, match="got 6 in those to train on and 4 in those to test on"):
        read_mnist(tmp_path)
