"""Where examples come from: generators whose answer is known beforehand, and files."""

from typing import TYPE_CHECKING, Any

from rosenblatt.blocks import Block, DataError
from rosenblatt.data.generators import make_circle, make_separable, make_sorted, make_xor

if TYPE_CHECKING:
    from rosenblatt.data.open_files import Stream, open

__all__ = ["Block", "DataError", "Stream", "make_circle", "make_separable", "make_sorted", "make_xor", "open"]


def __getattr__(name: str) -> Any:
    if name not in ("Stream", "open"):
        raise AttributeError(f"module 'rosenblatt.data' has no attribute {name!r}")
    from rosenblatt.data import open_files as files  # what reads files is imported when one is opened

    globals()[name] = found = getattr(files, name)
    return found
