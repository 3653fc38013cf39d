"""Files of arrays: what is written is read, and any altered byte, any lie of a stranger's, is noticed."""

import hashlib
import json
import os
import re
import stat

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from helpers.forging import compact, forge
from rosenblatt.storage import container as files
from rosenblatt.storage.container import check_version, read_container, write_container

HEADER = {"kind": "test", "größe": [1, 2.5, -0.0, True, None, '\ud800 " é'], "order": {"b": 1, "a": 2}, "big": 2**200}
ARRAYS = {
    "w": np.array([[1.0, -0.0], [np.inf, 5e-324]]),
    "counts": np.array([-1, 2**62]),
    "flags": np.array([True, False, True]),
    "empty": np.zeros((0, 3)),
    "scalar": np.array(2.5, np.float32),
    "bytes": np.arange(5, dtype=np.uint8),
    "indices": np.arange(3, dtype=np.int32),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.safetensors"


def refused(path, content, match=None):
    path.unlink(missing_ok=True)  # some file systems make an overwritten file wait for the disk
    path.write_bytes(content)
    with pytest.raises(ValueError, match=match) as refusal:
        read_container(path)
    sentence = str(refusal.value)
    assert sentence.startswith(str(path))
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def test_what_is_written_is_read(path):
    write_container(path, HEADER, ARRAYS)
    header, arrays = read_container(str(path))
    assert compact(header) == compact(HEADER)  # with the order of its fields
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert (arrays[name].dtype, arrays[name].shape) == (array.dtype, array.shape)
        assert arrays[name].tobytes() == array.tobytes()
        assert arrays[name].flags.writeable
        assert arrays[name].flags.aligned


def test_other_layouts_in_memory_give_the_same_file(path):
    array = np.arange(12.0).reshape(3, 4)
    write_container(path, {}, {"a": array})
    first = path.read_bytes()
    for other in (np.asfortranarray(array), array.astype(">f8"), array[::-1][::-1]):
        write_container(path, {}, {"a": other})
        assert path.read_bytes() == first


def test_the_file_is_the_one_documented(path):
    write_container(path, HEADER, ARRAYS)
    content = path.read_bytes()
    assert content == forge(compact(HEADER), ARRAYS)
    digest = re.search(rb'"sha256":"([0-9a-f]{64})"', content)[1]
    assert hashlib.sha256(content.replace(digest, b"0" * 64)).hexdigest().encode() == digest


def test_the_tools_of_safetensors_read_it(path):
    write_container(path, HEADER, ARRAYS)
    with safetensors.safe_open(path, "numpy") as file:
        assert set(file.keys()) == set(ARRAYS)
        assert json.loads(file.metadata()["header"]) == HEADER
        for name, array in ARRAYS.items():
            assert file.get_tensor(name).tobytes() == array.tobytes()


def test_their_files_are_not_ours(path):
    safetensors.numpy.save_file({"w": np.zeros(3)}, path)
    with pytest.raises(ValueError, match="not written by rosenblatt"):
        read_container(path)
    refused(path, b"", "not a model file")
    refused(path, b"PK\x03\x04" + bytes(100), "not a model file")
    refused(path, b"\x80\x04\x95" + bytes(100), "head cannot be read|truncated|not a model file")


def test_every_truncation_is_refused(path):
    whole = forge(compact(HEADER), ARRAYS)
    for length in range(len(whole)):
        refused(path, whole[:length])
    refused(path, whole + b"\0", "1 bytes follow its end")
    refused(path, whole * 2)


def test_every_flipped_bit_is_refused(path):
    whole = forge(compact({"a": 1}), {"w": np.array([1.0, 2.0]), "f": np.array([True])})
    for bit in range(8 * len(whole)):
        altered = bytearray(whole)
        altered[bit // 8] ^= 1 << bit % 8
        refused(path, bytes(altered))


def test_bytes_swapped_or_overwritten_are_refused(path):
    rng = np.random.default_rng(0)
    whole = forge(compact(HEADER), ARRAYS)
    for _ in range(500):
        altered = bytearray(whole)
        start, length = rng.integers(len(whole)), rng.integers(1, 30)
        altered[start : start + length] = rng.bytes(rng.integers(0, 30))
        if altered != whole:
            refused(path, bytes(altered))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"shape":[2,2]', b'"shape":[2,9999999999999999]'),
        (b'"shape":[2,2]', b'"shape":[0,99999999999999999999]'),
        (b'"shape":[2,2]', b'"shape":[-2,-2]'),
        (b'"shape":[2,2]', b'"shape":[2.0,2]'),
        (b'"shape":[2,2]', b'"shape":[true,4]'),
        (b'"shape":[2,2]', b'"shape":' + b"[" * 50_000 + b"]" * 50_000),
        (b'"shape":[2,2]', b'"shape":[' + b"1," * 40 + b"4]"),
        (b'"F64"', b'"F128"'),
        (b'"F64"', b'["F64"]'),
        (b'"data_offsets":[0,', b'"data_offsets":[8,'),
        (b'"data_offsets":[0,', b'"data_offsets":[-8,'),
        (b'"w":{', b'"w":null,"w":{'),
        (b'"w":{', b'"w": {'),
        (b'"w":{', b'"":{'),
        (b'"w":{', b'"\xff":{'),
        (b'"w":{', b'"__metadata__":{},"w":{'),
        (b'"rosenblatt":"1"', b'"rosenblatt":"1","more":"1"'),
        (b'"rosenblatt":"1"', b'"rosenblatt":1'),
        (b'"rosenblatt":"1"', b'"rosenblatt":"0"'),
        (b'"rosenblatt":"1"', '"rosenblatt":"١"'.encode()),
        (b'"rosenblatt":"1"', b'"rosenblatt":"-1"'),
        (b'"rosenblatt":"1"', b'"rosenblatt":' + b"9" * 5000),
        (b'"header":', b'"header":1,"footer":'),
        (b'"__metadata__"', b'"__metadatas__"'),
        (b"{", b"["),
    ],
)
def test_heads_that_lie_are_refused_though_the_checksum_is_right(path, old, new):
    content = forge("{}", {"w": np.zeros((2, 2)), "v": np.zeros(2)}, edit=lambda head: head.replace(old, new, 1))
    assert old in forge("{}", {"w": np.zeros((2, 2)), "v": np.zeros(2)})
    refused(path, content)


