"""Small workbooks, written without a library: .xlsx (Excel) and .ods (OpenDocument)."""

import datetime
import zipfile
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
DATE_STYLE, TIME_STYLE, DURATION_STYLE = 1, 2, 3
STYLES = (
    f'{HEAD}<styleSheet xmlns="{MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy-mm-dd hh:mm"/>'
    '<numFmt numFmtId="165" formatCode="[h]:mm:ss"/></numFmts>'
    '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>'
    "</styleSheet>"
)


MANIFEST = (
    f'{HEAD}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
    '<manifest:file-entry manifest:full-path="/" '
    'manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>'
)


def column_letters(k):
    """Return the letters of a column, counted from 0.

    >>> column_letters(0), column_letters(27)
    ('A', 'AB')
    """
    return (column_letters(k // 26 - 1) if k >= 26 else "") + chr(ord("A") + k % 26)


def xlsx_cell(value, place):
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, str):
        if value.startswith("#"):
            return f'<c r="{place}" t="e"><v>{value}</v></c>'
        text = escape(value, {"\n": "&#10;"})
        return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
    style = 0
    if isinstance(value, datetime.datetime):
        style, value = TIME_STYLE, (value - datetime.datetime(1899, 12, 30)) / datetime.timedelta(days=1)
    elif isinstance(value, datetime.date):
        style, value = DATE_STYLE, (value - datetime.date(1899, 12, 30)).days
    elif isinstance(value, datetime.timedelta):
        style, value = DURATION_STYLE, value / datetime.timedelta(days=1)
    return f'<c r="{place}" s="{style}"><v>{value!r}</v></c>'


def sheet_xml(rows, first_row=1, first_column=0):
    lines = []
    for n, row in enumerate(rows, first_row):
        cells = [xlsx_cell(value, f"{column_letters(first_column + k)}{n}") for k, value in enumerate(row)]
        lines.append(f'<row r="{n}">{"".join(cells)}</row>')
    return f'{HEAD}<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def write_xlsx(path, sheets, hidden=(), compression=zipfile.ZIP_DEFLATED, **place):
    """Write sheets, a dictionary of lists of rows or of XML; None is an empty cell, "#DIV/0!" an error."""
    numbered = list(enumerate(sheets.items(), 1))
    listed = ""
    for n, (name, _) in numbered:
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"{state}/>'
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n, _ in numbered
    )
    related += f'<Relationship Id="styles" Type="{RELATIONS}/styles" Target="styles.xml"/>'
    parts = {
        "[Content_Types].xml": f'{HEAD}<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{HEAD}<Relationships xmlns="{PACKAGE}/relationships">{related}</Relationships>',
        "xl/styles.xml": STYLES,
    }
    for n, (_, rows) in numbered:
        parts[f"xl/worksheets/sheet{n}.xml"] = rows if isinstance(rows, str | bytes) else sheet_xml(rows, **place)
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return path


def ods_cell(value, repeated=1):
    times = f' table:number-columns-repeated="{repeated}"' if repeated > 1 else ""
    if value is None:
        return f"<table:table-cell{times}/>"
    if isinstance(value, str):
        return (
            f'<table:table-cell office:value-type="string"{times}><text:p>{escape(value)}</text:p></table:table-cell>'
        )
    if isinstance(value, datetime.date):
        shown = f'office:value-type="date" office:date-value="{value.isoformat()}"'
        return f"<table:table-cell {shown}{times}><text:p>{value}</text:p></table:table-cell>"
    shown = f'office:value-type="float" office:value="{value!r}"'
    return f"<table:table-cell {shown}{times}><text:p>{value}</text:p></table:table-cell>"


def ods_row(cells, repeated=1):
    times = f' table:number-rows-repeated="{repeated}"' if repeated > 1 else ""
    return f"<table:table-row{times}>{''.join(cells)}</table:table-row>"


def write_ods(path, sheets):
    """Write sheets, a dictionary of lists of rows or of XML."""
    tables = ""
    for name, rows in sheets.items():
        if not isinstance(rows, str):
            rows = "".join(ods_row([*map(ods_cell, row), ods_cell(None, 16_000)]) for row in rows)
            rows += ods_row([ods_cell(None, 16_384)], 1_048_000)  # as LibreOffice fills a sheet
        tables += f"<table:table table:name={quoteattr(name)}>{rows}</table:table>"
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text", "style")
    )
    content = f"{HEAD}<office:document-content {spaces}><office:body><office:spreadsheet>{tables}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet", zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", MANIFEST)
        archive.writestr("content.xml", f"{content}</office:spreadsheet></office:body></office:document-content>")
    return path
