"""Rows of words are those of scikit-learn's HashingVectorizer, for all of Unicode."""

import re
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.utils import murmurhash3_32

from helpers.random_texts import random_texts
from rosenblatt.hashing import TextHashing, Texts, _characters, weighted
from rosenblatt.kernels.parsing.words import CHARACTERS, MOST_CHARACTERS, SPACE, WHOLE, WIDTH, WORD, WORDS, hash_texts

TEXTS = ["", "a", "ab", "a b", "The cat sat, the cat.", "ΟΔΥΣΣΕΥΣ ΣΑΣ Σ ΑΣ'Α ΑΣ' ", "İstanbul İİ", "x\x1cy\u2003z zz"]


def same(counts, twin):
    """Whether two CSR matrices store the same numbers in the same places."""
    return all(np.array_equal(getattr(counts, name), getattr(twin, name)) for name in ("indptr", "indices", "data"))


OPTIONS = [
    (TextHashing(2**18), {}),
    (TextHashing(7, 1, 3), {"ngram_range": (1, 3)}),
    (TextHashing(1, 2, 2, lowercase=False), {"ngram_range": (2, 2), "lowercase": False}),
    (TextHashing(1000, 2, 5, CHARACTERS), {"ngram_range": (2, 5), "analyzer": "char_wb"}),
    (TextHashing(2**10, 1, 1, CHARACTERS, False), {"ngram_range": (1, 1), "analyzer": "char_wb", "lowercase": False}),
]


@pytest.mark.parametrize("case", OPTIONS, ids=str)
@pytest.mark.parametrize("signed", [False, True])
def test_counts_are_those_of_scikit_learn(case, signed):
    hashing, options = case
    hashing = replace(hashing, signed=signed)
    texts = TEXTS + random_texts(2_000, seed=hashing.n_columns)
    twin = HashingVectorizer(n_features=hashing.n_columns, alternate_sign=signed, norm=None, **options)
    for some in (texts, texts[:4], texts[:0]):
        counts, names = hashing.count(Texts.of_strings(some))
        assert names == []
        assert counts.shape == (len(some), hashing.n_columns)
        assert not some or same(counts, twin.transform(some))


def test_long_texts():
    texts = ["x" * 300_000, "ab " * 100_000, "".join(random_texts(3_000, seed=5))]
    for hashing, options in OPTIONS:
        twin = HashingVectorizer(n_features=hashing.n_columns, alternate_sign=False, norm=None, **options)
        assert same(hashing.count(Texts.of_strings(texts))[0], twin.transform(texts))


def test_interpreted_and_compiled_counts_are_the_same(monkeypatch):
    texts = Texts.of_strings(TEXTS + random_texts(30, seed=1))
    for hashing, _ in OPTIONS:
        compiled = hashing.count(texts, keep_names=True)
        monkeypatch.setattr("rosenblatt.hashing.hash_texts", hash_texts.function)
        interpreted = hashing.count(texts, keep_names=True)
        monkeypatch.undo()
        assert same(compiled[0], interpreted[0])
        assert compiled[1] == interpreted[1]


def test_characters_are_those_of_python():
    for lowercase in (False, True):
        table = _characters(lowercase)
        for code in [*range(0xD800), *range(0xE000, MOST_CHARACTERS)]:
            character = chr(code)
            if lowercase:
                character = character.lower()
                if len(character) > 1 or character == "σ":
                    continue  # tested with texts: see TEXTS
            entry = int(table[code])
            size = entry >> WIDTH & 7
            assert (entry & 0xFFFFFFFF).to_bytes(4, "little")[:size].decode() == character
            assert (entry >> WORD & 1) == (character.isalnum() or character == "_"), hex(code)
            assert (entry >> SPACE & 1) == character.isspace(), hex(code)
    beyond = "".join(map(chr, range(MOST_CHARACTERS, 0x110000)))
    assert not re.search(r"[\w\s]", beyond)
    assert beyond.lower() == beyond


def test_lower_case_has_at_most_half_as_many_bytes_again():
    """The space that is allocated for the lower case of texts relies on it."""
    for code in [*range(0xD800), *range(0xE000, 0x110000)]:
        assert 2 * len(chr(code).lower().encode()) <= 3 * len(chr(code).encode())


def test_tokens_are_hashed_after_their_prefix():
    tokens = random_texts(200, seed=3)
    for prefix in ("", "a", "ab", "abc", "abcd", "titel=", "größe="):
        hashing = TextHashing(2**20, kind=WHOLE, prefix=prefix)
        counts, names = hashing.count(Texts.of_strings(tokens), keep_names=True)
        assert np.diff(counts.indptr).tolist() == [int(token != "") for token in tokens]
        places = [abs(murmurhash3_32((prefix + token).encode(), 0)) % 2**20 for token in tokens if token]
        assert counts.indices.tolist() == places
        assert {name.column: name.token for name in names}.items() >= {(places[0], prefix + tokens[names[0].text])}


