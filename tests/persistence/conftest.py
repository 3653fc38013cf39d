"""A path for a file, on a disk that is not waited for."""

import os

import pytest


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda file: None)  # the disk is tested elsewhere
    return tmp_path / "model.safetensors"
