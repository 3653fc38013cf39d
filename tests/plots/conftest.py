import pytest

from rosenblatt.plots import plane_parts


@pytest.fixture(autouse=True)
def _coarse_grid(monkeypatch):
    """Ask models at fewer places of the plane than a picture needs."""
    monkeypatch.setattr(plane_parts, "GRID", 60)
