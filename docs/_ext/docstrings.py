"""How docstrings and examples become text of the site: their maths, signatures, members, and lines that fit."""

from __future__ import annotations

import inspect
import re
import textwrap
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

_EXAMPLES = re.compile(r"(^ *>>> .*?(?:\n *\n|\Z))", re.DOTALL | re.MULTILINE)  # up to a blank line
_LITERALS = re.compile(r"(``.+?``)", re.DOTALL)
_PRODUCT = re.compile(r"(?<=\S) \. (?=\S)")
_PROMPT = re.compile(r"^ *(>>> |\.\.\. |\$ )", re.MULTILINE)
_TABLE = re.compile(r"^-{8,}$", re.MULTILINE)
WIDTH = 88


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what autodoc asks for."""
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-process-docstring", set_maths, priority=100)  # before numpydoc takes the docstring apart
    app.connect("doctree-read", trim_code)
    return {"version": "1", "parallel_read_safe": True}


def skip_member(app: Sphinx, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that scikit-learn's, numpy's or Python's classes bring along."""
    home = getattr(getattr(found, "fget", found), "__module__", None) or ""
    return True if home.partition(".")[0] in ("sklearn", "builtins", "dataclasses") else None


def own_signature(
    app: Sphinx, what: str, name: str, found: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Return the public parameters of ``__init__``, also where ``__new__`` takes any to refuse others."""
    if not signature or not inspect.isclass(found) or not (signature == "(*args, **kwargs)" or " _" in signature):
        return None
    parameters = [value for key, value in inspect.signature(found).parameters.items() if not key.startswith("_")]
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain)), returns


def set_maths(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Set the maths of a docstring: |w| is a length, not the name of a substitution, and w . x a product with a dot."""
    parts = _EXAMPLES.split("\n".join(lines))
    for k in range(0, len(parts), 2):
        pieces = _LITERALS.split(_PRODUCT.sub("·", parts[k]))
        pieces[::2] = [piece.replace("|", r"\|") for piece in pieces[::2]]
        parts[k] = "".join(pieces)
    lines[:] = "".join(parts).split("\n")


def trim_code(app: Sphinx, doctree: nodes.document) -> None:
    """Remove blank lines at the end of code, which doctest needs and readers do not, and wrap long lines of output."""
    for node in doctree.findall(nodes.literal_block):
        text = node.astext().rstrip("\n")
        if _TABLE.search(text):
            node["classes"].append("columns")  # a narrow page scrolls it, as wrapped columns cannot be read
        if node.rawsource == node.astext():  # what is not yet highlighted
            if _PROMPT.search(text) or node.get("language") == "text":
                text = "\n".join(wrapped(line) for line in text.split("\n"))
            node.rawsource = text
            node[:] = [nodes.Text(text)]


def wrapped(line: str) -> str:
    """Return a line of output in lines of at most ``WIDTH`` characters, code as it is."""
    if len(line) <= WIDTH or _PROMPT.match(line):
        return line
    return textwrap.fill(line, WIDTH, break_long_words=False, break_on_hyphens=False)
