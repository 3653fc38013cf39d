"""Damaged binary files, made from small sound ones by changing some bytes, and a program that reads many of them.

It runs as a process of its own with little memory, as a reader that trusts what it reads might crash.
"""

import datetime
import io
import random
import resource
import struct
import sys
import warnings
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp

from rosenblatt import data
from rosenblatt.blocks import is_sparse
from rosenblatt.messages import ParameterError

ROWS = 20
MEMORY = 4 << 30
EXTREME = (0, 1, -1, 127, 255, 1 << 16, (1 << 31) - 1, -1 << 31, 1 << 33, 1 << 40, (1 << 63) - 1, -1 << 63)
SHAPES = (b"(20", b"(-1,", b"(2**63,", b"(9999999999,", b"(20.,", b"(5,4,", b"(0,", b"((", b"('a',")


def columns():
    """A column of each type."""
    day = datetime.datetime(2020, 1, 1)
    words = pa.array(["u", "a word of more than twelve bytes"])
    known = pa.DictionaryArray.from_arrays([k % 2 for k in range(ROWS)], words)
    return {
        "i": pa.array([None if k % 7 == 3 else k for k in range(ROWS)], pa.int64()),
        "f": pa.array([k / 3 for k in range(ROWS)]),
        "h": pa.array(np.arange(ROWS).astype(np.float16)),
        "b": pa.array([k % 3 == 0 for k in range(ROWS)]),
        "s": pa.array([("red", "green", None, "blue")[k % 4] for k in range(ROWS)]),
        "ls": pa.array([("red", "green", "blue")[k % 3] for k in range(ROWS)], pa.large_string()),
        "d": known,
        "n": pa.array(range(ROWS)).cast(pa.decimal128(24, 2)),
        "t": pa.array([day + datetime.timedelta(k) for k in range(ROWS)]),
        "l": pa.array([list(range(k % 4)) for k in range(ROWS)]),
        "st": pa.array([{"a": k, "b": str(k)} for k in range(ROWS)]),
        "indices": pa.array([list(range(k % 5)) for k in range(ROWS)], pa.list_(pa.int32())),
        "values": pa.array([[1.5] * (k % 5) for k in range(ROWS)], pa.list_(pa.float32())),
        "y": pa.array([("yes", "no")[k % 2] for k in range(ROWS)]),
    }


TABLES = (
    {"target": "y", "drop": ["l", "st", "indices", "values", "t"], "missing": "zero"},
    {
        "target": "y",
        "columns": ["t", "d", "s", "n"],
        "column_types": {"t": "category"},
        "on_error": "skip",
        "missing": "mean",
    },
    {"target": "d", "columns": ["f", "h", "ls", "b"], "weight": "i", "on_error": "skip"},
    {"target": "y", "columns": ["indices", "values"]},
    {"target": "l", "columns": ["f"]},
)
"""Ways to open a table, so that each column is read by some."""


def stored_table(kind):
    """The bytes of a table: an Arrow file or stream, or a Parquet file, compressed or not."""
    table, sink = pa.table(columns()), io.BytesIO()
    form, _, compression = kind.partition("-")
    if form == "parquet":
        pa.parquet.write_table(table, sink, compression=compression, row_group_size=12)
        return sink.getvalue()
    if not compression:  # pyarrow 18 crashes where it compresses them
        table = table.append_column("v", table["s"].cast(pa.string_view()))
    options = pa.ipc.IpcWriteOptions(compression=compression or None)
    make = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
    with make(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=8)
    return sink.getvalue()


def stored_arrays(kind):
    """The bytes of an .npz file with ``X``, or with a CSR matrix, and ``y``."""
    X, y, sink = np.arange(3.0 * ROWS).reshape(ROWS, 3) % 4, np.arange(ROWS) % 2, io.BytesIO()
    form, _, compression = kind.partition("-")
    if form == "rows":
        save = np.savez_compressed if compression else np.savez
        save(sink, X=X, y=y.astype("S3"))
        return sink.getvalue()
    sp.save_npz(sink, sp.csr_array(X), compressed=bool(compression))
    with zipfile.ZipFile(sink, "a") as archive, archive.open("y.npy", "w") as file:
        np.lib.format.write_array(file, y)
    return sink.getvalue()


KINDS = {
    **dict.fromkeys(("file", "file-lz4", "stream", "stream-zstd", "parquet-snappy", "parquet-none"), stored_table),
    **dict.fromkeys(("rows", "rows-deflated", "csr", "csr-deflated"), stored_arrays),
}


def mutated(rng, content):
    """Some bytes with a few changed, removed, added or repeated, or replaced by extreme integers."""
    content = bytearray(content)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        k, choice = rng.randrange(len(content)), rng.randrange(7)
        if choice == 0:
            content[k] ^= 1 << rng.randrange(8)
        elif choice == 1:
            content[k] = rng.randrange(256)
        elif choice == 2:
            del content[k : k + rng.randrange(1, 9)]
        elif choice == 3:
            content[k:k] = content[k : k + rng.randrange(1, 65)]
        elif choice == 4:
            place = 4 * (k // 4)
            content[place : place + 4] = struct.pack("<q", rng.choice(EXTREME))[:4]
        elif choice == 5:
            place = 8 * (k // 8)
            content[place : place + 8] = struct.pack("<q", rng.choice(EXTREME))
        elif rng.random() < 0.3:
            del content[k + 1 :]
    return bytes(content)


def mutated_archive(rng, content):
    """An .npz file with one array changed inside, its checksum right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name, sink = rng.choice(sorted(members)), io.BytesIO()
    members[name] = mutated(rng, members[name])
    if rng.random() < 0.3:
        members[name] = members[name].replace(b"(20,", rng.choice(SHAPES), 1)
    with zipfile.ZipFile(sink, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, stored in members.items():
            archive.writestr(name, stored)
    return sink.getvalue()


def outcome(path, **options):
    """What becomes of a file: "read", "refused" in one sentence that names it, or what else."""
    try:
        for block in data.open(path, threads=0, **options):
            assert len(block.y.tolist()) == block.X.shape[0]
            assert np.isfinite(block.X.data if is_sparse(block.X) else block.X).all()
    except ParameterError as error:
        sentence = str(error)
        one = path in sentence and sentence.isprintable() and len(sentence) < 2000
        return "refused" if one else f"a bad sentence: {sentence!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error!r}"
    return "read"


def main(kind, first, last, path):
    """Print what becomes of the mutants with these numbers."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    is_table = KINDS[kind] is stored_table
    content, format = KINDS[kind](kind), "npz" if not is_table else "parquet" if "parquet" in kind else "arrow"
    for number in range(first, last):
        rng = random.Random(number)
        change = mutated if is_table or rng.random() < 0.4 else mutated_archive
        with open(path, "wb") as file:
            file.write(change(rng, content))
        options = rng.choice(TABLES) if is_table else rng.choice(({}, {"on_error": "skip", "missing": "zero"}))
        print(outcome(path, format=format, **options), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
