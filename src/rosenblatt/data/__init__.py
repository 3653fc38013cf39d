"""Data sets: streams of rows from files, and generators of synthetic data whose separability is known."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.blocks import Block, DataError
    from rosenblatt.data.generators import make_circle, make_rings, make_separable, make_sorted, make_spiral, make_xor
    from rosenblatt.data.opening import open
    from rosenblatt.data.stream import Stream

__all__ = [
    "Block",
    "DataError",
    "Stream",
    "make_circle",
    "make_rings",
    "make_separable",
    "make_sorted",
    "make_spiral",
    "make_xor",
    "open",
]
_HOMES = {
    "blocks": ("Block", "DataError"),
    "data.generators": ("make_circle", "make_rings", "make_separable", "make_sorted", "make_spiral", "make_xor"),
    "data.opening": ("open",),
    "data.stream": ("Stream",),
}
_NAMES = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'rosenblatt.data' has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(f"rosenblatt.{_NAMES[name]}"), name)
    return found
