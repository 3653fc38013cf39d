"""What files give: rows and labels, or a sentence; lines, a chunk at a time."""

import numpy as np

from rosenblatt import data
from rosenblatt.kernels.parsing.bytes import PAD

SKIP = "; on_error='skip' leaves such rows out."
FILL = "give missing='zero' or missing='mean' to fill it" + SKIP
CONVERT = "give its encoding, such as encoding='cp1252' for most files from Windows" + SKIP
TOO_LARGE = "column 'a' holds a number that is infinite or too large for float64, expected finite numbers" + SKIP


def dense(X):
    return X if isinstance(X, np.ndarray) else X.toarray()


def outcome(path, target="y", **options):
    """What a file gives: rows and labels, or the sentence of the error without the folder."""
    try:
        X, y = data.open(path, target, **options).read()
    except ValueError as error:
        return str(error).replace(f"{path.parent}/", "")
    return dense(X).tolist(), y.tolist()


def lines_of(source):
    """Return all lines of a source, having checked each chunk."""
    text = b""
    for chunk in source.chunks():
        lines = bytes(chunk.buffer[chunk.start : chunk.stop])
        assert lines.endswith(b"\n")
        assert len(chunk.buffer) >= chunk.stop + PAD
        text += lines
        source.recycle(chunk)
    return text
