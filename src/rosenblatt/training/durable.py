"""The folder in which a model that learns without end is kept: snapshots, and the logs of rows since then.

A generation has three files, whose names end in its number:

- ``log-N``: the rows that were acknowledged after snapshot N
- ``ids-N``: what is remembered besides the model, such as counts, and the ids of learned rows
- ``model-N``: the model, an ordinary model file

They are made in this order, each complete on the disk before the next, so snapshot N is complete as soon as ``model-N``
exists. The state is that of the last complete snapshot and of all logs from its number on. Files of earlier generations
are then deleted.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.storage.container import read_container, write_container
from rosenblatt.storage.log import Log, find_frames, read_log
from rosenblatt.training.groups import Group, from_bytes
from rosenblatt.training.model_file import TrainedModel

try:
    import fcntl
except ImportError:  # not available on Windows
    fcntl = None  # type: ignore[assignment]

_FILE = re.compile(r"(model|ids|log)-([0-9]{8,})")
_Arrays = dict[str, np.ndarray]


class StateFolder:
    """A folder with the state of one model, which one process at a time may use.

    Parameters
    ----------
    path : Path
        The folder, which is created if it does not exist.
    origin : str
        Identifies what the state began with, such as a digest of a model.
    """

    def __init__(self, path: Path, origin: str) -> None:
        self.path = path
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is not None:
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                os.close(self._lock)
                raise ValueError(f"{path} is in use by another process: stop it, or choose another folder.") from None
        self._origin = origin
        self.generation = 0
        """The number of the last complete snapshot."""
        self.log: Log
        """The log to which rows are appended."""
        self.torn = 0
        """Bytes at the end of the log that were cut off, because their write was torn."""
        found = self._generations("model")
        if found:
            self.generation = found[-1]

    def close(self) -> None:
        """Close the log, and let other processes use the folder."""
        if hasattr(self, "log"):
            self.log.close()
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    # the beginning

    @property
    def is_new(self) -> bool:
        """Whether there is no state yet."""
        return self.generation == 0

    def begin(self, model: TrainedModel, memory: tuple[dict[str, Any], _Arrays]) -> None:
        """Make the first snapshot."""
        for number in self._generations("log"):
            if find_frames(self._file("log", number)).contents:
                raise ValueError(
                    f"{self.path} has rows but no model file: restore the model file, or remove the folder to begin "
                    "again."
                )
        self.start_log()
        self.write_snapshot(model, memory)

    def has_same_origin(self) -> bool:
        """Return whether the state began with the same origin."""
        header, _ = self._read_ids()
        return bool(header["origin"] == self._origin)

    def read_snapshot(self) -> tuple[TrainedModel, dict[str, Any], _Arrays]:
        """Return the model, the counts and the ids of the last complete snapshot."""
        header, arrays = self._read_ids()
        return TrainedModel.load(self._file("model", self.generation)), header, arrays

    def _read_ids(self) -> tuple[dict[str, Any], _Arrays]:
        return read_container(self._file("ids", self.generation))

    def read_logs(self) -> Iterator[Group]:
        """Yield the groups of all logs since the last snapshot; then open the last log for appending."""
        numbers = [number for number in self._generations("log") if number >= self.generation]
        if numbers != list(range(self.generation, self.generation + len(numbers))) or not numbers:
            raise ValueError(
                f"{self.path} lacks a log of rows that were acknowledged: restore the folder from a copy, or remove it "
                "to begin again from the model."
            )
        for number in numbers:
            path = self._file("log", number)
            found = find_frames(path)
            torn = found.size - found.end
            if number != numbers[-1] and (torn or not found.marker):
                raise ValueError(
                    f"{path} is damaged at byte {found.end:,}, before rows that were acknowledged, so it is not used: "
                    "restore it from a copy, or remove the folder to begin again from the model."
                )
            yield from map(from_bytes, read_log(path))
            self.torn = torn
        self.log = Log.open(self._file("log", numbers[-1]))
        self._delete_old()

    # snapshots

    def start_log(self) -> None:
        """Start the log of the next generation; its snapshot is to be written afterwards."""
        numbers = [self.generation, *self._generations("log")]
        log = Log.create(self._file("log", self.generation + 1 if self.is_new else max(numbers) + 1))
        if hasattr(self, "log"):
            self.log.close()
        self.log = log

    def write_snapshot(self, model: TrainedModel, memory: tuple[dict[str, Any], _Arrays]) -> None:
        """Write the snapshot that belongs to the newest log; delete what it replaces."""
        number = self._generations("log")[-1]
        header, arrays = memory
        write_container(self._file("ids", number), header | {"origin": self._origin}, arrays)
        model.save(self._file("model", number))
        self.generation = number
        self._delete_old()

    def _delete_old(self) -> None:
        for kind in ("model", "ids", "log"):
            for number in self._generations(kind):
                if number < self.generation:
                    with suppress(OSError):
                        self._file(kind, number).unlink()

    # files

    def _file(self, kind: str, number: int) -> Path:
        return self.path / f"{kind}-{number:08}"

    def _generations(self, kind: str) -> list[int]:
        """Return the numbers of the files of a kind, in increasing order."""
        found = [_FILE.fullmatch(name) for name in os.listdir(self.path)]
        return sorted(int(match[2]) for match in found if match is not None and match[1] == kind)


def digest_of_file(path: Path) -> str:
    """Return a digest of the contents of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
