"""Damaged files of every format: rows, or a sentence that names the file."""

from __future__ import annotations

import bz2
import datetime
import functools
import gzip
import io
import lzma
import random
import shutil
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import scipy.sparse as sp

from helpers.commands import command
from helpers.mutating import mutated_bytes
from helpers.workbooks import write_ods, write_xlsx
from rosenblatt import data
from rosenblatt.messages import ParameterError

CSV = 'a,b,c,y\n1,red,"x, y",0\n2.5,blue,"z ""q"" ",1\n-3e2,red,w,0\n4,blue,"line\nbreak",1\n5,red,v,1\n'
JSON = '{"a":1,"b":"red","y":0}\n{"a":2.5,"b":"blue","y":1}\n{"a":-3e2,"b":null,"y":0}\n{"a":4,"b":"é","y":1}\n'
SVMLIGHT = "+1 1:0.5 3:-2e3 # a comment\n-1 2:1 4:.25\n+1 qid:3 1:7\n-1\n1 1:1e-5 2:3 5:1\n"
VW = "1 |a x:2 y |b z\n-1 0.5 'tag |a x y:0.25\n1 |a w |c x:1e3\n-1 | plain words here\n"
DAY = datetime.datetime(2020, 1, 1)
SHAPES = (b"(20", b"(-1,", b"(2**63,", b"(9999999999,", b"(8.,", b"(2,4,", b"(0,", b"((", b"('a',")


def zstd(content: bytes) -> bytes:
    """Return bytes as a frame of zstd."""
    return pa.compress(content, codec="zstd", asbytes=True)


COMPRESSORS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, ".zst": zstd}
WORKBOOKS = (".xlsx", ".ods")
ARCHIVES = (".npz", *WORKBOOKS)


def attack(rng: random.Random) -> str | None:
    """Damage a file, and read it with some options."""
    files = healthy_files()
    archives = [file for file in files if file[0].endswith(ARCHIVES)]
    name, content = rng.choice(archives if rng.random() < 0.3 else files)
    inside = name.endswith(ARCHIVES) and rng.random() < 0.5
    damaged = _mutated_archive(rng, content) if inside else mutated_bytes(rng, content)
    if not name.endswith((".parquet", ".arrow", ".feather", *ARCHIVES)) and rng.random() < 0.4:
        end, compress = rng.choice(sorted(COMPRESSORS.items()))
        name, damaged = name + end, compress(damaged)
        if rng.random() < 0.5:
            damaged = mutated_bytes(rng, damaged)
    path = Path(tempfile.mkdtemp()) / name
    path.write_bytes(damaged)
    options = _options(rng, name)
    if rng.random() < 0.03:
        return _at_the_command(path, options)
    try:
        stream = data.open(path, **options)
        for block in stream:
            if len(block.y) != block.X.shape[0]:
                return f"{block.X.shape[0]} rows and {len(block.y)} labels"
            numbers = block.X.data if sp.issparse(block.X) else block.X
            if not np.isfinite(numbers).all():
                return f"a number that is not finite, {options}"
    except ParameterError:
        return None  # an option that does not fit what the file has become
    except ValueError as refusal:
        text = str(refusal)
        if not text.endswith(".") or "\n" in text or len(text) > 1500 or path.name not in text:
            return f"no sentence that names the file, {options}: {type(refusal).__name__} {text[:1500]!r}"
    return None


