"""Dates as days: the same numbers from text and from Arrow's types, whatever the unit."""

import datetime
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from helpers.kept_rows import every_format
from rosenblatt import data
from rosenblatt.data.tables.values import parse_dates

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def slow_days(moment):
    """Return the days of a moment: whole days, and the rest of the day as an exact fraction that is rounded once."""
    since = moment - EPOCH
    rest = Fraction(since.seconds) + Fraction(since.microseconds, 10**6)
    return float(since.days) + float(rest / 86400)


def moments(n, seed=0):
    rng = np.random.default_rng(seed)
    days = rng.integers(-700_000, 2_900_000, n)
    return [
        EPOCH + datetime.timedelta(days=int(d), seconds=int(s), microseconds=int(us))
        for d, s, us in zip(days, rng.integers(0, 86400, n), rng.integers(0, 10**6, n), strict=True)
    ]


def test_text_and_every_unit_give_the_days_of_the_slow_twin():
    some = moments(300)
    expected = [slow_days(moment) for moment in some]
    texts = [moment.isoformat() for moment in some]
    assert parse_dates(pa.array(texts), ())[0].tolist() == expected
    assert parse_dates(pa.array([*texts, "1970-01-02"]), ())[0].tolist() == [*expected, 1.0], "one by one"
    stamps = pa.array([moment.replace(tzinfo=None) for moment in some], pa.timestamp("us"))
    assert parse_dates(stamps, ())[0].tolist() == expected
    assert parse_dates(pa.array(some, pa.timestamp("us", "Europe/Paris")), ())[0].tolist() == expected
    recent = [moment for moment in some if 1700 < moment.year < 2200]
    whole = [moment.replace(microsecond=0, tzinfo=None) for moment in recent]
    for unit in ("s", "ms", "us", "ns"):
        got = parse_dates(pa.array(whole, pa.timestamp(unit)), ())[0].tolist()
        assert got == [slow_days(moment.replace(microsecond=0)) for moment in recent]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("1970-01-01", 0.0),
        ("1969-12-31", -1.0),
        ("1969-12-31T18:00", -0.25),
        ("2000-02-29 06:00:00", 11016.25),
        ("1970-01-01T01:00:00+01:00", 0.0),
        ("1970-01-01 00:00:00 UTC", 0.0),
        ("1970-01-01T12:00:00,0Z", 0.5),
        ("1970-01-01T00:00:00.000000000001", float(Fraction(1, 86400 * 10**12))),
        ("1970-01-01T00:00-0600", 0.25),
        ("0001-01-01", -719162.0),
    ],
)
def test_dates_as_iso_8601_writes_them(text, days):
    alone = parse_dates(pa.array([text]), ())
    among = parse_dates(pa.array(["", " " + text, "2020-01-01T10:00:00Z", "2020-01-01"]), ())
    assert (alone[0].tolist(), alone[1]) == ([days], [])
    assert among[0][1] == days


@pytest.mark.parametrize("text", ["1970-13-01", "1900-02-29", "2020-01-01T24:00", "0000-01-01", "2020-01-01T10", "x"])
def test_what_is_no_date_is_found(text):
    for others in ([], ["2020-01-01T10:00:00+00:00"], ["2020-01-01"]):
        values, bad = parse_dates(pa.array([*others, None, text]), ())
        assert bad == [len(others) + 1]
        assert np.isnan(values[-2:]).all()


def test_days_durations_and_times_of_day():
    date = datetime.date(1912, 8, 5)
    assert parse_dates(pa.array([date, None], pa.date32()), ())[0].tolist()[0] == -20968.0
    assert parse_dates(pa.array([date], pa.date64()), ())[0].tolist() == [-20968.0]
    assert parse_dates(pa.array([datetime.timedelta(hours=36)], pa.duration("ms")), ())[0].tolist() == [1.5]
    for type_ in (pa.time32("s"), pa.time64("ns")):
        assert parse_dates(pa.array([datetime.time(6)], type_), ())[0].tolist() == [0.25]


