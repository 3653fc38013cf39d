"""An unhealthy cache of compiled kernels costs time and a warning, and nothing else; and what is relied on of numba."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary

from rosenblatt.kernels import compiler, jit, parts
from rosenblatt.kernels.jit import KernelCache, compiled_kernel
from rosenblatt.kernels.row_ops import sign_threshold

pytestmark = pytest.mark.skipif(compiler.SETTING == "never", reason="nothing is compiled")

CODE = """
import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from rosenblatt.kernels.orders import visiting_order
    order = visiting_order(6, seed=0)
assert order.tolist() == [1, 3, 4, 0, 2, 5]
print(*(str(warning.message) for warning in seen), sep="\\n")
"""
FULL = """
from numba.core.caching import IndexDataCacheFile as File
def full(*_): raise OSError(28, 'No space left on device')
File.save = full
"""


class Planted:
    """What runs code when it is unpickled."""

    def __reduce__(self):
        return exec, ("print('run by its file')",)


def run(folder, before="", umask=-1, after=""):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "ROSENBLATT_COMPILE": "always"}
    words = [sys.executable, "-c", before + CODE + after]
    ran = subprocess.run(words, env=env, umask=umask, capture_output=True, text=True, check=False)
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


def test_kernels_count_no_references(tmp_path, monkeypatch):
    """An array that kernels were given a hundred times has no more references than before."""
    monkeypatch.setattr(jit, "_FOLDER", tmp_path)  # numba shows no code that it has from a cache

    @compiled_kernel
    def first_of(pair, k):
        return pair[0][k]

    array = np.arange(3.0)
    before = sys.getrefcount(array)
    assert [first_of((array, 1.0), k % 3) for k in range(100)] == [float(k % 3) for k in range(100)]
    assert sys.getrefcount(array) == before
    (text,) = first_of.inspect_llvm().values()
    assert "call void @NRT_incref" not in text


@pytest.fixture
def finished(monkeypatch):
    """Note which code is translated to machine code, and whether the garbage collector is at work then."""
    found, finish = [], JITCodeLibrary._finalize_specific

    def noted(library):
        found.append((library.name, gc.isenabled()))
        finish(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", noted)
    return found


def threshold(terms, size):
    return 2.0 * sign_threshold(terms, size)


def test_only_kernels_become_machine_code(tmp_path, monkeypatch, finished):
    monkeypatch.setattr(jit, "_FOLDER", tmp_path)
    compiled = compiled_kernel(threshold)
    assert compiled(np.int32(3), 1.5) == threshold(3, 1.5)
    assert [name for name, _ in finished] == ["threshold"]


def test_the_garbage_collector_stops_while_kernels_are_compiled(tmp_path, monkeypatch, finished):
    monkeypatch.setattr(jit, "_FOLDER", tmp_path)
    compiled_kernel(threshold)(np.int16(3), 1.5)
    assert gc.isenabled()
    gc.disable()
    try:
        compiled_kernel(threshold)(np.int16(3), 1.5)
        assert not gc.isenabled(), "as the user has it"
    finally:
        gc.enable()
    numba.njit(lambda x: x + 1.0)(1.0)
    assert [is_enabled for _, is_enabled in finished] == [False, False, True], "others' functions are left alone"


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="no signals")
def test_an_interrupt_waits_until_a_kernel_is_compiled(tmp_path, monkeypatch):
    """Between LLVM and its callbacks it could end the process."""
    monkeypatch.setattr(jit, "_FOLDER", tmp_path)
    compiled, finish = compiled_kernel(threshold), JITCodeLibrary._finalize_specific

    def interrupted(library):
        signal.raise_signal(signal.SIGINT)
        finish(library)

    monkeypatch.setattr(JITCodeLibrary, "_finalize_specific", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compiled(np.int8(3), 1.5)
    assert len(compiled.signatures) == 1, "and it need not be compiled again"
    assert gc.isenabled()
    assert compiled(np.int8(3), 1.5) == threshold(3, 1.5)


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


FOREIGN = [lambda path: path.chmod(path.stat().st_mode | 0o002), lambda path: path.chmod(path.stat().st_mode | 0o020)]
"""What is done to a file that others may then have written."""
if hasattr(os, "geteuid") and os.geteuid() == 0:  # only root can give files away
    FOREIGN.append(lambda path: os.chown(path, 12345, -1))
owned = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


@owned
@pytest.mark.parametrize("foreign", FOREIGN)
def test_nothing_is_loaded_that_others_may_have_written(tmp_path, monkeypatch, foreign):
    ours = ["rosenblatt", "rosenblatt/hash", "rosenblatt/hash/sub", "rosenblatt/hash/sub/kernel.nbi"]
    for number, name in enumerate([".", *ours]):
        folder = tmp_path / str(number) / "rosenblatt" / "hash"
        assert jit._is_safe(folder)
        (folder / "sub").mkdir(0o700)
        (folder / "sub" / "kernel.nbi").touch(0o600)
        foreign(tmp_path / str(number) / name)
        jit._is_safe.cache_clear()
        monkeypatch.setattr(KernelCache, "has_warned", False)
        monkeypatch.setattr(jit, "_FOLDER", folder)
        if name == ".":
            assert jit._is_safe(folder), "what is above is the user's own affair"
            continue
        with pytest.warns(RuntimeWarning, match=f"{name} (belongs to another user|can be written by other users), so"):
            function = compiled_kernel(lambda x: x + 1.0)
        assert function(1.0) == 2.0
        assert [path.name for path in (folder / "sub").iterdir()] == ["kernel.nbi"], "and nothing is stored"


@owned
@pytest.mark.slow
@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_only_the_user_can_write_compiled_kernels_and_others_are_not_loaded(tmp_path, umask):
    assert run(tmp_path, umask=umask) == ""
    ours = [tmp_path / "rosenblatt", *(tmp_path / "rosenblatt").rglob("*")]
    assert len(ours) > 4
    for path in ours:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    codes = [path for path in ours if path.suffix == ".nbc"]
    stored = [path.stat().st_mtime_ns for path in codes]
    assert run(tmp_path, umask=umask) == ""
    assert [path.stat().st_mtime_ns for path in codes] == stored, "they are loaded, not compiled again"
    for path in codes:
        path.write_bytes(pickle.dumps(Planted()))
    assert "run by its file" in run(tmp_path), "which would be dangerous"
    for path in codes:
        path.write_bytes(pickle.dumps(Planted()))
    for foreign in FOREIGN:
        foreign(codes[0])
        words = run(tmp_path)
        assert "are not used" in words
        assert "run by its file" not in words


def test_numba_may_choose_no_other_folder(tmp_path, monkeypatch):
    """Where the folder cannot be written, numba would take ``__pycache__`` or a folder of its own."""
    real = tempfile.TemporaryFile

    def full(*words, dir=None, **named):
        if str(dir).startswith(str(tmp_path)):
            raise OSError(28, "No space left on device")
        return real(*words, dir=dir, **named)

    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    (tmp_path / "file").touch()
    for folder in (tmp_path / "rosenblatt" / "hash", tmp_path / "file" / "rosenblatt" / "hash"):
        monkeypatch.setattr(jit, "_FOLDER", folder)
        monkeypatch.setattr(KernelCache, "has_warned", False)
        with pytest.warns(RuntimeWarning, match="could not be written"):
            function = compiled_kernel(lambda x: x + 1.0)
        assert function(1.0) == 2.0
        assert function._cache.cache_path is None


def test_a_link_to_a_folder_of_the_user_is_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    (tmp_path / "elsewhere").mkdir(0o700)
    (tmp_path / "rosenblatt").symlink_to(tmp_path / "elsewhere")
    assert parts.cache_folder().parent == tmp_path / "elsewhere"
    assert jit._is_safe(parts.cache_folder())


def test_a_kernel_from_the_cache_imports_no_compiler(tmp_path):
    """What numba needs to compile takes a fifth of a second to import."""
    run(tmp_path)
    after = "import sys\nassert 'numba' in sys.modules\nassert 'numba.np.linalg' not in sys.modules\n"
    assert run(tmp_path, after=after) == ""
