"""Files as shards: each is read by a worker, as the driver has seen that all of them are to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rosenblatt import data
from rosenblatt.blocks import join_blocks
from rosenblatt.data.stream import Stream
from rosenblatt.distributed.shards import Shard, ShardFacts
from rosenblatt.parameters import ParameterError, Setting
from rosenblatt.training.labels import encode_labels

_OF_FILES = ("format", "header", "delimiter", "quote", "on_error", "max_line_bytes", "names")
"""Options that say how a file is written and read, besides how rows are made of it."""
_ONLY_HERE = ("block_rows", "cache", "carry", "labels", "threads")


class FileShard:
    """Loads the rows of one file."""

    def __init__(self, path: str, preparation: dict[str, Any], options: dict[str, Any]) -> None:
        self.path, self.preparation, self.options = path, preparation, options

    def __call__(self) -> Shard:
        """Return the shard."""
        stream = data.open(self.path, preparation=self.preparation, **self.options)
        blocks = list(stream)
        if not blocks:
            X, y = stream.read()
            return Shard(X, y, y.astype("int32"), read=(stream.counts,))
        block = join_blocks(blocks)
        classes, numbers = encode_labels(block.y)
        return Shard(block.X, classes, numbers, block.weight, read=(stream.counts,))


def file_loaders(
    path: Any, options: dict[str, Any], trained: Callable[[int, int], Any] | None = None
) -> tuple[Stream, list[FileShard]]:
    """Return a stream of all files, and what loads each of them; a scale is that of the rows that are ``trained``."""
    for name in _ONLY_HERE:
        if name in options:
            raise ParameterError(Setting(name), " is for files that one process reads: leave it out.")
    stream = data.open(path, **options)
    stream.fit_scale(trained)
    return stream, loaders_of(stream, options)


def loaders_of(stream: Stream, options: Mapping[str, Any]) -> list[FileShard]:
    """Return what loads each file of a stream that was opened with these options."""
    files = stream.files
    if files is None:
        raise ParameterError("a cluster reads files by their names, got input that can be read only once.")
    alike = {name: value for name, value in options.items() if name in _OF_FILES}
    preparation = stream.preparation
    return [FileShard(name, preparation, alike) for name in files]


def restore_counts(stream: Stream, facts: Sequence[ShardFacts]) -> None:
    """Tell a stream what workers counted while they read its files: rows left out, missing values, columns."""
    stream.restore_counts([counts for one in facts for counts in one.read])
