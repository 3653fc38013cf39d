"""Rows of .npz files: dense and CSR, what is not as expected, and memory that does not grow with the file."""

import io
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from helpers.reading import outcome
from rosenblatt import data


def test_arrays_that_are_not_as_expected(tmp_path):
    def saved(**arrays):
        np.savez(tmp_path / "a.npz", **arrays)
        return outcome(tmp_path / "a.npz", None)

    X, y = np.array([[1.0, np.nan], [3.0, 4.0], [np.inf, 2.0]]), np.array([0, 1, 1])
    ok = "X holds NaN or an infinite number, expected finite numbers"
    assert saved(X=X, y=y) == f"a.npz, row 1: {ok}."
    assert outcome(tmp_path / "a.npz", None, on_error="skip") == ([[3.0, 4.0]], [1])
    assert outcome(tmp_path / "a.npz", "y", on_error="skip", missing="mean") == ([[1.0, 3.0], [3.0, 4.0]], [0, 1])
    assert saved(X=X[1:2], y=y) == "a.npz has 1 rows in X, but 3 labels in y."
    assert saved(X=X, y=y[:1]) == "a.npz has 3 rows in X, but 1 labels in y."
    assert saved(X=X[1:2], y=np.array(["u"])) == ([[3.0, 4.0]], ["u"])
    assert saved(X=X[1:2].astype(np.int8), y=np.array([b"u"])) == ([[3.0, 4.0]], ["u"])
    assert saved(X=X[1:2], y=np.array([None])).startswith(
        "a.npz: the labels in y would have to be unpickled, which is not"
    )
    assert saved(X=np.array([[None]]), y=y[:1]).startswith("a.npz: X holds object values, expected real numbers")
    assert saved(X=X[0], y=y) == "a.npz: expected a two-dimensional X, got shape (2,)."
    assert saved(X=X, y=X) == "a.npz: expected one label for each row, got y of shape (3, 2)."
    assert saved(Z=X, y=y) == "a.npz holds Z, y, expected X and y, or a matrix that scipy.sparse.save_npz saved and y."
    assert saved(X=X[1:2], y=np.array([np.nan])) == "a.npz, row 1: the label is not a finite number."
    assert saved(X=X[1:2].astype(np.float32), y=y[:1]) == ([[3.0, 4.0]], [0])
    assert data.open(tmp_path / "a.npz").read()[0].dtype == np.float32
    other = data.open(tmp_path / "a.npz").preparation
    np.savez(tmp_path / "b.npz", X=np.ones((2, 3)), y=[0, 1])
    with pytest.raises(data.DataError, match=r"b.npz has 3 columns, expected 2 as before."):
        data.open(tmp_path / "b.npz", preparation=other)


def packed(path, members, compression=zipfile.ZIP_DEFLATED):
    """Write an archive of these bytes, or arrays as NumPy stores them; return its path."""
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in members.items():
            if not isinstance(content, bytes):
                np.lib.format.write_array(sink := io.BytesIO(), np.asarray(content), allow_pickle=True)
                content = sink.getvalue()
            archive.writestr(name, content)
    return path


def header(shape, dtype="<f8", version=(1, 0)):
    """The first bytes of an array with this shape, whatever follows."""
    text = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY" + bytes(version) + len(text).to_bytes(2 if version == (1, 0) else 4, "little") + text


def sparse_arrays(X, values=float, **changes):
    """The arrays that SciPy saves of a CSR matrix, and labels."""
    parts = {"data": X.data.astype(values), "indices": X.indices, "indptr": X.indptr}
    return {"format": np.array(b"csr"), "shape": X.shape} | parts | {"y": np.arange(X.shape[0]) % 2} | changes


