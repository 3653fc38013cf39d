"""Names of the package, wherever they are written, lead to the API reference.

In docstrings a name in single backticks may be short (`Perceptron`) or where it is defined; on pages, inline code that
is a public name (``Perceptron``, ``vc.growth``, ``plots.plot_proof``) leads to it as well.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from typing import Any

from docutils import nodes
from source_pages import is_linked
from sphinx import addnodes
from sphinx.application import Sphinx

import rosenblatt

MODULES = ("data", "distributed", "exercises", "figures", "lab", "plots", "reproductions", "textbook", "vc")
# plain words, and names of commands, that mean something else as often: not linked where they stand alone
PLAIN_WORDS = {"boundary", "contributions", "distance", "explain", "load", "margin", "proof", "save"}
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
    """Return a link to the public name that a reference means; None, and so a warning, where that is not certain."""
    if node.get("refdomain") != "py":
        return None
    ending = "." + node["reftarget"].rpartition(".")[2]
    objects = env.domains.python_domain.objects
    alike = [name for name, entry in objects.items() if name.endswith(ending) and is_own_page(entry)]
    meant = looked_up(node["reftarget"], node.get("py:module"), node.get("py:class"))
    found = alike if meant is None else [name for name in alike if imported(name) is meant]
    if len(found) != 1:
        return None
    entry = objects[found[0]]
    uri = app.builder.get_relative_uri(node["refdoc"], entry.docname) + f"#{entry.node_id}"
    return nodes.reference("", "", contents, refuri=uri, internal=True)


def is_own_page(entry: Any) -> bool:
    """Return whether an entry of the reference is a thing with a page of its own, by the name that users write."""
    return entry.objtype in ("class", "exception", "function", "module") and not entry.aliased


def looked_up(target: str, module: str | None, owner: str | None) -> Any:
    """Return what a name means in the module that a docstring is written in, None where it has no meaning there.

    ``owner`` is the class that the docstring is part of, as ``module`` shows it, which may not be where it is written.
    """
    if target.startswith("rosenblatt."):
        return imported(target)
    home = getattr(imported(f"{module}.{owner}"), "__module__", module) if owner else module
    return imported(f"{home}.{target}")


def imported(name: str) -> Any:
    """Return what has a dotted name, None where nothing has it."""
    try:
        return pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
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
