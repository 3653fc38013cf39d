"""Records as rows: each value gives the bits that it gives in a table, or the same error."""

import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

from rosenblatt import data
from rosenblatt.data.prepared import PreparedRows
from rosenblatt.data.tables.values import (
    amount_without_unit,
    parse_formatted,
    parse_strings,
    plain_number,
    without_unit,
)

NUMBERS = [0, 3, -7, True, False, 2.5, -0.0, 1e300, 5e-324, 2**53, 2**53 + 1, 2**70, float("inf"), np.float32(0.1)]
NUMBERS += [np.int8(-4), np.float16(0.3), np.longdouble(7.5), Decimal("0.1"), Fraction(1, 3), np.bool_(True)]
NOTHING = [None, float("nan"), pd.NA, pd.NaT, Decimal("NaN"), np.datetime64("NaT"), "", "  ", "NA", "?", "-", "-9"]
TEXTS = ["7", " 7\u00a0", "07", "+5", "5.", ".5", "1e3", "1e400", "1e-400", "0", "-0", "inf", "nan", "0x1", "1_0"]
TEXTS += ["1,5", "1.234,56", "1,234.5", "1 234", "1'234", "12,34,5", "true", "False", "TRUE", "yes", "red ", "R\u00f6d"]
TEXTS += ["$5", "$1,234.50", "-$7", "($7.25)", "\u2212$3", "5$", "7 $", "$", "$$5", np.str_("8"), "a\ud800", "x" * 2000]
TEXTS += ["\u0663"]  # a digit in Arabic, which Python reads as a number
DATES = ["2020-02-29", "2021-02-29", "0000-01-01", "0001-01-01", "9999-12-31", "2020-02-29T12:30", "2020-2-29"]
DATES += ["2020-02-29T12:30:15.000001", "2020-02-29T12:30:15.1234567", "2020-02-29T24:00", "2020-02-29 12:30+02:00"]
DATES += ["2020-02-29 12:30:15", "2020/2/9", "29.2.2020", "2/29/2020", "29.2.2020 8:15 PM", datetime.date(2020, 2, 29)]
DATES += [datetime.datetime(2020, 2, 29, 1, 2, 3, 4), datetime.time(6), datetime.timedelta(hours=6)]
DATES += [datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=-3)))]
DATES += [pd.Timestamp("2020-02-29T01:02:03.000000004"), np.datetime64("2020-02-29"), np.timedelta64(36, "h"), [1], {}]
COLUMNS = {
    "number": {"kind": "number", "fill": 0.25},
    "boolean": {"kind": "boolean"},
    "comma": {"kind": "decimal-comma", "fill": 1.5},
    "thousands": {"kind": "thousands-comma"},
    "dollars": {"kind": "thousands-comma", "unit": "$"},
    "date": {"kind": "date", "fill": -3.5},
    "german": {"kind": "date", "order": "dmy"},
    "american": {"kind": "date", "order": "mdy"},
    "colour": {"kind": "category", "categories": ["0.5", "7", "R\u00f6d", "red", "true"]},
    "hashed": {"kind": "category", "categories": None},
    "note": {"kind": "text"},
}


@pytest.fixture(scope="module", params=["standard", "sparse", "error"])
def preparation(request):
    """Return a function from columns of a table to a preparation of these."""
    stream = data.open([{"a": k, "y": k % 2} for k in range(30)], "y", missing="mean", bits=4)

    def of(*names):
        columns = [{"name": name, **COLUMNS[name]} for name in names]
        made = stream.preparation | {"columns": columns, "order": [*names, "y"], "missing_values": ["-", "-9"]}
        made["sparse"], made["missing"] = request.param == "sparse", "error" if request.param == "error" else "mean"
        if request.param in ("standard", "sparse") and COLUMNS[names[0]]["kind"] not in ("boolean", "category", "text"):
            made["scale"] = {"method": "standard", "features": [0], "centre": [7.0], "spread": [3.7]}
        return made

    return of


def outcome(read):
    """Return the row that a function reads, or the message of its error."""
    try:
        X = read()
    except ValueError as error:
        return str(error).replace("the list, row 0 (counted from 0)", "the record").replace("the list:", "the record:")
    if sp.issparse(X):
        return X.shape, X.indices.tolist(), X.data.tobytes()
    return X.shape, X.tobytes()