@pytest.mark.parametrize("sparse", [False, True])
def test_numbers_of_every_type_are_read_in_blocks(tmp_path, sparse, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.npz._VALUES", 4)
    rng = np.random.default_rng(0)
    for values in (np.float32, np.int8, np.uint64, np.bool_, np.float16, ">f8", np.longdouble):
        dense = (rng.integers(0, 4, (10, 6)) * (rng.random((10, 6)) < 0.5)).astype(values)
        X = sparse_arrays(sp.csr_array(dense.astype(float)), values) if sparse else {"X": dense, "y": [0, 1] * 5}
        np.savez_compressed(tmp_path / "a.npz", **X)
        blocks = list(data.open(tmp_path / "a.npz"))
        assert len(blocks) > 3
        assert {block.X.dtype.str for block in blocks} == {"<f4" if values is np.float32 else "<f8"}
        if sparse:
            assert all(block.X.has_canonical_format and block.X.indices.dtype == np.int32 for block in blocks)
        rows = [block.X.toarray() if sparse else block.X for block in blocks]
        assert np.concatenate(rows).tolist() == dense.astype(float).tolist()
        assert np.concatenate([block.y for block in blocks]).tolist() == [0, 1] * 5


def test_what_is_not_stored_by_rows_is_refused_with_advice_that_works(tmp_path):
    X, y = np.array([[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]), [0, 1]
    path = tmp_path / "a.npz"
    np.savez(path, X=np.asfortranarray(X), y=y)
    found = outcome(path)
    assert found.startswith("a.npz: X is stored by columns (Fortran order), expected C order: save it by rows, as in ")
    eval(found.partition("as in ")[2].removesuffix("."), {"np": np, "X": np.asfortranarray(X), "y": y, "path": path})
    assert outcome(path) == (X.tolist(), y)
    for form in ("csc", "coo", "bsr", "dia"):
        sp.save_npz(path, sp.coo_array(X).asformat(form))
        expected = (
            f"a.npz: expected a sparse matrix in CSR format, got '{form}': save X.tocsr(), which is read row by row."
        )
        assert outcome(path, labels=False) == expected
    np.savez(path, **sparse_arrays(sp.coo_array(X).tocsr()))
    assert outcome(path) == (X.tolist(), y)


def test_entries_of_one_place_are_added_in_every_block(tmp_path, monkeypatch):
    monkeypatch.setattr("rosenblatt.data.npz._VALUES", 3)
    X = sp.csr_array(([1.0, 2.0, 4.0, 8.0, 16.0], [2, 0, 2, 1, 1], [0, 3, 3, 5]), shape=(3, 3))
    np.savez(tmp_path / "a.npz", **sparse_arrays(X))
    assert outcome(tmp_path / "a.npz") == ([[2.0, 0.0, 5.0], [0.0, 0.0, 0.0], [0.0, 24.0, 0.0]], [0, 1, 0])


DAMAGED = "a.npz holds a damaged sparse matrix "
NO_SPARSE = [
    ({"data": [1j, 2]}, "a.npz: data holds complex128 values, expected real numbers."),
    ({"data": np.array(["a", "b"])}, "a.npz: data holds <U1 values, expected real numbers."),
    ({"indices": [0.0, 1.0]}, "a.npz: indices holds float64 values, expected integers."),
    ({"indices": [0, 3]}, DAMAGED + "(an index lies outside its 3 columns)"),
    ({"indices": [-1, 0]}, DAMAGED + "(an index lies outside its 3 columns)"),
    ({"indices": np.array([0, 2**32], np.uint64)}, DAMAGED + "(an index lies"),
    ({"indptr": [0, 2, 1]}, DAMAGED + "(indptr does not ascend from 0 to 2)"),
    ({"indptr": [0, 2**63 - 1, -(2**63)]}, DAMAGED + "(indptr does not ascend"),
    ({"indptr": [1, 1, 2]}, DAMAGED + "(indptr does not ascend from 0 to 2)"),
    ({"indptr": [0, 2]}, DAMAGED + "(it has 2 rows and 3 columns, but arrays of"),
    ({"shape": [2, -3]}, DAMAGED + "(it has 2 rows and -3 columns, but arrays"),
    ({"shape": [2, 3, 1]}, "a.npz: expected a two-dimensional sparse matrix, got another shape."),
    ({"format": np.array("x" * 999)}, "a.npz: expected a sparse matrix in CSR format, got ''"),
    ({"y": [0]}, "a.npz has 2 rows in X, but 1 labels in y."),
]


def test_sparse_matrices_that_cannot_be_read_are_one_sentence(tmp_path):
    X = sp.csr_array(np.array([[1.0, 0.0, 0.0], [0.0, 2.0, 0.0]]))
    for changes, sentence in NO_SPARSE:
        np.savez(tmp_path / "a.npz", **sparse_arrays(X, **changes))
        assert outcome(tmp_path / "a.npz").startswith(sentence)


def test_a_sparse_matrix_without_labels_gets_advice_that_works(tmp_path):
    X = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    sp.save_npz(tmp_path / "a.npz", X)
    assert not data.open(tmp_path / "a.npz", labels=False).labelled
    advice = outcome(tmp_path / "a.npz").partition("as in ")[2].removesuffix(".")
    eval(advice, {"np": np, "X": X, "labels": [3, 4], "path": tmp_path / "a.npz"})
    assert outcome(tmp_path / "a.npz") == ([[1.0, 0.0], [0.0, 2.0]], [3, 4])


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.array([1j]), "the labels in y are of type complex128: save them as numbers or strings, as in np.array("),
        (np.array(["2020-01-01"], "M8[D]"), "the labels in y are of type datetime64[D]: save them as numbers or"),
        (
            np.array([(1, 2)], "i4,i4"),
            "the labels in y are of type [('f0', '<i4'), ('f1', '<i4')]: save them as numbers",
        ),
        (
            np.array([{}]),
            "the labels in y would have to be unpickled, which is not done: save them as numbers or strings",
        ),
        (header((1,), "<U2") + b"\0\0\x11\0\0\0\0\0", "a label is not valid Unicode"),
        (header((1,), "<U1") + b"\0\xd8\0\0", "a label is not valid Unicode"),
        (np.array([b"\xff"]), "'utf-8' codec can't decode byte 0xff in position 0"),
    ],
)
def test_labels_that_are_neither_numbers_nor_text_are_one_sentence(tmp_path, labels, sentence):
    found = outcome(packed(tmp_path / "a.npz", {"X.npy": np.ones((1, 2)), "y.npy": labels}))
    assert found.startswith((f"a.npz: {sentence}", f"a.npz cannot be read as npz ({sentence}"))


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (header((10**10, 3)) + bytes(24), "a.npz: X has 24 bytes, expected 240000000000 for shape (10000000000, 3) of"),
        (header((1, 2)) + bytes(24), "a.npz: X has 24 bytes, expected 16 for shape (1, 2) of float64: copy it again."),
        (header((1, 0)), "a.npz: expected a two-dimensional X, got shape (1, 0)."),
        (header((-1, -2)) + bytes(16), "a.npz: X has a damaged header (its shape is (-1, -2)): copy it again."),
        (header("(1, (2")[:-1], "a.npz: X has a damaged header ("),
        (header((1, 2), "<f9"), "a.npz: X has a damaged header ("),
        (header((1, 2), "|V0"), "a.npz: X has 0 bytes, expected 0 for shape (1, 2) of |V0: copy it again."),
        (b"", "a.npz: X has a damaged header ("),
        (b"PK", "a.npz: X has a damaged header ("),
        (np.array([[{}]]), "a.npz: X holds object values, expected real numbers; objects would have to be unpickled."),
    ],
)
def test_an_array_that_is_not_what_its_header_says_is_one_sentence(tmp_path, X, sentence):
    assert outcome(packed(tmp_path / "a.npz", {"X.npy": X, "y.npy": np.ones(1)})).startswith(sentence)