def test_dates_that_are_kept_are_one_feature_from_every_format(tmp_path):
    rows = [("1912-08-05", "a"), ("1912-08-05T12:00:00Z", "b"), ("", "a")] * 10
    (tmp_path / "a.csv").write_text("when,y\n" + "".join(f"{when},{y}\n" for when, y in rows))
    stamps = [None if not when else datetime.datetime.fromisoformat(when).replace(tzinfo=None) for when, _ in rows]
    pa.parquet.write_table(pa.table({"when": stamps, "y": [y for _, y in rows]}), tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text(
        "".join(f'{{"when": {f"{chr(34)}{when}{chr(34)}" if when else "null"}, "y": "{y}"}}\n' for when, y in rows)
    )
    for name in ("a.csv", "a.parquet", "a.jsonl"):
        stream = data.open(tmp_path / name, "y", keep=["when"], missing="mean")
        assert stream.preparation["columns"] == [{"name": "when", "kind": "date", "fill": -20967.75}]
        assert stream.feature_names == ["when"]
        assert stream.read()[0][:3].ravel().tolist() == [-20968.0, -20967.5, -20967.75]
    again = data.open(tmp_path / "a.csv", preparation=stream.preparation)
    assert again.read()[0][:2].ravel().tolist() == [-20968.0, -20967.5]
    (tmp_path / "b.csv").write_text("when,y\n1912-08-05,a\nsoon,b\n")
    with pytest.raises(data.DataError, match=r"line 3: column 'when' holds 'soon', expected a date such as 1912-08-05"):
        data.open(tmp_path / "b.csv", preparation=stream.preparation).read()


UNKNOWN = "nothing shows whether the day or the month comes first"
SEVERAL = [
    *((dates, UNKNOWN) for dates in (["05/08/1912"], ["05-08-1912 10:30", "1/2/1912"], ["8/5/1912, 3:05 PM"])),
    (["5/8/12", "30/8/12"], "whose century is not written"),
    (["30/8/1912", "8/30/1912"], "in two orders"),
]


@pytest.mark.parametrize(("dates", "why"), SEVERAL)
def test_dates_that_could_mean_several_are_asked_about(tmp_path, dates, why):
    (tmp_path / "a.csv").write_text("when;x;y\n" + "".join(f"{date};1;a\n{date};2;b\n" for date in dates) * 20)
    with pytest.raises(data.DataError, match=f"column 'when' holds dates such as .*{why}.*write them as [0-9-]{{10}}"):
        data.open(tmp_path / "a.csv", "y")
    stream = data.open(tmp_path / "a.csv", "y", on_ambiguous="drop")
    assert why in stream.excluded["when"]
    assert stream.feature_names == ["x"]
    for options in ({"keep": ["when"]}, {"column_types": {"when": "date"}}):
        with pytest.raises(data.DataError, match="write them as"):
            data.open(tmp_path / "a.csv", "y", on_ambiguous="drop", **options)


def test_a_date_that_could_mean_several_shows_how_to_write_it(tmp_path):
    rows = "".join(f"{k}/1/2022,1,a\n" for k in range(1, 13))
    (tmp_path / "a.csv").write_text("when,x,y\n03/04/2023,1,a\n,2,b\n" + rows)
    said = data.open(tmp_path / "a.csv", "y", on_ambiguous="drop").excluded["when"]
    assert said.endswith(f"03/04/2023, and {UNKNOWN}: write them as 2023-04-03")


WRITTEN = {
    "dmy": ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y-%m-%d", "%d.%m.%Y %H:%M:%S", "%d/%m/%Y, %I:%M:%S %p"],
    "mdy": ["%m/%d/%Y", "%m-%d-%Y", "%Y.%m.%d", "%m/%d/%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p"],
}


@pytest.mark.parametrize("order", WRITTEN)
def test_dates_with_an_order_are_the_days_of_the_slow_twin(order):
    some = [moment.replace(microsecond=0) for moment in moments(200, 1) if moment.year >= 1000]
    for form in WRITTEN[order]:
        midnights = "%H" not in form and "%I" not in form
        dates = [moment.replace(hour=0, minute=0, second=0) if midnights else moment for moment in some]
        texts = [date.strftime(form) for date in dates]
        expected = [slow_days(date) for date in dates]
        assert parse_dates(pa.array(texts), (), order)[0].tolist() == expected, form
        texts = [text.replace(" 0", " ").removeprefix("0") for text in texts]
        assert parse_dates(pa.array([*texts, "soon"]), (), order)[0].tolist()[:-1] == expected, form
        assert parse_dates(pa.array([*texts, "soon"]), (), order)[1] == [len(texts)]


@pytest.mark.parametrize("text", ["1.05.20233", "30.05/2023", "31.02.2020", "5/30/2023", "1.5.23", "1.5.2023 13:00 PM"])
def test_what_is_no_date_with_the_day_first_is_found(text):
    assert parse_dates(pa.array(["30.05.2023", text]), (), "dmy")[1] == [1]


ORDERS = {
    ("30.05.2023", "01.02.2023"): "dmy",
    ("01.02.2023",): "dmy",
    ("1/2/2023", "30/5/2023"): "dmy",
    ("1/2/2023", "5/30/2023 8:15 PM"): "mdy",
    ("1-2-2023", "5-30-2023"): "mdy",
    ("2020/12/31",): None,
    ("2020/1/2", "2020-01-02"): None,
}


@pytest.mark.parametrize("dates", ORDERS)
def test_the_order_of_day_and_month_is_stored(tmp_path, dates):
    order, dates = ORDERS[dates], list(dates * 20)
    columns = {"when": dates, "x": [k % 2 for k in range(len(dates))], "y": [k % 2 for k in range(len(dates))]}
    expected = parse_dates(pa.array(dates), (), order or "")[0].tolist()
    for file in every_format(tmp_path, columns):
        for options in ({"on_ambiguous": "drop", "keep": ["when"]}, {"column_types": {"when": "date"}}):
            stream = data.open(file, "y", **options)
            assert stream.preparation["columns"][0].get("order") == order
            assert stream.read()[0][:, 0].tolist() == expected
        again = data.open(file, preparation=stream.preparation)
        assert again.read()[0][:, 0].tolist() == expected
        dropped = data.open(file, "y", on_ambiguous="drop").excluded
        assert dropped["when"].startswith("holds dates, such as")


def test_later_rows_in_another_order_are_faults(tmp_path):
    (tmp_path / "a.csv").write_text("when,x,y\n" + "30/05/2023,1,a\n01/05/2023,2,b\n" * 20 + "05/30/2023,1,a\n")
    with pytest.raises(data.DataError, match=r"line 42: column 'when' holds '05/30/2023', expected a date such as 30"):
        data.open(tmp_path / "a.csv", "y", column_types={"when": "date"}, first_rows=40).read()


def test_a_date_is_the_same_alone_and_among_others():
    rng = np.random.default_rng(3)
    valid = ["2020-02-29", "1999-12-31T23:59:59.999999", "2020-01-01 10:00Z", "0001-01-01T00:00+05:30", "9999-12-31"]
    accepted = 0
    for _ in range(600):
        text = list(str(rng.choice(valid)))
        for _ in range(rng.integers(0, 3)):
            text[rng.integers(0, len(text))] = str(rng.choice(list("0123456789-:T .,Z+")))
        alone, bad = parse_dates(pa.array(["".join(text)]), ())
        among, faults = parse_dates(pa.array(["2020-01-01T00:00:00,5 UTC", "".join(text), "x"]), ())
        assert (among[1:2].tolist() == alone.tolist() and faults == [2]) or (bad == [0] and faults == [1, 2]), text
        accepted += not bad
    assert 100 < accepted < 580