@pytest.mark.filterwarnings("ignore:column .* did not occur in training:UserWarning")
@pytest.mark.quick_cases(11)
@pytest.mark.parametrize("name", COLUMNS)
def test_a_value_of_a_record_gives_what_it_gives_in_a_table(preparation, name):
    rows = PreparedRows(preparation(name))
    for value in NUMBERS + NOTHING + TEXTS + DATES:
        found = outcome(lambda value=value: rows.features({name: value}))
        assert found == outcome(lambda value=value: rows.features([{name: value}])), repr(value)
        if not isinstance(found, str):
            columns, values = rows.record({name: value})
            X = sp.csr_array((values, columns, [0, len(columns)]), shape=(1, rows.n_features))
            assert np.array_equal(X.toarray(), sp.csr_array(rows.features([{name: value}])).toarray()), repr(value)


def test_columns_of_words_share_features(preparation):
    rows = PreparedRows(preparation("number", "note", "hashed", "colour"))
    for note in ("red red green", "a b c d e f g h", "red", "R\u00f6d r\u00f6d", "x"):
        record = {"note": note, "hashed": note, "number": len(note), "colour": "red", "other": 3}
        assert outcome(lambda x=record: rows.features(x)) == outcome(lambda x=record: rows.features([x]))


def test_texts_of_numbers_are_rewritten_one_by_one_as_in_columns():
    rng = np.random.default_rng(0)
    for unit in ("$", "\u20ac", "%", "EUR", ""):
        signs = list(f"($7.,-+)\u20ac%\u2212E\u00a0U1 R{unit}")
        texts = ["".join(rng.choice(signs, rng.integers(1, 8))) for _ in range(3000)]
        for before, after in product(("", "-", "(", "-("), (")", "", f"{unit})", f" {unit}")):
            texts += [f"{before}{unit}{space}12.5{after}" for space in ("", " ", "\u00a0")]
            texts += [f"{before}12.5{after}"]
        assert [amount_without_unit(text, unit) for text in texts] == without_unit(pa.array(texts), unit).to_pylist()
    for kind in ("decimal-comma", "thousands-comma"):
        texts = ["".join(rng.choice(list("1230.,-+ '\u00a0\u2019e"), rng.integers(1, 9))) for _ in range(3000)]
        values, bad = parse_formatted(pa.array(texts), ("",), kind)
        for k, text in enumerate(texts):
            plain = plain_number(text.strip(), kind) if text.strip() else None
            assert (k in bad) == bool(text.strip() and plain is None), text
            assert plain is None or float(plain) == values[k], text


def test_python_and_arrow_trim_the_same_characters():
    every = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assert [sign.strip() or None for sign in every] == parse_strings(pa.array(every), ()).to_pylist()


MANY = {
    "a": [0, 3, -0.0, 2.5, -1e15, 5e-324, 7],
    "colour": ["red", " red", "R\u00f6d", "blue", "0.5"],
    "b": [1.5, 2, 0.0],
}
ODD = {"a": [None, True, "7", 2**53, float("inf"), [1]], "colour": ["", " - ", "-", 7, None, "\ud800"]}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("scale", ["none", "standard"])
def test_many_records_give_the_bits_of_one(sparse, scale):
    rng = np.random.default_rng(5)
    start = [
        {"a": float(k % 3), "colour": ["red", "0.5", "R\u00f6d"][k % 3], "b": k / 7, "y": k % 2} for k in range(30)
    ]
    made = dict(data.open(start, "y", scale=scale, missing="mean").preparation) | {
        "sparse": sparse,
        "missing_values": ["-"],
    }
    rows = PreparedRows(made)
    for _ in range(100):
        records = [{name: rng.choice(np.array(MANY[name], object)) for name in MANY} for _ in range(rng.integers(1, 9))]
        found = rows.many_record_lists(records)
        assert repr(found) == repr([rows.record_lists(record) for record in records])  # repr tells -0.0 from 0.0
    for name, values in ODD.items():
        for value in values:
            assert rows.many_record_lists([records[0], records[0] | {name: value}]) is None, value
    assert rows.many_record_lists([{"a": 1.0, "b": 2.0}]) is None
