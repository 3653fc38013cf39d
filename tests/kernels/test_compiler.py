"""An unhealthy cache of compiled kernels costs time and a warning, and nothing else; and what is relied on of numba."""

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache, IndexDataCacheFile

from rosenblatt.kernels.compiler import KernelCache, kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

CODE = """
import warnings
from rosenblatt.kernels.orders import visiting_order
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    order = visiting_order(6, seed=0)
assert order.tolist() == [1, 3, 4, 0, 2, 5]
print(*(str(warning.message) for warning in seen), sep="\\n")
"""
FULL = """
from numba.core.caching import IndexDataCacheFile as File
def full(*_): raise OSError(28, 'No space left on device')
File.save = full
"""


def run(folder, before=""):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    ran = subprocess.run([sys.executable, "-c", before + CODE], env=env, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.strip()


def test_what_is_relied_on_of_numba(tmp_path, monkeypatch):
    """Beyond its public names: where a dispatcher keeps its cache, how that loads, saves and writes, and ``_nrt``."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled = numba.njit(lambda x: x + 1.0, _nrt=False, forceinline=True, no_cpython_wrapper=False)
    assert hasattr(compiled, "_cache"), "kernel() puts a KernelCache there"
    for name in ("load_overload", "save_overload", "flush"):
        assert callable(getattr(FunctionCache, name))
    cache = FunctionCache(compiled.py_func)
    assert isinstance(cache._cache_file, IndexDataCacheFile), "KernelCache puts one there that syncs"
    assert Path(cache._cache_path).is_relative_to(tmp_path), "numba's setting of the folder counts when a cache is made"
    assert cache._impl.filename_base
    assert cache._impl.locator.get_source_stamp()
    with cache._cache_file._open_for_write(str(tmp_path / "file")) as file:
        assert file.fileno() > 0
        assert not (tmp_path / "file").exists(), "a file gets its name when it is written"
    assert (tmp_path / "file").exists()


def test_kernels_count_no_references():
    """An array that kernels were given a hundred times has no more references than before."""

    @kernel
    def first_of(pair, k):
        return pair[0][k]

    array = np.arange(3.0)
    before = sys.getrefcount(array)
    assert [first_of((array, 1.0), k % 3) for k in range(100)] == [float(k % 3) for k in range(100)]
    assert sys.getrefcount(array) == before
    (text,) = first_of.inspect_llvm().values()
    assert "call void @NRT_incref" not in text


def test_damaged_files_are_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    compiled = numba.njit(lambda x: x + 1.0)
    cache = KernelCache(compiled.py_func)
    compiled(1.0)
    ((signature, result),) = compiled.overloads.items()
    cache.save_overload(signature, result)
    assert cache.load_overload(signature, compiled.targetctx) is not None
    monkeypatch.setattr(KernelCache, "has_warned", False)
    for path in tmp_path.rglob("*.nb?"):
        path.write_bytes(b"garbage")
    with pytest.warns(RuntimeWarning, match="could not be read"):
        assert cache.load_overload(signature, compiled.targetctx) is None
    cache.save_overload(signature, result)
    assert cache.load_overload(signature, compiled.targetctx) is not None, "and it is healthy again"


@pytest.mark.slow
def test_processes_compile_damaged_files_anew(tmp_path):
    assert run(tmp_path) == ""
    for suffix, damage in product((".nbi", ".nbc"), (b"", b"garbage", None)):
        damaged = list(tmp_path.rglob(f"*{suffix}"))
        assert damaged
        for path in damaged:
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2] if damage is None else damage)
        words = run(tmp_path)
        assert words.count("could not be read") == 1, words
        assert str(tmp_path) in words
        assert run(tmp_path) == "", "and it is healthy again"


@pytest.mark.slow
def test_a_cache_that_cannot_be_written(tmp_path):
    assert run(tmp_path, before=FULL).count("could not be written (OSError)") == 1
