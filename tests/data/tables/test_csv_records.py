"""Where the records of CSV text end."""

import csv
import io
import random

import pytest

from rosenblatt.data.io.lines import LineSource
from rosenblatt.data.tables.delimited import DelimitedReader, line_count, record_places, whole_records


def random_text(rng, ends=("\n", "\r\n")):
    """Cells with quotes, separators and newlines in them, some quoted, some with a stray quote; lines of three."""
    end = rng.choice(ends)
    lines = []
    for _ in range(rng.randrange(1, 12)):
        cells = []
        for _ in range(3):
            cell = "".join(rng.choice(["a", " ", "7", '"', ",", "\n", "é"]) for _ in range(rng.randrange(5)))
            if rng.random() < 0.5:
                cell = '"' + cell.replace('"', '""') + '"' + rng.choice(["", "", "x"])
            else:
                cell = cell.replace(",", "").replace("\n", "").lstrip('"')
            cells.append(cell)
        lines.append(",".join(cells) + end)
        if rng.random() < 0.2:
            lines.append(end)
    return "".join(lines)


def naive_records(text):
    """Cells and first line of each record by Python's csv, and the line after it."""
    reader = csv.reader(io.StringIO(text, newline=""))
    found, line = [], 0
    for cells in reader:
        if cells:
            found.append((line, cells, reader.line_num))
        line = reader.line_num
    return found


@pytest.mark.parametrize("seed", range(200))
def test_records_and_their_lines_are_those_of_pythons_csv(seed, tmp_path):
    text = random_text(random.Random(seed))
    expected = naive_records(text)
    encoded = text.encode()
    assert record_places(encoded, ",", '"')[1].tolist() == [line for line, *_ in expected]
    lines = encoded.splitlines(keepends=True)
    for k in range(len(lines) + 1):
        part = b"".join(lines[:k])
        whole = naive_records(part[: whole_records(part, ",", '"')].decode())
        assert whole == expected[: sum(stop <= k for _, _, stop in expected)]
    (tmp_path / "a.csv").write_bytes(b"u,v,w\n" + encoded)
    for chunk_bytes in (5, 40, 1 << 20):
        reader = DelimitedReader(LineSource(tmp_path / "a.csv", chunk_bytes=chunk_bytes), delimiter=",", header=True)
        pieces = [reader.parse(item) for item in reader.items()]
        cells = [
            list(row) for p in pieces for row in zip(*(p.columns[name].to_pylist() for name in "uvw"), strict=True)
        ]
        assert cells == [cells for _, cells, _ in expected]
        places = [piece.where(k) for piece in pieces for k in range(piece.n)]
        assert places == [f"{tmp_path}/a.csv, line {line + 2}" for line, *_ in expected]


def test_lines_end_in_newlines_returns_or_both():
    assert line_count(b"a\nb\r\nc\rd\n") == 4
    assert record_places(b"a\nb\r\n\r\nc\rd\n", ",", '"')[1].tolist() == [0, 1, 3, 4]
    assert whole_records(b'"\n"\n"', ",", '"') == 4
    assert whole_records(b'"\n', ",", '"') == 0
    assert whole_records(b'"\n', ",", "") == 2
