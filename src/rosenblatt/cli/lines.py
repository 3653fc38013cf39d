"""Lines of an endless stream as they come, and rows made of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from rosenblatt.cli.inputs import opened
from rosenblatt.parameters import ParameterError

__all__ = ["Reader", "batches"]

_READ = 1 << 20


def batches(file: BinaryIO, most: int, first: int) -> Iterator[list[bytes]]:
    """Yield lines as they come, at most ``most`` at a time; the first time, wait for ``first`` of them or the end.

    >>> import io
    >>> list(batches(io.BytesIO(b"a\\nb\\nc\\nd"), 2, 3))
    [[b'a\\n', b'b\\n', b'c\\n'], [b'd\\n']]
    """
    lines: list[bytes] = []
    rest, needed = b"", first
    read = getattr(file, "read1", file.read)
    while True:
        text = read(_READ)
        *whole, rest = (rest + text).split(b"\n")
        if not text and rest:
            whole, rest = [*whole, rest], b""
        lines += [line + b"\n" for line in whole if line.strip()]
        while lines and (len(lines) >= needed or not text):
            size = max(needed, most)
            yield lines[:size]
            lines, needed = lines[size:], 1
        if not text:
            return


@dataclass
class Reader:
    """Makes rows of lines: all of them as the first lines are made."""

    folder: str
    target: str | None
    options: dict[str, Any]
    header: bytes = b""
    preparation: dict[str, Any] | None = None
    names: list[str] | None = None
    lines: int = 0

    def rows(self, lines: list[bytes]) -> tuple[Any, Any]:
        """Return features and labels."""
        path = Path(self.folder, "lines")
        path.write_bytes(self.header + b"".join(lines))
        try:
            stream = self._opened(str(path))
            X, y = stream.read()
        except ValueError as fault:
            where = f"standard input, after {self.lines:,} lines" if self.lines else "standard input"
            pieces = fault.pieces if isinstance(fault, ParameterError) else (str(fault),)
            said = [piece.replace(str(path), where) if isinstance(piece, str) else piece for piece in pieces]
            raise ParameterError(*said) from None
        if self.preparation is None:
            self.preparation, self.names = stream.preparation, stream.feature_names
        if not self.lines and self.preparation.get("dialect", {}).get("header"):
            self.header = lines[0]
        self.lines += len(lines)
        return X, y

    def _opened(self, path: str) -> Any:
        known = self.preparation
        if known is None:
            stream = opened([path], self.target, self.options)
        else:
            kept = {"on_error": self.options.get("on_error"), "format": known["format"], "threads": 1}
            svmlight = known["format"] == "svmlight"  # features may be new, so only where they are counted from is kept
            made = {"zero_based": known["zero_based"]} if svmlight else {"preparation": known}
            stream = opened([path], None, {**kept, **made})
        if not stream.labelled and known is not None and known.get("target"):
            raise ValueError(
                f"The first line has no column {known['target']['name']!r}, the label, as the model expects."
            )
        if not stream.labelled:
            raise ValueError("Each line needs its label: for tables, say --target, the column with the labels.")
        return stream
