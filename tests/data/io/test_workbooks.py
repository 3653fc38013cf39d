"""Sheets of workbooks: what becomes of cells, which sheet is read, and workbooks that are damaged or too large."""

import base64
import datetime
import io
import pickle
import random
import zipfile
import zlib

import pytest

from helpers.workbooks import MAIN, ods_cell, ods_row, write_ods, write_xlsx
from rosenblatt import AveragedPerceptron, data
from rosenblatt.blocks import DataError
from rosenblatt.data.io import workbooks
from rosenblatt.data.io.workbooks import read_sheet
from rosenblatt.distributed.shards import file_loaders
from rosenblatt.messages import ParameterError

XLS = (
    "c-rk)O=uHA6#izDG(R?fH5FQ+go;&Tdk`;P+Et16lv2I;3pKTiN+p$0k$TW-%~23MDP9Wo;HB!tA5>8A;6bS9K@h}5kDde-4{g@>UUq8|5gO1!Wxi"
    "$JynS!JowqwPZ+GX_T)a4ax4ncq^udF&9Yj-=O;HKDCoz!Uwpn%S02NzfMIjiVfo$^OQTU~w$B@Un1Os=x&qx9vsT{^B42<Qh<T7HX#E?}SLoZ2%8)"
    "S)~O`>WMc~s<Tk+-GgW0Bj%a#>_AwJoZHm@@}b+niav-{=%y1bp55!g(i_Eoj9Hp2g>{s7hNOcH~cFPp&XWhqoCspaJc-a#o(tqqvC>aDdR0$@HYtM"
    "I>mjXYkEV0$<%#{WPiV%WGF4`;S_?{}1*64Pw3hs^JADVIPr2Qa~81yzKEIogKGw^H@hJq|hA6lJCrMD@W=CmD6NCmjC|23UO+eR1m941z}kt%_K(<"
    "6+JEsB}TE#-}>@8GdySxiDgpKf8`~yo@0WI3(O#LL_D5FnG(ikkr(BvYejDtnV?{)?iy@$l-*O(=8|~3sGqHZH|B;aeIx0G&wCzp6h4`oNT2O5olVT"
    "XHK)-@FRc;c^D%{P)vc~yV>~q7S~&^jy~wuTl1spdIkDT$n=pz6UQUF#$jTW%9kqC7IM0gNs*e4HdQ`$bWN<o5J?A@Qo)VtN;Td(jb4EyPap{5E8`7"
    "Sicc0OMd+ekH_zNLuXlQ6?XlQ6?Xw>ZK7|v(8*ZEK24}ZV2ud_g<thY)2TkORc9pm&<xeGa}^O$I8{;Yvdxz|!l<hc8VjD6I59-|nRI7S<uzx3m#s_"
    "$pX#Ms|kLXGxcZY0is-2YGSt<v2"
)
"""An .xls file as Excel 97 writes it, packed: the columns a, when and y, and two rows."""
DAY = datetime.date(2024, 1, 31)
CELLS = [
    ["a", "when", "at", "long", "ok", "error", "note, x"],
    [1.0, DAY, datetime.datetime(2024, 1, 31, 8, 15), datetime.timedelta(hours=30), True, "#DIV/0!", 'say "a"'],
    [None] * 7,
    [-0.1, None, datetime.datetime(2024, 2, 1), datetime.timedelta(hours=6), False, 7, "two\nlines\u2028x"],
]
TEXT = (
    'a,when,at,long,ok,error,"note, x"\n'
    '1,2024-01-31,2024-01-31 08:15:00,1.25,true,,"say ""a"""\n'
    "\n"
    "-0.1,,2024-02-01,0.25,false,7,two lines x\n"
)
TABLE = [["größe", "x", "y"], *[[f"{'ab'[k % 2]}ß", k + 0.5, ["nein", "ja"][k % 2]] for k in range(30)]]


