"""Caches of compiled kernels that others own or may write: nothing in them is run, and ours is for its user alone."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numba

PROGRAM = """
import json, os, sys, warnings
os.umask(int(sys.argv[1]))
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    from rosenblatt.kernels.compiler import cache_folder
    from rosenblatt.kernels.jit import compiled_kernel
    import square
    value = compiled_kernel(square.square)(7)
print(json.dumps([value, str(cache_folder()), [str(one.message) for one in found]]))
"""
STRANGER = 65534


class Planted:
    """What makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


def attack(rng: random.Random) -> str | None:
    """Fill a cache, plant code in it, let another user have a part of it or not, and use it again."""
    place, mask = Path(tempfile.mkdtemp()), rng.choice([0o000, 0o002, 0o022, 0o027, 0o077])
    modules, chosen, mark = place / "modules", place / "chosen", place / "was-run"
    modules.mkdir()
    (modules / "square.py").write_text("def square(a):\n    return a * a\n")
    chosen.mkdir()
    chosen.chmod(rng.choice([0o700, 0o755, 0o777]))  # whose business it is
    if rng.random() < 0.1:
        (chosen / "rosenblatt").write_text("in the way")
        value, _, told = _use(modules, chosen, mask)
        if value != 49 or not any("could not be written" in text for text in told):
            return f"a file in the way of the cache: {value}, {told}"
        return _written_elsewhere(modules, chosen)
    value, folder, told = _use(modules, chosen, mask)
    if value != 49 or told:
        return f"an empty cache: {value}, {told}"
    ours = [folder.parent, folder, *folder.rglob("*")]
    open_ = [f"{path.name} {path.stat().st_mode & 0o777:o}" for path in ours if path.stat().st_mode & 0o077]
    if open_:
        return f"others may use {open_}, umask {mask:o}"
    files = [path for path in ours if path.is_file()]
    (index,) = [path for path in files if path.suffix == ".nbi"]
    planted = pickle.dumps(numba.__version__) + pickle.dumps(Planted(mark))
    index.write_bytes(planted)
    part = rng.choice(ours)
    how = rng.choice(["ours", "group", "others", "both", *(["owner"] if os.geteuid() == 0 else [])])
    if how == "owner":
        os.chown(part, STRANGER, -1)
    elif how != "ours":
        part.chmod(part.stat().st_mode | {"group": 0o020, "others": 0o002, "both": 0o022}[how])
    what = f"{part.relative_to(chosen)} is {how}, umask {mask:o}"
    value, _, told = _use(modules, chosen, mask)
    if value != 49:
        return f"{what}: 7 * 7 is {value}"
    if how == "ours":
        return None if mark.exists() else f"{what}: the planted code was not run, so that this attack shows nothing"
    if mark.exists():
        return f"{what}: planted code was run"
    if index.read_bytes() != planted:
        return f"{what}: the cache was written to"
    named = "belongs to another user" if how == "owner" else "can be written by other users"
    if len(told) != 1 or not told[0].startswith(f"compiled kernels in {folder} ") or f"{part} {named}" not in told[0]:
        return f"{what}: {told}"
    return _written_elsewhere(modules, chosen)


def _use(modules: Path, chosen: Path, mask: int) -> tuple[int, Path, list[str]]:
    """Return what a fresh process computes with that cache, its folder, and what it was warned of."""
    paths = os.pathsep.join([str(modules), *filter(None, sys.path)])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(chosen), "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-c", PROGRAM, str(mask)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    value, folder, told = json.loads(done.stdout.splitlines()[-1])
    return value, Path(folder), told


def _written_elsewhere(modules: Path, chosen: Path) -> str | None:
    """Where the cache is not used, numba must not choose another place."""
    ours = chosen / "rosenblatt"
    found = [path for path in [*modules.rglob("*.nb?"), *chosen.rglob("*.nb?")] if ours not in path.parents]
    return f"kernels were stored in {found}" if found else None
