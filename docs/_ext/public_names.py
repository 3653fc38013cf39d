"""Names of the package, wherever they are written, lead to the API reference.

In docstrings a name in single backticks may be short (`Perceptron`) or where it is defined; on pages, inline code that
is a public name (``Perceptron``, ``vc.growth``, ``plots.plot_proof``) leads to it as well.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from docutils import nodes
from source_pages import is_linked
from sphinx import addnodes
from sphinx.application import Sphinx

import rosenblatt

MODULES = ("data", "figures", "plots", "reproductions", "textbook", "vc")
# plain words, and names of commands, that mean something else as often: not linked where they stand alone
PLAIN_WORDS = {"boundary", "contributions", "distance", "explain", "load", "margin", "proof", "save", "separation"}
# pages that speak of other libraries' Perceptron as well
OTHERS_TOO = {"coming_from", "from_vw", "when_not"}


def setup(app: Sphinx) -> dict[str, Any]:
    """Register how names are found."""
    app.connect("missing-reference", find_name)
    app.connect("doctree-read", link_inline_code)
    return {"version": "1", "parallel_read_safe": True}


def find_name(
    app: Sphinx, env: Any, node: addnodes.pending_xref, contents: nodes.TextElement
) -> nodes.reference | None:
    """Return a link to the public name that a reference means, None where there is none."""
    if node.get("refdomain") != "py":
        return None
    ending = "." + node["reftarget"].rpartition(".")[2]
    for name, entry in env.domains.python_domain.objects.items():
        elsewhere = "textbook" not in f"{node['reftarget']} {node.get('py:module')}"
        if elsewhere and name.startswith("rosenblatt.textbook."):
            continue  # its plain words, such as Step, are not meant elsewhere
        if name.endswith(ending) and entry.objtype in ("class", "exception", "function", "module"):
            uri = app.builder.get_relative_uri(node["refdoc"], entry.docname) + f"#{entry.node_id}"
            return nodes.reference("", "", contents, refuri=uri, internal=True)
    return None


def link_inline_code(app: Sphinx, doctree: nodes.document) -> None:
    """Turn inline code on a page into a reference, where it is a public name."""
    docname = app.env.current_document.docname
    if "/" in docname or docname in OTHERS_TOO:
        return  # as for generated pages, docstrings say themselves what they refer to
    public = public_names()
    for node in list(doctree.findall(nodes.literal)):
        name = re.sub(r"^rosenblatt\.|\(\)$", "", node.astext())
        if name in public and name not in PLAIN_WORDS and not is_linked(node):
            reference = addnodes.pending_xref(
                "", node.deepcopy(), refdomain="py", reftype="obj", reftarget=f"rosenblatt.{name}",
                refdoc=docname, refwarn=True, refexplicit=True,
            )  # fmt: skip
            node.replace_self(reference)


def public_names() -> set[str]:
    """Return every public name, as it is written after ``rosenblatt.``."""
    modules = {module: importlib.import_module(f"rosenblatt.{module}") for module in MODULES}
    inside = {f"{module}.{name}" for module, found in modules.items() for name in found.__all__}
    return (set(rosenblatt.__all__) - set(modules)) | inside