def test_cells_as_text(tmp_path):
    assert read_sheet(write_xlsx(tmp_path / "a.xlsx", {"A": CELLS}).read_bytes(), "a").text.decode() == TEXT
    lower = write_xlsx(tmp_path / "b.xlsx", {"A": CELLS}, first_row=3, first_column=2)
    assert read_sheet(lower.read_bytes(), "b").text.decode() == "\n\n" + TEXT
    cells = [["a", "when"], [1.5, DAY], [None, None], [3, None]]
    book = write_ods(tmp_path / "a.ods", {"A": cells})
    assert read_sheet(book.read_bytes(), "a").text == b"a,when\n1.5,2024-01-31\n\n3,\n"
    xls = zlib.decompress(base64.b85decode(XLS))
    assert read_sheet(xls, "a").text.decode() == "a,when,y\n1.5,2024-01-31,u\n2,,größe\n"


def test_every_way_in_and_every_pass_gives_the_rows_of_the_table(tmp_path):
    (tmp_path / "a.csv").write_text("".join(f"{size};{x};{y}\n" for size, x, y in TABLE))
    expected = data.open(tmp_path / "a.csv", "y")
    X, y = expected.read()
    book = write_xlsx(tmp_path / "a.xlsx", {"A": TABLE})
    for path in (book, write_ods(tmp_path / "a.ods", {"A": TABLE})):
        stream = data.open(path, "y")
        assert stream.feature_names == expected.feature_names
        for _ in range(2):
            assert (stream.read()[0] == X).all()
            assert (stream.read()[1] == y).all()
        with open(path, "rb") as file:
            assert (data.open(file, "y").read()[0] == X).all()
        for rows in (path, tmp_path / "a.csv"):
            assert (data.open(rows, preparation=stream.preparation).read()[0] == X).all()
            assert (data.open(path, preparation=expected.preparation).read()[0] == X).all()
    book.rename(tmp_path / "without_ending")
    assert (data.open(tmp_path / "without_ending", "y").read()[0] == X).all()


def test_large_sheets_are_read_again_in_each_pass(tmp_path, monkeypatch):
    book = write_xlsx(tmp_path / "a.xlsx", {"A": TABLE})
    X, y = data.open(book, "y").read()
    monkeypatch.setattr("rosenblatt.data.io.lines._MOST_KEPT", 0)
    stream = data.open(book, "y")
    model = AveragedPerceptron(random_state=0).fit_stream(stream, checkpoint=tmp_path / "run", every=0)
    assert (model.coef_ == AveragedPerceptron(random_state=0).fit(X, y).coef_).all()
    resumed = AveragedPerceptron(random_state=0).fit_stream(stream, checkpoint=tmp_path / "run", resume=True)
    assert (resumed.coef_ == model.coef_).all()


def test_workers_read_the_same_sheet(tmp_path):
    for k in range(2):
        write_xlsx(tmp_path / f"{k}.xlsx", {"A": [["nothing"]], "B": [["title"], *TABLE]})
    stream, loaders = file_loaders(f"{tmp_path}/?.xlsx", {"target": "y", "sheet": "B", "skip_rows": 1})
    shards = [pickle.loads(pickle.dumps(loader))() for loader in loaders]
    assert [len(shard.numbers) for shard in shards] == [30, 30]
    assert (stream.read()[0][:30] == shards[0].X).all()


def test_an_error_about_a_sheet_of_titles_names_the_others(tmp_path):
    for name, cover in (("a", [["A study"]]), ("b", [["A study"], ["by us"]])):
        book = write_xlsx(tmp_path / f"{name}.xlsx", {"Cover": cover, "Answers": TABLE})
        what = r"expected rows to learn from|has no column 'y' for the target"
        other = f"{book}: the sheet 'Cover' is read; sheet='Answers' reads another of its 2 visible sheets."
        with pytest.raises(ParameterError, match=what) as caught:
            data.open(book, "y")
        assert str(caught.value).endswith(f". {other}")
        with pytest.raises(ParameterError, match=what) as caught:
            data.open(book, "y", sheet="Cover")
        assert "visible" not in str(caught.value)
    assert len(data.open(book, "y", sheet="Answers").read()[1]) == 30


