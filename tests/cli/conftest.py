"""A model that the command made."""

import pytest

from helpers.commands import AND, ran, written


@pytest.fixture
def model(tmp_path):
    """A model of AND, which a perceptron learns without a mistake left."""
    ran("train", written(tmp_path, "and.csv", AND), "-t", "label", "-l", "perceptron", "-o", tmp_path / "m")
    return tmp_path / "m"