@functools.cache
def healthy_files() -> list[tuple[str, bytes]]:
    """Return names and bytes of small files of every format."""
    files = [("a.csv", CSV), ("a.tsv", CSV.replace(",", "\t")), ("a.jsonl", JSON), ("a.svm", SVMLIGHT), ("a.vw", VW)]
    out = [(name, text.encode()) for name, text in files]
    encodings = ("utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252")
    out += [("a.csv", text.encode(encoding)) for encoding in encodings for text in (CSV, CSV.replace("red", "caf\xe9"))]
    out.append(("a.csv", f"A title\n\n{CSV}".encode()))
    lines = [["a", "b", "d", "y"], *([i / 4, "red" if i % 3 else None, DAY, i % 2] for i in range(12))]
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    for write, end in ((write_xlsx, "xlsx"), (write_ods, "ods")):
        for sheets in ({"rows": lines}, {"notes": [["a title"]], "rows": lines}):
            content = write(folder / "workbook", sheets).read_bytes()
            out.append((f"a.{end}", _archive(_members(content), zipfile.ZIP_DEFLATED)))
    shutil.rmtree(folder)
    n = 12
    plain = {"a": np.arange(n) / 4, "b": pa.array(["red", "blue", "red"] * 4), "i": pa.array(range(n), pa.int16())}
    plain |= {"t": pa.array([i % 2 == 0 for i in range(n)]), "y": pa.array([0, 1] * 6)}
    words = pa.array(["red", "blue", None] * 4).dictionary_encode()
    lists = {"x": pa.array([[1.0, 2.0, float(i)] for i in range(n)], pa.list_(pa.float64())), "y": plain["y"]}
    sparse = {
        "indices": pa.array([[0, i % 5 + 1] for i in range(n)]),
        "values": pa.array([[1.0, 2.0]] * n),
        "y": plain["y"],
    }
    typed = {
        "h": pa.array(np.arange(n, dtype=np.float16)),
        "s": pa.array(["a word of more than twelve bytes", "u", None] * 4).cast(pa.large_string()),
        "n": pa.array(range(n)).cast(pa.decimal128(24, 2)),
        "d": pa.array([DAY + datetime.timedelta(i) for i in range(n)]),
        "l": pa.array([{"a": i, "b": [str(i)] * (i % 4)} for i in range(n)]),
    }
    nested = {"y": pa.array([[i] for i in range(n)])}
    for columns in (plain, plain | typed, plain | {"b": words}, lists, sparse, plain | nested):
        table = pa.table(columns)
        for compression in ("uncompressed", "lz4", "zstd"):
            feather.write_feather(table, sink := io.BytesIO(), compression=compression)
            out.append(("a.feather", sink.getvalue()))
        with pa.ipc.new_stream(sink := io.BytesIO(), table.schema) as writer:
            writer.write_table(table, max_chunksize=5)
        out.append(("a.arrow", sink.getvalue()))
        for compression in ("none", "snappy", "zstd"):
            parquet.write_table(table, sink := io.BytesIO(), compression=compression, row_group_size=5)
            out.append(("a.parquet", sink.getvalue()))
    X, y = np.arange(24.0).reshape(8, 3), np.arange(8) % 2
    csr = sp.random_array((8, 5), density=0.5, format="csr", rng=0)
    for write in (np.savez, np.savez_compressed):
        for arrays in ({"X": X, "y": y}, {"X": np.asfortranarray(X.astype(np.float32)), "y": y.astype("U3")}):
            write(sink := io.BytesIO(), **arrays)
            out.append(("a.npz", sink.getvalue()))
        parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr, "shape": csr.shape, "y": y}
        write(sink := io.BytesIO(), format=np.bytes_("csr"), **parts)
        out.append(("a.npz", sink.getvalue()))
    return out


def _mutated_archive(rng: random.Random, content: bytes) -> bytes:
    """Return an .npz file or a workbook with one part changed inside, its checksum right again."""
    members = _members(content)
    name = rng.choice(sorted(members))
    members[name] = mutated_bytes(rng, members[name])
    if rng.random() < 0.3:
        members[name] = members[name].replace(b"(8,", rng.choice(SHAPES), 1)
    return _archive(members, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def _members(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _archive(members: dict[str, bytes], compression: int) -> bytes:
    """Return a zip archive that does not depend on the time."""
    with zipfile.ZipFile(sink := io.BytesIO(), "w") as archive:
        for name, stored in members.items():
            archive.writestr(zipfile.ZipInfo(name), stored, compression)
    return sink.getvalue()


def _options(rng: random.Random, name: str) -> dict[str, Any]:
    options: dict[str, Any] = {"threads": rng.choice([0, 2])}
    if rng.random() < 0.5:
        options["on_error"] = "skip"
    if name.startswith("a.svm"):
        return options | {"format": "svmlight"}
    if name.startswith("a.vw"):
        return options | {"format": "vw", "bits": 10}
    if name == "a.csv" and rng.random() < 0.3:
        options |= {"encoding": rng.choice(["utf-8", "cp1252", "utf-16", "utf-32-be", "shift_jis", "utf-7"])}
    if name.endswith(WORKBOOKS) and rng.random() < 0.3:
        options |= {"sheet": "rows"}
    if name.startswith("a.csv") or name.endswith(WORKBOOKS):
        options |= {"skip_rows": rng.choice([0, 0, 0, 2])}
    if rng.random() < 0.5:
        options["missing"] = rng.choice(["zero", "mean"])
    if not name.endswith(".npz") and rng.random() < 0.3:
        options |= {"column_types": {"b": rng.choice(["category", "text", "number"])}, "bits": 8}
    if not name.endswith(".npz") and rng.random() < 0.5:
        options |= {"on_ambiguous": "drop"}
    return options | {"target": "y"}


def _at_the_command(path: Path, options: dict[str, Any]) -> str | None:
    words = [
        f"--{name}={options[name]}"
        for name in ("target", "format", "bits", "missing", "encoding", "sheet")
        if name in options
    ]
    result = command("train", path, "--passes", "2", *words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return f"the command raised {result.exception!r}"
    return None
