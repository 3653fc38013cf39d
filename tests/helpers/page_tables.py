"""Tables of Markdown pages, as they are written."""

import re


def read_tables(text):
    """Return the tables of a text in order, each with its cells by row and then by column."""
    tables = []
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines()]
        tables.append({row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows})
    return tables
