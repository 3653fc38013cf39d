"""Power cuts: what a program does to the files of one folder is recorded, and replayed on a disk that forgets.

The disk keeps what was synchronised. Of the rest, any pages of any file and any change of a name may have reached it
or not, in any order, when the power fails: a new name may belong to a file whose bytes are not there yet, and a file
may be long and full of zeros. File systems promise more than that, so what holds here holds on them.

    with Recorder(folder) as recorder:
        save(model, folder / "m")
        recorder.returned()
    fault = find_fault(recorder, "m", load, random.Random(0))

The recorder looks at the folder itself before and after each call that matters, so it sees what code in C writes, too.
Only ``os.fsync`` has to be called through Python: what is synchronised otherwise counts as not synchronised.
"""

from __future__ import annotations

import builtins
import os
import random
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

from attack.full_disk import WRITERS

PAGE = 512
"""Bytes that reach the disk together or not at all."""
_MOMENTS = ("open", "write", "fsync", "close", "unlink", "remove", "replace", "rename", "link", "truncate", "ftruncate")
_EXTREMES = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]


class Recorder:
    """Records what the present thread does to the files of ``folder``, which has no folders in it.

    Its ``steps`` are ("seen", file by name, bytes by file), ("sync", file), ("sync folder",) and ("returned",). A file
    is a number.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._thread = Path(folder), threading.get_ident()
        self.steps: list[tuple[Any, ...]] = []
        self._numbers: dict[int, int] = {}
        """Files by the system's numbers, which it may give to another file once one is gone."""
        self._new = count(1)
        self._names: dict[str, int] = {}
        self._data: dict[int, bytes] = {}
        self._patches = ExitStack()
        self._look()

    def __enter__(self) -> Recorder:
        for module, name in [(os, name) for name in _MOMENTS if hasattr(os, name)] + [(builtins, "open")]:
            self._patches.enter_context(mock.patch.object(module, name, self._watched(name, getattr(module, name))))
        return self

    def __exit__(self, *_: object) -> None:
        self._patches.close()

    def returned(self) -> None:
        """Say that the user was told that a file is written: from now on it has to be there."""
        self._look()
        self.steps.append(("returned",))

    def _watched(self, what: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def function(*args: Any, **options: Any) -> Any:
            if threading.get_ident() != self._thread:
                return real(*args, **options)
            self._look()
            result = real(*args, **options)
            if what == "fsync":
                synced = os.fstat(args[0] if isinstance(args[0], int) else args[0].fileno())
                if os.path.samestat(synced, os.stat(self.folder)):
                    self.steps.append(("sync folder",))
                elif synced.st_ino in self._numbers:
                    self.steps.append(("sync", self._numbers[synced.st_ino]))
            self._look()
            return result

        return function

    def _look(self) -> None:
        """Note the files as they are now, if that is news."""
        paths = {path.stat().st_ino: path for path in sorted(self.folder.iterdir())}
        self._numbers = {inode: self._numbers.get(inode) or next(self._new) for inode in paths}
        names = {path.name: self._numbers[inode] for inode, path in paths.items()}
        data = {self._numbers[inode]: path.read_bytes() for inode, path in paths.items()}
        if not self.steps or (names, data) != (self._names, self._data):
            self._names, self._data = names, data
            self.steps.append(("seen", names, data))


class Disk:
    """What is on the disk for certain, and what happened since, which may have reached it or not."""

    def __init__(self, names: dict[str, int], data: dict[int, bytes]) -> None:
        self.names, self.seen = names, names
        self.versions = {file: [content] for file, content in data.items()}
        """The bytes of each file when it was last synchronised, then those seen later."""
        self.changes: list[tuple[str, str | None, int]] = []
        """Old name, new name and file."""

    def do(self, what: str, *args: Any) -> None:
        """Follow one step of a recording."""
        if what == "sync":
            del self.versions[args[0]][:-1]
        elif what == "sync folder":
            self.names, self.changes = self.seen, []
        elif what == "seen":
            names, data = args
            for file, content in data.items():
                versions = self.versions.setdefault(file, [b""])
                if content != versions[-1]:
                    versions.append(content)
            gone = {file: name for name, file in self.seen.items() if names.get(name) != file}
            for name, file in names.items():
                if self.seen.get(name) != file:
                    self.changes.append((gone.pop(file, name), name, file))
            self.changes += [(name, None, file) for file, name in gone.items() if name not in names]
            self.seen = names

    def after_power_cut(self, rng: random.Random, data: float, names: float) -> dict[str, bytes]:
        """Return the files that are found, if so large a part of what was not synchronised has survived."""
        found, changes = dict(self.names), list(self.changes)
        if names < 1:
            rng.shuffle(changes)
        for old, new, file in changes:
            if rng.random() < names:
                found.pop(old, None)
                if new is not None:
                    found[new] = file
        return {name: self._content(file, rng, data) for name, file in found.items()}

    def _content(self, file: int, rng: random.Random, part: float) -> bytes:
        versions = self.versions[file]
        if part in (0, 1) or len(versions) == 1:
            return versions[-int(part)]
        size = len(rng.choice(versions))
        pages = []
        for start in range(0, size, PAGE):
            version = rng.choice(versions[1:]) if rng.random() < part else versions[0]
            pages.append(version[start : start + PAGE].ljust(PAGE, b"\0"))
        return b"".join(pages)[:size]


def find_fault(
    recorder: Recorder, name: str, read: Callable[..., Any], rng: random.Random, samples: int = 20, lasting: bool = True
) -> str | None:
    """Return what a power cut can do to a file beyond leaving it as it was or as it was to be, None if nothing.

    After each step the extremes are tried, and ``samples`` cases between them; each content that can be left is read
    with ``read``. If ``lasting``, what was there when the writer returned must not be lost any more.
    """
    steps = recorder.steps
    _, names, data = steps[0]
    contents, returned, whole = [data.get(names.get(name))], [], set()
    for what, *seen in steps:
        if what == "seen":
            names, data = seen
        elif what == "returned":
            contents.append(data.get(names.get(name)))
        returned.append(len(contents) - 1)
    disk = Disk(*steps[0][1:])
    for number, (step, now) in enumerate(zip(steps, returned, strict=True), 1):
        disk.do(*step)
        for parts in _EXTREMES + [(rng.random(), rng.random()) for _ in range(samples)]:
            files = disk.after_power_cut(rng, *parts)
            content = files.get(name)
            if content not in contents[now if lasting else 0 : now + 2]:
                left = f"holds {len(content):,} bytes, neither old nor new" if content is not None else "is gone"
                left = "is not the new one" if content in contents else left
                return f"{name} {left}, after a power cut at step {number} of {len(steps)}"
            if content is not None and content not in whole:
                whole.add(content)
                with tempfile.TemporaryDirectory() as folder:
                    for other, data in files.items():
                        Path(folder, other).write_bytes(data)
                    read(Path(folder, name))
    return None


def attack(rng: random.Random) -> str | None:
    """Let one of the package's writers write a file twice, and cut the power at every step; return what broke."""
    kind = rng.choice(sorted(WRITERS))
    prepare, read = WRITERS[kind]
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file")
        if rng.random() < 0.7:
            prepare(Path(scratch), rng.randrange(10**6))(path)
        write = prepare(Path(scratch), rng.randrange(10**6))
        with Recorder(path.parent) as recorder:
            write(path)
            recorder.returned()
        fault = find_fault(recorder, path.name, read, rng, samples=5, lasting=kind != "rows")
    return fault and f"{kind}: {fault}"