@pytest.mark.parametrize(
    "text",
    ["[]", "1", "", "{} ", '{"a": 1}', '{"a":1,"a":1}', '{"a":NaN}', '{"a":1e999}', '{"a":1.50}', "{" * 9, "\0"]
    + ['{"a":' + "[" * depth + "]" * depth + "}" for depth in (64, 1000, 200_000)]
    + ['{"a":' + "9" * 5000 + "}", '{"a":"\\u0041"}', '{"a":"é"}'],
)
def test_headers_that_are_not_as_we_write_them_are_refused(path, text):
    refused(path, forge(text, {}), "not a rosenblatt file")


def test_lengths_that_lie_are_refused(path):
    whole = forge("{}", {"w": np.zeros(2)})
    for length in (0, 1, 7, 8, 100_000_000, 100_000_001, 2**63, 2**64 - 1):
        refused(path, length.to_bytes(8, "little") + whole[8:])


def test_truth_values_are_0_or_1(path):
    refused(path, forge("{}", {"f": np.array([2, 1], np.uint8).view(bool)}), "altered")


def test_a_newer_layout_asks_for_an_upgrade(path):
    assert "upgrade it" in refused(path, forge("{}", {}, layout="2"), "in format 2, newer than format 1")
    with pytest.raises(ValueError, match=r"format 7, newer than format 3.* upgrade it with pip"):
        check_version("x", 7, 3)
    for nonsense in (0, -1, None, "1", True, 1.0):
        with pytest.raises(ValueError, match="does not state a version"):
            check_version("x", nonsense, 3)
    check_version("x", 3, 3)


def test_only_plain_data_and_numbers_are_written(path, monkeypatch):
    for header in ([], {1: 2}, {"a": (1,)}, {"a": np.float64(1)}, {"a": float("nan")}, {"a": {"b": {3}}}):
        with pytest.raises(ValueError, match="header"):
            write_container(path, header, {})
    for array in (np.array(["a"]), np.array([None]), np.zeros(1, complex), np.zeros(1, np.longdouble)):
        with pytest.raises(ValueError, match="cannot be saved"):
            write_container(path, {}, {"x": array})
    monkeypatch.setattr(files, "LONGEST_HEAD", 1000)
    with pytest.raises(ValueError, match="the header and the names of arrays take"):
        write_container(path, {"a": "x" * 1000}, {})
    assert not path.exists()


def test_folders_and_pipes_are_no_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(ValueError, match="is not a file"):
            read_container(tmp_path / name)
        with pytest.raises(OSError, match="not a regular file"):
            write_container(tmp_path / name, {}, {})
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    with pytest.raises(FileNotFoundError):
        read_container(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="could not save"):
        write_container(tmp_path / "none" / "x", {}, {})


def test_open_files_are_no_paths(tmp_path):
    (tmp_path / "a.model").write_bytes(b"")
    with open(tmp_path / "a.model", "rb") as file:
        for given in (file, file.fileno()):
            with pytest.raises(TypeError, match=r"expected the path of a file, got .*: give its name, not an"):
                read_container(given)