def test_archives_that_numpy_does_not_write_are_one_sentence(tmp_path):
    file, members = tmp_path / "a.npz", {"X.npy": np.ones((1, 2)), "y.npy": np.ones(1)}
    packed(file, members, zipfile.ZIP_BZIP2)
    assert outcome(file).startswith(
        "a.npz: X is compressed by another method, expected an archive as np.savez writes it"
    )
    content = packed(file, members).read_bytes()
    file.write_bytes(content.replace(b"PK\x01\x02\x14\x03\x14\0\0", b"PK\x01\x02\x14\x03\x14\0\1"))
    assert outcome(file).startswith("a.npz: X is encrypted, expected an archive as np.savez writes it: save it again")
    file.write_bytes(content.replace(b"\x14\0\0\0\x08\0", b"\x14\0\0\0\x63\0"))
    assert outcome(file).startswith(
        "a.npz: X is compressed by another method, expected an archive as np.savez writes it"
    )
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w") as archive:
        warnings.simplefilter("ignore")
        archive.writestr("X.npy", b"")
        archive.writestr("X.npy", b"")
    assert outcome(file) == "a.npz holds X.npy twice, expected each array once: save it again with np.savez."
    packed(file, {"folder/X.npy": np.ones((1, 2)), "y.npy": np.ones(1), "two\nlines.npy": np.ones(1)})
    assert outcome(file).startswith("a.npz holds folder/X, 'two\\nlines', y, expected X and y, or a matrix that")