def test_which_sheet_is_read(tmp_path):
    sheets = {"hidden": [["h"]], "empty": [], "first": TABLE, "second": [["x", "y"], [1, "a"], [2, "b"]]}
    book = write_xlsx(tmp_path / "a.xlsx", sheets, hidden=["hidden"])
    stream = data.open(book, "y")
    assert len(stream.read()[1]) == 30
    what = f"{book}: the sheet 'first' is read; sheet='empty' reads another of its 3 visible sheets (empty and second)."
    assert [str(note) for note in stream.notes] == [what]
    stream = data.open(book, "y", sheet="second")
    assert (stream.read()[1].tolist(), stream.notes) == (["a", "b"], [])
    with pytest.raises(ParameterError, match=r"has no sheet 'Second' \(did you mean 'second'\?\): give sheet one of"):
        data.open(book, "y", sheet="Second")
    with pytest.raises(DataError, match="is empty"):
        data.open(book, "y", sheet="empty")


def test_lines_in_messages_are_rows_of_the_sheet(tmp_path):
    rows = [["two\nlines"], [], ["x", "y"], [1, "a"], [None, None], ["many", "b"], [3, "b"]]
    book = write_xlsx(tmp_path / "a.xlsx", {"A": rows})
    stream = data.open(book, "y", skip_rows=2, column_types={"x": "number"}, on_error="skip")
    assert stream.read()[1].tolist() == ["a", "b"]
    assert stream.skipped.sentences[0].startswith(f"{book}, line 6: column 'x' holds 'many'")


def test_options_that_do_not_apply(tmp_path):
    book = write_xlsx(tmp_path / "a.xlsx", {"A": TABLE})
    for name, value in (("delimiter", ";"), ("quote", ""), ("format", "npz"), ("format", "jsonl")):
        with pytest.raises(ParameterError, match=f"a.xlsx is a workbook, where {name} has no meaning: leave it out"):
            data.open(book, "y", **{name: value})
    with pytest.raises(ParameterError, match="is a workbook, whose text needs no encoding: leave it out"):
        data.open(book, "y", encoding="cp1252")
    with pytest.raises(ParameterError, match="sheet must be the name of a sheet, got 0"):
        data.open(book, "y", sheet=0)
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    with pytest.raises(ParameterError, match=r"a.csv is not a workbook .* so it has no sheet: leave it out"):
        data.open(tmp_path / "a.csv", "y", sheet="A")
    assert data.open(book, "y", format="csv").read()[0].shape == (30, 3)


def refusal(stored):
    """Return the message of the error for a workbook."""
    with pytest.raises(DataError) as caught:
        read_sheet(stored, "a.xlsx")
    return str(caught.value)


def sheet(rows):
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


FAR = {
    "one cell": '<row r="1"><c r="A1"/></row><row r="1048576"><c r="XFD1048576"/></row>',
    "no places": f'<row>{"<c/>" * 5000}</row><row r="1000000"/>',
    "lower case": '<row><c r="zzz1"/></row><row r="9999"><c/></row>',
    "other places": '<row r="1"><c r="A1"/><c r="ZZZ99999"/></row>',
    "a second row": '<row r="1"><c r="A1"/></row><row s="1"/><row r="9999999"><c t="n" r="AAA9999999"/></row>',
    "spaces": '<row\tr="9999999"><c\nr="ABC9999999"/></row>',
    "other quotes": "<row r = '99999'><c r\n=\n'ZZZ&#57;'/></row>",
    "a prefix": f'<x:row xmlns:x="{MAIN}" r="99999"><x:c r="ZZZ9"/></x:row>',
}


@pytest.mark.parametrize("rows", FAR)
def test_a_small_file_cannot_claim_many_cells(tmp_path, rows):
    book = write_xlsx(tmp_path / "a.xlsx", {"A": [["x", "y"]], "B": sheet(FAR[rows])}).read_bytes()
    assert "a.xlsx has a sheet of " in refusal(book)
    assert "expected at most 16,777,216 cells, empty ones included: save the sheet as CSV." in refusal(book)


