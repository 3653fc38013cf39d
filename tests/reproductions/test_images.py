import warnings
from urllib.error import URLError

import numpy as np
import pytest

from helpers.idx_files import NAMES, idx_bytes, write_mnist
from rosenblatt.reproductions import freund_schapire as images
from rosenblatt.reproductions.freund_schapire import images_of


def test_every_third_of_the_small_digits_is_for_testing():
    digits = images_of(None, small=True)
    assert (digits.X_train.shape, digits.X_test.shape) == ((1198, 64), (599, 64))
    assert set(digits.y_train.tolist()) == set(digits.y_test.tolist()) == set(range(10))
    assert digits.X_train.max() == digits.brightest == 16
    assert digits.y_test[:3].tolist() == [2, 5, 8]
    assert not digits.are_mnist


def test_images_of_a_folder_have_rows_of_pixels(tmp_path):
    write_mnist(tmp_path)
    found = images_of(tmp_path, small=False)
    assert (found.X_train.shape, found.X_test.shape, found.brightest) == ((40, 6), (30, 6), 255)
    assert not found.are_mnist


def test_fewer_than_three_classes_are_refused(tmp_path):
    write_mnist(tmp_path)
    (tmp_path / NAMES[1]).write_bytes(idx_bytes(np.arange(40) % 2))
    with pytest.raises(ValueError, match="must be of 3 classes or more, got 2"):
        images_of(tmp_path, small=False)


def test_without_a_network_it_says_where_to_get_mnist(monkeypatch):
    def unreachable(*_, **__):
        warnings.warn("Retrying", UserWarning, stacklevel=2)
        raise URLError("Name or service not known")

    monkeypatch.setattr(images, "fetch_openml", unreachable)
    with pytest.raises(ValueError, match=r"MNIST could not be had from OpenML \(.*not known.*any mirror.*small=True"):
        images_of(None, small=False)


def test_openml_has_the_rows_to_train_on_first(monkeypatch):
    X, y = np.zeros((70_000, 784), np.uint8), np.full(70_000, "3")
    X[:60_000, 0], y[:60_000] = 255, "7"
    monkeypatch.setattr(images, "fetch_openml", lambda *_, **__: (X, y))
    found = images_of(None, small=False)
    assert found.are_mnist
    assert found.X_train[:, 0].min() == 255
    assert found.X_test.max() == 0
    assert set(found.y_train.tolist()) == {7}
    assert set(found.y_test.tolist()) == {3}


def test_openml_with_other_rows_is_refused(monkeypatch):
    monkeypatch.setattr(images, "fetch_openml", lambda *_, **__: (np.zeros((5, 784)), np.zeros(5)))
    with pytest.raises(ValueError, match=r"must be 70,000 x 784 numbers, got \(5, 784\)"):
        images_of(None, small=False)
