"""Files from strangers: every field wrong in every way, with the checksum made right, and bytes that are damaged.

A mutation of each kind of file is refused in one sentence that names the file, or what it holds works: it predicts,
goes on training and can be saved. Nothing crashes, hangs, or answers with another kind of error.
"""

import functools
import itertools
import warnings

import numpy as np
import pytest

from helpers.forging import mutations, other_arrays
from helpers.stored_files import encode, files


def mutants(rng, header, arrays):
    """Yield the bytes of a file in which one thing is wrong, in random order."""
    makers = [functools.partial(encode, other, arrays) for other in mutations(header)]
    makers += [functools.partial(encode, header, other) for other in other_arrays(arrays or {}, rng)]
    for k, number in enumerate(rng.permutation(len(makers))):
        yield makers[number]()
        if arrays is not None and k % 8 == 0:
            whole = bytearray(encode(header, arrays))
            place = int(rng.integers(60, len(whole)))  # after what tells the kind of file
            yield bytes(whole[:place])
            whole[place] ^= 1 << int(rng.integers(8))
            yield bytes(whole)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.mark.parametrize("count", [400, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_file_with_one_thing_wrong_is_refused_or_works(folder, tmp_path, monkeypatch, count):
    monkeypatch.setattr("os.fsync", lambda file: None)  # the disk is tested elsewhere
    rng = np.random.default_rng(count)
    path, tried, refused, findings = tmp_path / "file", 0, 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = files(folder)
        for header, arrays, use in made.values():
            path.write_bytes(encode(header, arrays))
            use(path)
        for name, (header, arrays, use) in made.items():
            for content in itertools.islice(mutants(rng, header, arrays), -(-count // len(made))):
                path.write_bytes(content)
                tried += 1
                try:
                    use(path)
                except ValueError as refusal:
                    refused += 1
                    text = str(refusal)
                    if not text.startswith(str(path)) or "\n" in text or len(text) > 1500 + len(str(path)):
                        findings.append((name, text, content[:3000]))
                except Exception as fault:
                    findings.append((name, repr(fault), content[:3000]))
    assert not findings, findings[:20]
    assert tried >= min(count, 3000)
    assert tried / 2 < refused < tried
