"""Random tables with columns of all kinds, with gaps, as lists of Python values and in each form in memory."""

import csv
import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

WORDS = ["the", "a", "small", "large", "red", "green", "house", "tree", "car", "Straße"]
PLACES = ["Bern", "Zürich", "New York", "A", "São Paulo", "0", "true", "x=y"]
START = datetime.datetime(2020, 2, 27, 22, 30)


def _number(rng):
    centre, spread = rng.normal() * 10.0 ** rng.integers(-2, 5), 10.0 ** rng.integers(-3, 6)
    digits = int(rng.integers(0, 9))
    return lambda rng: round(float(rng.normal() * spread + centre), digits)


def _integer(rng):
    most = int(10 ** rng.integers(1, 12))
    return lambda rng: int(rng.integers(-most, most))


def _number_as_text(rng):
    return lambda rng: f" {rng.normal() * 100:.{rng.integers(0, 5)}f}"


def _decimal_comma(rng):
    return lambda rng: f"{rng.normal() * 1e5:,.2f}".translate(str.maketrans(",.", ".,"))


def _money(rng):
    return lambda rng: f"{rng.normal() * 1e6:,.2f}"


def _amount(rng):
    sign = str(rng.choice(["${}", "{} €", "EUR {}", "{}%"]))
    style = int(rng.integers(3))

    def draw(rng):
        x = rng.normal() * 1e4
        text = sign.format(f"{abs(x):,.2f}")
        return text if x > 0 else [f"-{text}", f"({text})", f"\u2212{text}"][style]

    return draw


def _boolean(rng):
    return lambda rng: bool(rng.random() < 0.4)


def _category(rng):
    known = list(rng.choice(PLACES, int(rng.integers(2, len(PLACES))), replace=False))
    return lambda rng: str(rng.choice(known))


def _code(rng):
    return lambda rng: int(rng.integers(1, 6))


def _day(rng):
    return lambda rng: (START + datetime.timedelta(days=int(rng.integers(-9000, 9000)))).date().isoformat()


def _german_day(rng):
    return lambda rng: (START + datetime.timedelta(days=int(rng.integers(-900, 900)))).strftime("%d.%m.%Y")


def _moment(rng):
    step = int(rng.choice([1, 60, 10**6]))
    return lambda rng: START + datetime.timedelta(microseconds=int(rng.integers(10**14 // step)) * step)


def _moment_as_text(rng):
    form = str(rng.choice(["%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S+02:00"]))
    return lambda rng: (START + datetime.timedelta(seconds=int(rng.integers(10**8)))).strftime(form)


def _note(rng):
    return lambda rng: " ".join(rng.choice(WORDS, int(rng.integers(4, 9))))


KINDS = {
    "number": _number,
    "integer": _integer,
    "number-as-text": _number_as_text,
    "decimal-comma": _decimal_comma,
    "money": _money,
    "amount": _amount,
    "boolean": _boolean,
    "category": _category,
    "code": _code,
    "day": _day,
    "german-day": _german_day,
    "moment": _moment,
    "moment-as-text": _moment_as_text,
    "note": _note,
}
TYPES = {
    "code": "category",
    "decimal-comma": "decimal-comma",
    "money": "thousands-comma",
    "note": "text",
    "number-as-text": "number",
}
"""The kinds of columns that have to be given."""
LABELS = [["no", "yes"], [0, 1], ["a", "b", "c"], [True, False]]


class RandomTable:
    """A recipe for tables with the same columns: draw as many rows as you like."""

    def __init__(self, seed):
        self.rng = rng = np.random.default_rng(seed)
        names = rng.choice(list(KINDS), int(rng.integers(1, 8)))
        self.kinds = {f"{name} {k}": str(name) for k, name in enumerate(names)}
        self._draw = {name: KINDS[kind](rng) for name, kind in self.kinds.items()}
        self._gaps = {name: rng.choice([0.0, 0.1]) for name in self.kinds}
        self.labels = LABELS[int(rng.integers(len(LABELS)))]

    def options(self):
        """Return options of ``data.open`` for the table."""
        rng, dates = self.rng, ("day", "german-day", "moment", "moment-as-text")
        return {
            "missing": str(rng.choice(["zero", "mean"])),
            "scale": str(rng.choice(["none", "standard", "maxabs", "auto"])),
            "categories": str(rng.choice(["onehot", "hash"])),
            "bits": 5,
            "ngrams": int(rng.integers(1, 3)),
            "missing_values": [["-"], [], ["7", "unknown"]][int(rng.integers(3))],
            "column_types": {name: TYPES[kind] for name, kind in self.kinds.items() if kind in TYPES}
            | {name: "date" for name, kind in self.kinds.items() if kind in dates},
        }

    def columns(self, n):
        """Return the columns of ``n`` rows as lists by name, with the labels under "y"."""
        rng = self.rng
        found = {
            name: [None if rng.random() < self._gaps[name] else draw(rng) for _ in range(n)]
            for name, draw in self._draw.items()
        }
        return found | {"y": [self.labels[k % len(self.labels)] for k in rng.permutation(n)]}


def cell(value):
    """Return a value as the text of a CSV cell."""
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else value.isoformat() if hasattr(value, "isoformat") else str(value)


def write_csv(path, columns):
    """Write columns as a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([cell(value) for value in row] for row in zip(*columns.values(), strict=True))


def records(columns):
    """Return the rows as dictionaries."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def in_memory(columns):
    """Yield the table in each form in memory, with a name."""
    yield "pandas", pd.DataFrame(columns, index=np.arange(len(next(iter(columns.values()))))[::-1])
    yield "polars", pl.DataFrame(columns)
    yield "arrow", pa.table(columns)
    yield "objects", pd.DataFrame(columns).astype(object)
    yield "records", records(columns)
    yield "texts", [{name: cell(value) for name, value in record.items()} for record in records(columns)]
