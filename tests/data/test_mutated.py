"""Files with random faults: what is read, refused or left out does not depend on how the bytes are cut."""

import random

import numpy as np

from rosenblatt import data

CSV = 'a,b,c,y\n1,red,"x, y",0\n2.5,blue,"z ""q"" ",1\n-3e2,red,w,0\n4,blue,"line\nbreak",1\n5,red,v,1\n'
JSON = '{"a":1,"b":"red","y":0}\n{"a":2.5,"b":"blue","y":1}\n{"a":-3e2,"b":null,"y":0}\n{"a":4,"b":"é","y":1}\n'


def mutated(rng, text):
    """Some copies of a text with a few bytes changed, removed or added."""
    content = bytearray(text * rng.randrange(1, 4), "utf-8")
    for _ in range(rng.randrange(6)):
        k, choice = rng.randrange(len(content)), rng.randrange(3)
        if choice == 0:
            content[k] = rng.choice(b'",\n\r{}:x1 \xff\x00\xc3[')
        elif choice == 1:
            del content[k : k + rng.randrange(1, 4)]
        else:
            content[k:k] = bytes(rng.choices(b'",\n\r{}:9e.-\t ', k=rng.randrange(1, 4)))
    return bytes(content)


def outcome(file, **options):
    """All there is to see of a stream, or the sentence of its error."""
    try:
        stream = data.open(file, "y", **options)
        X, y = stream.read()
    except ValueError as error:
        return type(error), str(error)
    X = X if isinstance(X, np.ndarray) else X.toarray()
    return X.tolist(), y.tolist(), stream.skipped, stream.unseen, stream.feature_names


def test_how_bytes_are_cut_does_not_matter(tmp_path, monkeypatch):
    for seed in range(150):
        rng = random.Random(seed)
        name, text = rng.choice([("a.csv", CSV), ("a.jsonl", JSON)])
        (tmp_path / name).write_bytes(mutated(rng, text))
        options = {"on_error": rng.choice(["raise", "skip"]), "missing": rng.choice(["error", "zero", "mean"])}
        if rng.random() < 0.5:
            options["column_types"] = {"a": "number", "b": "category"}
        outcomes = []
        for chunk_bytes, threads in ((1 << 20, 0), (30, 0), (7, 2)):
            monkeypatch.setattr("rosenblatt.data.io.lines.CHUNK_BYTES", chunk_bytes)
            outcomes.append(outcome(tmp_path / name, threads=threads, **options))
        assert outcomes[0] == outcomes[1] == outcomes[2]
        if isinstance(outcomes[0][0], type):
            assert name in outcomes[0][1]