MANY = 1 << 19
LARGE = {
    "dense": lambda: {"X": np.zeros((MANY, 32)), "y": np.zeros(MANY)},
    "labels": lambda: {"X": np.zeros((MANY, 1), np.int8), "y": np.zeros(MANY, "U64")},
    "csr": lambda: sparse_arrays(
        sp.csr_array((np.ones(16 * MANY), np.tile(np.arange(16), MANY), 16 * np.arange(MANY + 1)))
    ),
    "header": lambda: {"y": np.zeros(1)},
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
def test_memory_does_not_grow_with_what_is_packed(tmp_path, kind):
    packed(tmp_path / "a.npz", {f"{name}.npy": array for name, array in LARGE[kind]().items()})
    if kind == "header":
        with zipfile.ZipFile(tmp_path / "a.npz", "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(
                "X.npy", header((1, 2), version=(2, 0))[:8] + (1 << 27).to_bytes(4, "little") + b" " * (1 << 27)
            )
    tracemalloc.start()
    found = outcome_rows(tmp_path / "a.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == MANY or (kind == "header" and "a.npz: X has a damaged header" in found)
    assert peak < 64 << 20, "there are 128 MB or more"


def outcome_rows(path):
    """How many rows there are, or the sentence of the error."""
    try:
        return sum(map(len, data.open(path)))
    except data.DataError as error:
        return str(error)


def test_means_of_dense_rows_fill_sparse_ones(tmp_path):
    np.savez(tmp_path / "dense.npz", X=[[1.0, 4.0], [3.0, np.nan]], y=[0, 1])
    dense = data.open(tmp_path / "dense.npz", "y", missing="mean")
    sparse = sp.csr_array(np.array([[0.0, np.nan], [np.nan, 0.0], [5.0, np.nan]]))
    parts = {"data": sparse.data, "indices": sparse.indices, "indptr": sparse.indptr, "shape": sparse.shape}
    np.savez(tmp_path / "sparse.npz", y=[0, 1, 1], format=np.bytes_("csr"), **parts)
    X, _ = data.open(tmp_path / "sparse.npz", preparation=dense.preparation).read()
    assert X.toarray().tolist() == [[0.0, 4.0], [2.0, 0.0], [5.0, 4.0]]


def test_a_zip_archive_of_other_files(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("table.csv", "x,y\n1,2\n")
    for labels in (True, False):
        with pytest.raises(data.DataError, match=r"a.zip is a zip archive, expected \.npz .*: unpack it, and name the"):
            data.open(tmp_path / "a.zip", labels=labels)
