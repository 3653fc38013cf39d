"""Small files of every format, and all that a stream says about one."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp


def every_format(folder, columns):
    """Write columns of text and integers as a table in every format; return the files."""
    names, rows = list(columns), list(zip(*columns.values(), strict=True))
    (folder / "a.csv").write_text("".join(";".join(map(str, row)) + "\n" for row in [names, *rows]))
    (folder / "a.tsv").write_text("".join("\t".join(map(str, row)) + "\n" for row in [names, *rows]))
    (folder / "a.jsonl").write_text("".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows))
    pa.parquet.write_table(pa.table(columns), folder / "a.parquet")
    return [folder / f"a.{ending}" for ending in ("csv", "tsv", "jsonl", "parquet")]


COLOURS = ["red", "green", "blue"]


def cell(k):
    return {"x": k % 7 - 3, "z": round(0.1 * (k % 11), 1), "c": COLOURS[k % 3], "y": "yes" if k % 7 > 2 else "no"}


def example(folder, kind):
    """Write 60 rows in some format; return the path and the options that open it."""
    rows, path = [cell(k) for k in range(60)], folder / kind
    X, y = np.array([[row["x"], row["z"]] for row in rows]), np.array([row["y"] for row in rows])
    if kind in ("a.csv", "skip.csv", "hash.csv"):
        lines = [",".join(map(str, row.values())) for row in rows]
        if kind == "skip.csv":
            lines[10] = lines[40] = "1,?,red,yes"
        path.write_text("\n".join(["x,z,c,y", *lines]))
        options = {"on_error": "skip"} if kind == "skip.csv" else {}
        hashed = {"categories": "hash", "bits": 5, "keep_words": True}
        return path, {"target": "y"} | (hashed if "hash" in kind else options)
    if kind == "weights.jsonl.gz":
        path.write_bytes(gzip.compress("\n".join(json.dumps(row) for row in rows).encode()))
        return path, {"target": "y", "weight": "z"}
    if kind.startswith("svm"):
        path.write_text("".join(f"{1 if k % 7 > 2 else -1} 0:{r['x']} {1 + k}:{r['z']}\n" for k, r in enumerate(rows)))
        return path, {}
    if kind == "a.vw":  # some lines have a weight
        text = (f"{1 if k % 7 > 2 else -1} {2 if k > 40 else ''} |a {r['c']} x:{r['x']}" for k, r in enumerate(rows))
        path.write_text("\n".join(text))
        return path, {"bits": 6}
    if kind == "lists.parquet":
        lists = {"indices": [[0, k + 1] for k in range(60)], "values": X.tolist()}
        pa.parquet.write_table(pa.table({"y": y, **lists}), path)
        return path, {"target": "y"}
    if kind.startswith("labels"):
        y = {"bool": y == "yes", "float": np.where(y == "yes", 2.0, -1.0), "int8": np.int8(y == "yes")}[kind[7:-4]]
    if kind == "sparse.npz":
        S = sp.csr_array(X)
        np.savez(path, data=S.data, indices=S.indices, indptr=S.indptr, shape=S.shape, format=b"csr", y=y)
    else:
        np.savez(path, X=X.astype(np.float32) if "float" in kind else X, y=y)
    return path, {}


KINDS = ["a.csv", "skip.csv", "hash.csv", "weights.jsonl.gz", "svm", "a.vw", "lists.parquet", "sparse.npz"]
KINDS += ["labels-bool.npz", "labels-float.npz", "labels-int8.npz"]


def told(stream):
    """All rows of a stream, and all that it says when it has been read."""
    blocks = list(stream)
    width = stream.n_features
    X = [block.X if isinstance(block.X, np.ndarray) else block.X[:].toarray() for block in blocks]
    X = np.concatenate([np.pad(part, [(0, 0), (0, width - part.shape[1])]) for part in X])
    weight = np.concatenate([np.ones(len(block)) if block.weight is None else block.weight for block in blocks])
    y = np.concatenate([block.y for block in blocks])
    firsts = np.cumsum([0, *map(len, blocks)])[:-1].tolist()
    assert [block.first for block in blocks] == firsts
    assert len({sp.issparse(block.X) for block in blocks}) == 1
    checked = [block.is_validated for block in blocks]
    assert len(set(checked)) == 1
    return [
        checked[0],
        X.tolist(),
        X.dtype,
        repr(y.tolist()),
        y.dtype.kind,
        weight.tolist(),
        sp.issparse(blocks[0].X),
    ], counts(stream)


def counts(stream):
    numbers = (stream.rows_read, stream.share_read, stream.n_features, stream.skipped, stream.unseen)
    return [*numbers, stream.feature_names, stream.preparation, stream.fingerprint]
