"""The files that README and docs speak of and do not make themselves, and where those of other people lie."""

import bz2
import csv
import datetime
import gzip
import io
import json
import os
import random
from importlib.metadata import version
from pathlib import Path

from sklearn.datasets import load_iris

from helpers.titanic import titanic_like

FOLDER = Path(os.environ.get("ROSENBLATT_DATA", "no such folder"))
CONSTRAINTS = Path(__file__).parents[2] / "constraints.txt"
REAL = {
    "a9a.bz2": "libsvm/a9a.bz2",
    "a9a.t.bz2": "libsvm/a9a.t.bz2",
    "a9a.svm": "libsvm/a9a.bz2",
    "mushrooms.bz2": "libsvm/mushrooms.bz2",
    "sms.tsv": "text/SMSSpamCollection.gz",
    "endometrial.csv": "tables/separation/endometrial.csv",
}
"""Data of other people, not ours to hand on, by the names that pages give them: where they lie in ROSENBLATT_DATA."""


def has_real_file(name):
    """Return whether the real file is there, and SciPy is the version that the pages were made with.

    On these larger data a search may stop at another end of a bracket, as far as it was asked to close it, where
    SciPy's solvers take another way.
    """
    return f"scipy=={version('scipy')}" in CONSTRAINTS.read_text().split() and (FOLDER / REAL[name]).exists()


def real_file(name):
    """Return what the real file has in it, unpacked where the page's name is that of plain text."""
    source = FOLDER / REAL[name]
    unpack = {".bz2": bz2.decompress, ".gz": gzip.decompress}.get(source.suffix)
    content = source.read_bytes()
    return content if unpack is None or name.endswith(source.suffix) else unpack(content)


def made_files():
    """Return the text of each file that a page speaks of and that is ours to make."""
    names, *rows = titanic_like(1200, 0).splitlines(keepends=True)
    return {
        "passengers.csv": "".join([names, *rows[:900]]),
        "new.csv": "".join([names, *rows[900:]]),
        "policies.csv": policies(),
        "iris.csv": iris(),
        "ada.json": results("Ada", {"4.12": [1, 1, -2, 0], "4.2-ties": {"updates": 2, "because": "zero"}}),
        "broken.json": '{"version": 1, ',
        "points.csv": "x,y,label\n1,1,a\n2,1,a\n-1,-1,b\n-2,0,b\n",
    }


def results(student, answers):
    """Return what a student hands in from the lab."""
    found = [{"exercise": name, "answer": answer} for name, answer in answers.items()]
    return json.dumps({"version": 1, "student": student, "results": found})


def iris():
    """Return Fisher's irises as scikit-learn has them, without a header."""
    data = load_iris()
    lines = [(*row, f"Iris-{data.target_names[k]}") for row, k in zip(data.data.tolist(), data.target, strict=True)]
    return "".join(",".join(map(str, line)) + "\n" for line in lines)


def policies():
    """Return 60 insurance policies, with a column that was written after the premium was known."""
    chance = random.Random(0)
    text = io.StringIO()
    table = csv.writer(text, delimiter=";", lineterminator="\n")
    table.writerow(["id", "since", "ticket", "price", "city", "smoker", "premium"])
    for i in range(60):
        high = chance.random() < 0.4
        since = datetime.date(2010, 1, 1) + datetime.timedelta(days=chance.randrange(5000))
        price = f"{chance.uniform(1000, 3000):.2f}".replace(".", ",")
        city = chance.choices(["Lyon", "Turin", "Graz"], [4, 3, 3])[0]
        smoker = "true" if high else "false"
        ticket = f"T-{chance.randrange(10**6):06}"
        table.writerow([i + 1, since.isoformat(), ticket, price, city, smoker, "high" if high else "low"])
    return text.getvalue()