def test_the_first_token_of_each_column_is_named():
    texts = TEXTS + random_texts(1_500, seed=2)
    for hashing, options in OPTIONS:
        _, names = hashing.count(Texts.of_strings(texts), keep_names=True)
        first = {}
        cut = HashingVectorizer(**options).build_analyzer()
        for row, text in enumerate(texts):
            for token in cut(text):
                first.setdefault(abs(murmurhash3_32(token.encode(), 0)) % hashing.n_columns, (row, token))
        assert {column: (row, token) for column, row, token in names} == first


def test_arrow_arrays_are_read_in_place():
    words = ["nothing", "The cat", None, "", "naïve İ", None, "cat"]
    expected = TextHashing(64).count(Texts.of_strings([word or "" for word in words[1:-1]]))[0]
    for kind in (pa.string(), pa.large_string()):
        array = pa.array(words, kind).slice(1, 5)
        assert same(TextHashing(64).count(Texts.of_arrow(array))[0], expected)
    hidden = pa.Array.from_buffers(
        pa.string(), 2, [pa.py_buffer(b"\x02"), pa.py_buffer(np.array([0, 3, 6], np.int32)), pa.py_buffer(b"oneone")]
    )  # there are bytes below the null
    assert TextHashing(64).count(Texts.of_arrow(hidden))[0].indptr.tolist() == [0, 0, 1]
    assert TextHashing(64).count(Texts.of_arrow(pa.array([], pa.string())))[0].shape == (0, 64)
    assert TextHashing(64).count(Texts.of_arrow(pa.array([None], pa.string())))[0].nnz == 0


def test_broken_utf8_stays_inside_its_text():
    data = np.frombuffer(b"ab\xf0\x9fcd\xc3", np.uint8)  # callers refuse such texts
    texts = Texts(data, np.array([0, 4]), np.array([4, 7]))
    for kind in (WORDS, CHARACTERS):
        assert TextHashing(64, kind=kind).count(texts)[0].shape == (2, 64)


def test_weights_are_those_of_scikit_learn():
    texts = TEXTS + random_texts(500, seed=4)
    counts, _ = TextHashing(64).count(Texts.of_strings(texts))
    for norm in ("l1", "l2", None):
        for binary in (False, True):
            twin = HashingVectorizer(n_features=64, alternate_sign=False, norm=norm, binary=binary).transform(texts)
            assert same(weighted(counts, binary=binary, norm=norm), twin)
        twin = TfidfTransformer(norm=norm, use_idf=False, sublinear_tf=True).fit_transform(counts)
        assert abs(weighted(counts, logarithmic=True, norm=norm) - twin).max() < 1e-15
    signed, _ = TextHashing(64, signed=True).count(Texts.of_strings(texts))
    logs = weighted(signed, logarithmic=True, norm=None)
    assert np.array_equal(np.sign(logs.data), np.sign(signed.data))


@pytest.mark.slow
@pytest.mark.parametrize("case", OPTIONS, ids=str)
def test_a_hundred_thousand_texts(case):
    hashing, options = case
    texts = random_texts(100_000, seed=9)
    twin = HashingVectorizer(n_features=hashing.n_columns, alternate_sign=False, norm=None, **options)
    assert same(hashing.count(Texts.of_strings(texts))[0], twin.transform(texts))
    huge = ["x" * 10_000_000, "Ω" * 5_000_000 + "Σ"]
    assert same(hashing.count(Texts.of_strings(huge))[0], twin.transform(huge))


def test_texts_of_files_need_no_scikit_learn(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("y,t\n" + "".join(f"{k % 2},word{k} and some more words of text {k}\n" for k in range(50)))
    code = "import sys; from rosenblatt import data; data.open(sys.argv[1], 'y').read(); "
    code += "assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code, path], check=True)


def test_names_may_be_too_many_to_keep():
    hashing = TextHashing(2**18)
    texts = Texts.of_strings([" ".join(f"word{k}" for k in range(5000)), "word0 and"])
    counts, names = hashing.count(texts, keep_names=True)
    few, some = hashing.count(texts, keep_names=True, most_names=2000)
    assert same(few, counts)
    assert 2000 < len(some) < len(names)
    assert some == names[: len(some)]
    assert hashing.count(texts, keep_names=True, most_names=len(names))[1] == names
