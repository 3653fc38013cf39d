"""Certificates as files: of every type, in a process that has imported nothing else, and on a full disk."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest

from rosenblatt import detect_separation, fewest_mistakes, maximize, strict_feasibility
from rosenblatt.theory import certificates
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.linear_programs.answers import UndecidedProgram
from rosenblatt.theory.separability import dataset_margin, separability
from rosenblatt.theory.verdicts import UndecidedSeparability, Verdicts

SQUARE = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
TRIANGLE = [[-1, 0], [0, -1], [1, 1]]
EVERY_TYPE = [
    separability(SQUARE, [0, 1, 1, 1]),
    separability(SQUARE, [0, 1, 1, 0]),
    UndecidedSeparability(-1.0, 1.0, np.ones(2), 0.5, np.ones(4), "yes"),
    dataset_margin(SQUARE, [0, 1, 1, 1]),
    fewest_mistakes(SQUARE, [0, 1, 1, 0]),
    strict_feasibility(TRIANGLE, [0, 0, 1]),
    strict_feasibility(TRIANGLE, [0, 0, -1]),
    UndecidedProgram(np.ones(2), 0.5),
    maximize([1, 1], TRIANGLE, [0, 0, 1]),
    maximize([1, 1], TRIANGLE[:2], [0, 0]),
    detect_separation(SQUARE, [0, 1, 1, 1]),
]


def every_subclass(cls):
    return {cls}.union(*map(every_subclass, cls.__subclasses__()))


def test_every_type_of_certificate_is_in_the_table():
    found = {cls.__name__ for cls in every_subclass(Certificate) if "__dataclass_fields__" in vars(cls)}
    assert found == {name for names in certificates._HOMES.values() for name in names}
    assert found == {type(certificate).__name__ for certificate in EVERY_TYPE}


@pytest.mark.slow
@pytest.mark.parametrize("certificate", EVERY_TYPE, ids=lambda certificate: type(certificate).__name__)
def test_a_fresh_process_loads_it(certificate, tmp_path):
    path = tmp_path / "c.json"
    certificate.save(path)
    code = "import sys; from rosenblatt import Certificate; print(Certificate.load(sys.argv[1]).to_json())"
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert run.stdout == path.read_text() == certificate.to_json() + "\n"


def test_verdicts_are_loaded_as_such(tmp_path):
    path = tmp_path / "c.json"
    verdicts = separability(SQUARE, ["a", "b", "c", "\ud800"])  # half a surrogate pair stays a JSON escape
    verdicts.save(path)
    assert Verdicts.load(path).check(SQUARE, ["a", "b", "c", "\ud800"])
    with pytest.raises(ValueError, match=r"expected a certificate of type Certificate, got a list: use Verdicts\.load"):
        Certificate.load(path)
    EVERY_TYPE[0].save(path)
    with pytest.raises(ValueError, match="expected a list of certificates, got dict: load"):
        Verdicts.load(path)


@pytest.mark.parametrize("found", [EVERY_TYPE[0], Verdicts({1: EVERY_TYPE[0]})], ids=["one", "several"])
def test_a_full_disk_leaves_the_old_file(found, tmp_path, monkeypatch):
    def full(file, data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "c.json"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match=r"could not save, no space left .*: '.*c\.json'"):
        found.save(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [path.name]