def test_repeated_cells_of_opendocument_count_where_they_are_not_empty(tmp_path):
    far = ods_row([ods_cell(1), ods_cell(None, 9000), ods_cell(2)], 2000)
    book = write_ods(tmp_path / "a.ods", {"A": far}).read_bytes()
    assert "a sheet of 2,000 rows and 9,002 columns" in refusal(book)
    book = write_ods(tmp_path / "b.ods", {"A": ods_row([ods_cell("x", 16_384)], 100_000)}).read_bytes()
    assert "a sheet of " in refusal(book)
    long = "".join(ods_row([ods_cell(k)]) for k in range(3)) + ods_row([ods_cell(None, 16_384)], 1_000_000)
    book = write_ods(tmp_path / "c.ods", {"A": [["x", "y"], [1, 2]], "B": long}).read_bytes()
    assert read_sheet(book, "c").text == b"x,y\n1,2\n"


def test_parts_that_unpack_to_more_than_they_say(tmp_path, monkeypatch):
    book = write_xlsx(tmp_path / "a.xlsx", {"A": sheet(" " * 10**6)}).read_bytes()
    assert read_sheet(book, "a").text == b""
    entry = book.rindex(b"PK\x01\x02", 0, book.rindex(b"xl/worksheets/sheet1.xml"))
    forged = bytearray(book)
    forged[entry + 24 : entry + 28] = (1000).to_bytes(4, "little")  # the unpacked size in the directory
    assert "xl/worksheets/sheet1.xml is larger than the archive says" in refusal(bytes(forged))
    monkeypatch.setattr(workbooks, "MOST_BYTES", 10**5)
    assert refusal(book).startswith("a.xlsx unpacks to 1,00")
    monkeypatch.setattr("rosenblatt.data.io.decoding.MOST_STORED_BYTES", 100)
    with pytest.raises(DataError, match=r"a.xlsx is a workbook of more than 100 bytes: save the sheet as CSV"):
        data.open(tmp_path / "a.xlsx", "y")


def test_workbooks_that_cannot_be_read(tmp_path):
    assert "cannot be read as a workbook (" in refusal(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000))
    broken = sheet("<row><c/></row>").replace("</row>", "")
    unknown = '<?xml version="1.0" encoding="UTTTF-8"?>' + sheet("<row><c/></row>")
    for odd in (broken, unknown, '<!DOCTYPE x [<!ENTITY a "b">]>' + sheet("")):
        book = write_xlsx(tmp_path / "a.xlsx", {"A": odd}).read_bytes()
        assert "xl/worksheets/sheet1.xml is not valid XML): save it again, or save the sheet as CSV" in refusal(book)
    unclosed = write_xlsx(tmp_path / "a.xlsx", {"A": sheet("")[:-5] + "<" * 300_000}).read_bytes()
    assert "cannot be read as a workbook (" in refusal(unclosed)
    book = write_xlsx(tmp_path / "a.xlsx", {"A": TABLE}, compression=zipfile.ZIP_BZIP2).read_bytes()
    assert "is compressed in an unknown way" in refusal(book)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("xl/workbook.bin", b"")
    assert refusal(file.getvalue()) == "a.xlsx is a binary workbook (.xlsb): save it as .xlsx or CSV."


def test_damaged_workbooks_are_read_or_refused_with_a_sentence(tmp_path):
    rng = random.Random(0)
    books = [
        write_xlsx(tmp_path / "a.xlsx", {"A": CELLS}).read_bytes(),
        write_xlsx(tmp_path / "b.xlsx", {"A": CELLS}, compression=zipfile.ZIP_STORED).read_bytes(),
        write_ods(tmp_path / "a.ods", {"A": TABLE}).read_bytes(),
        zlib.decompress(base64.b85decode(XLS)),
    ]
    refusals = []
    for k in range(400):
        damaged = bytearray(books[k % 4])
        for _ in range(rng.randrange(1, 4)):
            damaged[rng.randrange(40, len(damaged))] = rng.randrange(256)
        if k % 5 == 0:
            del damaged[rng.randrange(40, len(damaged)) :]
        try:
            read_sheet(bytes(damaged), "a.xlsx")
        except DataError as error:
            refusals.append(str(error))
    assert len(refusals) > 100
    assert all(refusal.startswith("a.xlsx ") for refusal in refusals)
