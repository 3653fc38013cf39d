"""Files as people have them, at the command: workbooks, titles, other encodings, amounts."""

import datetime
import json

import numpy as np
import pytest

from helpers.commands import command, ran, refused
from helpers.workbooks import write_ods, write_xlsx

HEADER = ["Kunde", "Datum", "Preis", "Anteil", "Größe, cm", "Region", "gekauft"]
TITLE = [["Umsatz 2024"], []]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    found = []
    for k in range(80):
        price = round(float(rng.uniform(1, 2000)), 2)
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=int(rng.integers(300)))
        cells = [f"K{k:03}", day, price if k % 9 else None, round(float(rng.uniform(0, 100)), 1)]
        size = round(float(rng.normal(50, 9)), 1)
        found.append([*cells, size, ["Süd", "Nord"][k % 2] if k % 13 else None, "ja" if price > 1000 else "nein"])
    return found


def german(x, digits):
    return "" if x is None else f"{x:,.{digits}f}".replace(",", "T").replace(".", ",").replace("T", ".")


def as_text(rows, delimiter=";"):
    lines = [TITLE[0], [], HEADER]
    for name, day, price, share, size, region, y in rows:
        shown = german(price, 2) + " €" if price is not None else ""
        lines.append([name, f"{day:%d.%m.%Y}", shown, f"{german(share, 1)} %", german(size, 1), region or "", y])
    return "".join(delimiter.join(cells) + "\n" for cells in lines)


def test_the_same_table_in_every_shape_makes_the_same_model(rows, tmp_path):
    write_xlsx(tmp_path / "a.xlsx", {"Notes": [["nothing"]], "Daten": [*TITLE, HEADER, *rows]})
    write_ods(tmp_path / "a.ods", {"Daten": [*TITLE, HEADER, *rows]})
    (tmp_path / "a.csv").write_bytes(as_text(rows).encode("cp1252"))
    (tmp_path / "a.txt").write_bytes(as_text(rows, "\t").encode("utf-16"))
    shapes = {
        "a.xlsx": ["--sheet", "Daten"],
        "a.ods": [],
        "a.csv": ["--encoding", "cp1252"],
        "a.txt": ["--format", "tsv"],
    }
    answers = {}
    for name, options in shapes.items():
        files = [tmp_path / name, "--skip-rows", "2", *options]
        ran("train", *files, "-t", "gekauft", "-o", tmp_path / "m", "--seed", "1")
        answers[name] = ran("predict", tmp_path / "m", *files, "--scores").stdout
        answer = json.loads(ran("test", tmp_path / "m", *files, "--json").stdout)
        assert answer["accuracy"] > 0.9
        assert answer["rows"] == 80
        described = json.loads(ran("describe", *files, "-t", "gekauft", "--json").stdout)
        kinds = {row["column"]: (row["missing"], row["distinct"]) for row in described["rows"]}
        assert kinds["Preis"] == (9, 71), name
    assert len(set(answers.values())) == 1


def test_what_is_said_about_units_and_sheets(rows, tmp_path):
    (tmp_path / "a.csv").write_text(as_text(rows))
    run = ran("train", tmp_path / "a.csv", "--skip-rows", "2", "-t", "gekauft", "-o", tmp_path / "m")
    said = " ".join(run.stderr.split())
    assert "a.csv: read as numbers: Preis (in €), Anteil (in %)." in said
    book = write_xlsx(tmp_path / "b.xlsx", {"Daten": [HEADER, *rows], "Notes": [["nothing"]]})
    what = "b.xlsx: the sheet 'Daten' is read; --sheet Notes reads another of its 2 visible sheets."
    for arguments in (["train", book, "-t", "gekauft", "-o", tmp_path / "m"], ["predict", tmp_path / "m", book]):
        assert what in " ".join(ran(*arguments).stderr.split())
    assert what in " ".join(ran("describe", book, "-t", "gekauft").stdout.split())


def test_each_mistake_names_the_option(rows, tmp_path):
    book = write_xlsx(tmp_path / "a.xlsx", {"Daten": [HEADER, *rows]})
    ran("train", book, "-t", "gekauft", "-o", tmp_path / "m")
    write_xlsx(tmp_path / "titled.xlsx", {"Daten": [*TITLE, HEADER, *rows]})
    what = "most cells of its first line are empty: if it is a title, leave it out with --skip-rows 1"
    assert what in refused("train", tmp_path / "titled.xlsx", "-t", "gekauft")
    for title in (TITLE, [*TITLE, ["of May"], []]):
        titled = write_xlsx(tmp_path / "titled.xlsx", {"Daten": [*title, HEADER, *rows]})
        n = len(title)
        what = f"line {n + 1} has these names: leave out the lines above it with --skip-rows {n}."
        for name in ("predict", "test"):
            assert what in refused(name, tmp_path / "m", titled)
        assert ran("test", tmp_path / "m", titled, "--skip-rows", str(n)).exit_code == 0
    (tmp_path / "a.csv").write_text(as_text(rows))
    assert "leave out the lines above with --skip-rows 2" in refused("train", tmp_path / "a.csv", "-t", "gekauft")
    (tmp_path / "b.csv").write_bytes(as_text(rows).encode("cp1252"))
    files = [tmp_path / "b.csv", "--skip-rows", "2"]
    assert "give its encoding, such as --encoding cp1252 for most" in refused("train", *files, "-t", "gekauft")
    (tmp_path / "c.csv").write_bytes(as_text(rows).encode("utf-16-le"))
    assert "give --encoding utf-16-le." in refused("describe", tmp_path / "c.csv", "-t", "gekauft")
    assert "give --sheet one of Daten" in refused("predict", tmp_path / "m", book, "--sheet", "Blatt 1")


def test_watch_reads_other_encodings(tmp_path):
    lines = "größe,y\n" + "1,ja\n-1,nein\n" * 20
    run = command("watch", "-t", "y", "--every", "10", "-o", tmp_path / "m", "--encoding", "cp1252",
                  input=lines.encode("cp1252"))  # fmt: skip
    assert run.exit_code == 0, run.output
    assert "größe" in ran("explain", tmp_path / "m").stdout
