"""Pages that show files of the repository: where links from pages and docstrings to code and tests lead.

A link to a file outside ``docs``, the name of such a file or of a test in inline code, and the "[source]" of a
documented name all lead to a page with the file, at the line where the thing begins. A folder's page lists its files.
A link to a Markdown file that the site has as a page of its own leads there.
"""

from __future__ import annotations

import ast
import functools
import html
import importlib
import inspect
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
FOLDER = "source"
PAGES = {
    "README.md": "index",
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security",
}
LANGUAGES = {".py": "python", ".md": "markdown", ".toml": "toml", ".js": "javascript", ".json": "json"}
_NAMED = re.compile(r"(?:tests|src|benchmarks)(?:/\w+)+\.\w+")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what runs while pages are read, and what writes the source pages at the end."""
    app.connect("doctree-read", link_to_sources, priority=400)  # before Sphinx copies linked files as downloads
    app.connect("env-purge-doc", forget)
    app.connect("html-collect-pages", source_pages)
    return {"version": "1", "parallel_read_safe": False}


def link_to_sources(app: Sphinx, doctree: nodes.document) -> None:
    """Turn links to files, names of files and tests, and documented names into links to source pages."""
    shown: dict[str, set[str]] = app.env.__dict__.setdefault("shown_sources", {})
    docname = app.env.current_document.docname
    folder = Path(app.srcdir, docname).parent

    def link(path: Path, anchor: str, *children: nodes.Node, **attributes: Any) -> nodes.reference:
        file = path.relative_to(ROOT).as_posix()
        if file in PAGES:
            page = PAGES[file]
        else:
            page = f"{FOLDER}/{file}"
            shown.setdefault(docname, set()).add(file)
        uri = app.builder.get_relative_uri(docname, page) + (f"#{anchor}" if anchor else "")
        return nodes.reference("", "", *children, refuri=uri, internal=True, **attributes)

    for node in [*doctree.findall(addnodes.download_reference), *doctree.findall(addnodes.pending_xref)]:
        path = linked_file(app, folder, node) if node["reftype"] == "myst" else None
        if path:
            node.replace_self(link(path, anchor_of(path, node.astext()), *node.children))
        elif node["reftype"] == "myst" and node.astext().endswith(".md") and not node.get("reftargetid"):
            node["refexplicit"] = False  # a page that is called by the name of its file is called by its title here
    for node in list(doctree.findall(nodes.literal)):
        place = None if is_linked(node) else named_in_code(node.astext())
        if place:
            node.replace_self(link(*place, node.deepcopy()))
    for node in doctree.findall(addnodes.desc_signature):
        place = place_of(node.get("module"), node.get("fullname", ""))
        if place:
            node.append(link(*place, nodes.inline("", "[source]"), classes=["source-link"]))


def is_linked(node: nodes.Node) -> bool:
    """Return whether a node is part of a link, or of a title, which is one in the tables of contents."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, nodes.reference | nodes.title | addnodes.pending_xref | addnodes.download_reference):
            return True
    return False


def linked_file(app: Sphinx, folder: Path, node: nodes.Element) -> Path | None:
    """Return the file or folder that a Markdown link leads to, None if it is a page of the site or not there."""
    if node["reftarget"] in app.env.found_docs:
        return None
    for start in (folder, ROOT):  # what stands at the root, such as the list of changes, is included in a page
        for ending in ("", ".md"):
            path = Path(os.path.normpath(start / (node["reftarget"] + ending)))
            if path.exists() and path.is_relative_to(ROOT) and path != ROOT:
                return path
    return None


def named_in_code(text: str) -> tuple[Path, str] | None:
    """Return the file that inline code names, and the place in it, if it names a file or a test."""
    if _NAMED.fullmatch(text) and (ROOT / text).exists():
        return ROOT / text, ""
    return tests().get(text)


def anchor_of(path: Path, text: str) -> str:
    """Return the anchor of the thing that a link to a file is named after, empty if the file has none of that name."""
    name = text.strip("`()").rpartition(".")[2]
    return name if path.suffix == ".py" and name in definitions(path) else ""


def place_of(module: str | None, fullname: str) -> tuple[Path, str] | None:
    """Return the file and the place where a documented name is defined, None where it is not in a file of ours."""
    if not module:
        return None
    found: Any = importlib.import_module(module)
    for part in fullname.split("."):
        found = inspect.getattr_static(found, part, None) if inspect.isclass(found) else getattr(found, part, None)
    if isinstance(found, property):
        found = found.fget
    found = inspect.unwrap(getattr(found, "__func__", found))
    file = getattr(importlib.import_module(getattr(found, "__module__", None) or "builtins"), "__file__", None)
    if file is None or not Path(file).is_relative_to(ROOT):
        return None
    name = getattr(found, "__qualname__", "")
    return (Path(file), name) if name in definitions(Path(file)) else None


@functools.cache
def definitions(path: Path) -> dict[str, int]:
    """Return the line of each function, class and method of a Python file, by its qualified name."""
    lines = {}
    blocks = [("", ast.parse(path.read_text()))]
    for prefix, block in blocks:
        for node in block.body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                lines.setdefault(prefix + node.name, first)
                if isinstance(node, ast.ClassDef):
                    blocks.append((f"{prefix}{node.name}.", node))
    return lines


@functools.cache
def tests() -> dict[str, tuple[Path, str]]:
    """Return where each test is defined, by its name."""
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    return {name: (path, name) for path in files for name in definitions(path) if name.startswith("test_")}


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """Forget the files that a page linked to."""
    env.__dict__.get("shown_sources", {}).pop(docname, None)


def source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield a page for each file and folder that is linked to."""
    linked = set().union(*app.env.__dict__.get("shown_sources", {}).values())
    for file in sorted(linked | {str(child) for folder in linked for child in children_of(folder)}):
        page = f"{FOLDER}/{file}"
        body = listing(app, page, file) if (ROOT / file).is_dir() else highlighted(app, ROOT / file)
        context = {"title": file, "body": f"<h1>{html.escape(file)}</h1>\n{body}", "parents": []}
        yield page, context, "page.html"


def children_of(file: str) -> list[Path]:
    """Return the files of a folder, none for a file."""
    found = (
        sorted(path for path in (ROOT / file).rglob("*") if path.suffix in LANGUAGES) if (ROOT / file).is_dir() else []
    )
    return [path.relative_to(ROOT) for path in found]


def listing(app: Sphinx, page: str, folder: str) -> str:
    """Return a list of the files of a folder."""
    links = (
        f'<li><a href="{app.builder.get_relative_uri(page, f"{FOLDER}/{child}")}"><code>{child}</code></a></li>'
        for child in children_of(folder)
    )
    return f"<ul>{''.join(links)}</ul>"


def highlighted(app: Sphinx, path: Path) -> str:
    """Return the text of a file with its colours, and with an anchor at each definition."""
    text = app.builder.highlighter.highlight_block(path.read_text(), LANGUAGES.get(path.suffix, "text"))
    before, opening, code = text.partition("<pre>")
    lines = code.split("\n")
    for name, line in definitions(path).items() if path.suffix == ".py" else ():
        lines[line - 1] = f'<span class="definition" id="{name}"></span>{lines[line - 1]}'
    return before + opening + "\n".join(lines)
