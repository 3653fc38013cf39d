"""Where examples come from: generators whose answer is known beforehand, and files."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosenblatt.blocks import Block, DataError
    from rosenblatt.data.generators import make_circle, make_separable, make_sorted, make_xor
    from rosenblatt.data.open_files import Stream, open

__all__ = ["Block", "DataError", "Stream", "make_circle", "make_separable", "make_sorted", "make_xor", "open"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rosenblatt.data' has no attribute {name!r}")
    home = {"Block": "blocks", "DataError": "blocks", "Stream": "data.open_files", "open": "data.open_files"}
    globals()[name] = found = getattr(import_module(f"rosenblatt.{home.get(name, 'data.generators')}"), name)
    return found
