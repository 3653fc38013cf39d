"""The gallery: every figure of `rosenblatt.figures` is drawn, and has a page with its numbers and its code.

Pictures and pages are kept in ``docs/gallery`` and made again when the source of the package changes. Two directives
show them: ``{gallery}`` all, as thumbnails by text, and ``{text-figure} 4.7`` one, with its caption. With
``gallery_pictures`` False nothing is drawn, and the pages come without pictures: for a quick look at the rest.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import json
import os
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

import rosenblatt

DPI = 150
DRAWN_WITH = ("matplotlib", "numpy", "scipy", "scikit-learn", "numba")
_SPECIAL = re.compile(r"([\\*`|_\[\]<>$])")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the drawing and the directives."""
    app.add_config_value("gallery_pictures", True, "env", [bool])
    app.add_directive("gallery", Gallery)
    app.add_directive("text-figure", TextFigure)
    app.connect("builder-inited", make_pages)
    return {"version": "1", "parallel_read_safe": True}


class Gallery(SphinxDirective):
    """All figures as thumbnails, under the text that each is from."""

    def run(self) -> list[nodes.Node]:
        """Return the headings, the cards and the table of contents."""
        texts: dict[str, list[dict[str, Any]]] = {}
        for figure in drawn(self.env.app):
            texts.setdefault(figure["text"], []).append(figure)
        lines = []
        for text, figures in texts.items():
            lines += [f"## {escaped(text)}", "", "::::{grid} 2 2 3 3", ":gutter: 2", ":class-container: thumbnails", ""]
            for figure in figures:
                lines += [
                    f":::{{grid-item-card}} {figure['id']} {escaped(figure['title'])}",
                    f":link: /{page_of(figure)}",
                ]
                lines += [
                    ":link-type: doc",
                    *([f":img-top: /{page_of(figure)}.png", f":img-alt: {figure['title']}"] if figure["width"] else []),
                    ":::",
                    "",
                ]
            lines += ["::::", ""]
        pages = [f"/{page_of(figure)}" for figures in texts.values() for figure in figures]
        lines += ["```{toctree}", ":hidden:", "", *pages, "```"]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class TextFigure(SphinxDirective):
    """One figure with its caption, and a link to its page in the gallery."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the picture with its caption."""
        figures = {figure["id"]: figure for figure in drawn(self.env.app)}
        figure = figures.get(self.arguments[0])
        if figure is None:
            raise self.error(f"there is no figure {self.arguments[0]!r}: expected one of {', '.join(figures)}.")
        words = f"**Figure {figure['id']}.** {escaped(figure['caption'])} ([numbers and code](/{page_of(figure)}.rst))"
        if not figure["width"]:
            return self.parse_text_to_nodes(words)
        options = f":alt: {figure['title']}\n:width: {figure['width']}px"
        return self.parse_text_to_nodes(f"```{{figure}} /{page_of(figure)}.png\n{options}\n\n{words}\n```")


def make_pages(app: Sphinx) -> None:
    """Draw what has changed, and write a page for each figure."""
    folder = Path(app.srcdir, "gallery")
    folder.mkdir(exist_ok=True)
    stamp = source_stamp(app.config.gallery_pictures)
    known = known_figures(app)
    if not known.exists() or json.loads(known.read_text())["stamp"] != stamp:
        figures = [draw(folder, entry, app.config.gallery_pictures) for entry in catalogue()]
        known.write_text(json.dumps({"stamp": stamp, "figures": figures}))
    pages = {f"{page_of(figure)}.rst": page_text(figure) for figure in drawn(app)}
    for page in {f"gallery/{path.name}" for path in folder.glob("*.rst")} - set(pages):
        (Path(app.srcdir) / page).unlink()
    for page, text in pages.items():
        path = Path(app.srcdir, page)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def source_stamp(pictures: bool) -> str:
    """Return what tells one state of the package, and of the packages that it draws with, from another."""
    digest = hashlib.sha256(str((pictures, DPI, *map(version, DRAWN_WITH))).encode())
    for path in [*sorted(Path(rosenblatt.__file__).parent.rglob("*.py")), Path(__file__)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def catalogue() -> list[Any]:
    """Return the entries of `rosenblatt.figures`."""
    return list(importlib.import_module("rosenblatt.figures").catalogue.values())


def draw(folder: Path, entry: Any, pictures: bool) -> dict[str, Any]:
    """Draw one figure into the folder; return what its page says."""
    source = os.path.relpath(inspect.getsourcefile(entry.function) or "", folder.parent)
    code = {"source": source, "module": entry.function.__module__, "function": entry.function.__name__}
    figure = {"id": entry.id, "title": entry.title, "text": entry.text} | code
    if not pictures:
        return figure | {"caption": entry.title, "numbers": {}, "width": 0}
    getLogger(__name__).info("drawing figure %s", entry.id)
    drawing = entry.draw()
    drawing.picture.savefig(folder.parent / f"{page_of(figure)}.png", dpi=DPI)
    number_words = importlib.import_module("rosenblatt.figures.drawing").number_words
    numbers = {name: number_words(value) for name, value in drawing.numbers.items()}
    width = round(100 * drawing.picture.get_figwidth())
    return figure | {"caption": drawing.caption, "numbers": numbers, "width": width}


def known_figures(app: Sphinx) -> Path:
    """Return the file that keeps what is known of each figure, apart for those that were drawn and that were not."""
    return Path(app.srcdir, "gallery", "drawn.json" if app.config.gallery_pictures else "listed.json")


def drawn(app: Sphinx) -> list[dict[str, Any]]:
    """Return what is known of each figure."""
    return json.loads(known_figures(app).read_text())["figures"]


def page_of(figure: dict[str, Any]) -> str:
    """Return the name of a figure's page: that of its picture too, with another ending."""
    return f"gallery/figure-{figure['id'].replace('.', '-')}"


def page_text(figure: dict[str, Any]) -> str:
    """Return a figure's page: picture, caption, numbers, and the function that draws it."""
    title = escaped(f"{figure['id']} {figure['title']}")
    lines = [title, "=" * len(title), ""]
    if figure["width"]:
        lines += [f".. image:: /{page_of(figure)}.png", f"   :alt: {figure['title']}"]
        lines += [f"   :width: {figure['width']}px", ""]
    lines += [escaped(figure["caption"]), "", f"From: {escaped(figure['text'])}. To draw it:", ""]
    lines += [".. code-block:: console", "", f"   $ rosenblatt figures --only {figure['id']}", ""]
    if figure["numbers"]:
        lines += ["The numbers", "-----------", "", ".. list-table::", "   :class: numbers"]
        lines += ["   :widths: auto", ""]
        for name, value in figure["numbers"].items():
            lines += [f"   * - ``{name}``", f"     - {escaped(value)}"]
    lines += ["", "The code", "--------", "", f"``{figure['module']}``:", ""]
    lines += [f".. literalinclude:: /{figure['source']}", "   :language: python"]
    lines += [f"   :pyobject: {figure['function']}", ""]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Return text whose signs mean nothing to reStructuredText or Markdown."""
    return _SPECIAL.sub(r"\\\1", text)
