"""Names of the package, wherever they are written, lead to the API reference.

In docstrings a name in single backticks may be short (`Perceptron`) or where it is defined; on pages, inline code that
is a public name (``Perceptron``, ``vc.growth``, ``plots.plot_proof``) leads to it as well. What scikit-learn's classes
bring along is not repeated in the reference.
"""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import rosenblatt

MODULES = ("data", "figures", "plots", "reproductions", "textbook", "vc")
# plain words, and names of commands, that mean something else as often: not linked where they stand alone
PLAIN_WORDS = {
    "boundary",
    "contributions",
    "distance",
    "explain",
    "load",
    "margin",
    "proof",
    "save",
    "separation",
    "trace",
}

_EXAMPLES = re.compile(r"(^ *>>> .*?(?:\n *\n|\Z))", re.DOTALL | re.MULTILINE)  # up to a blank line
_LITERALS = re.compile(r"(``.+?``)", re.DOTALL)
_PRODUCT = re.compile(r"(?<=\S) \. (?=\S)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register how names are found."""
    app.connect("missing-reference", find_name)
    app.connect("doctree-read", link_inline_code)
    app.connect("doctree-read", trim_code)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-process-docstring", set_maths, priority=100)  # before numpydoc takes the docstring apart
    return {"version": "1", "parallel_read_safe": True}


def find_name(
    app: Sphinx, env: Any, node: addnodes.pending_xref, contents: nodes.TextElement
) -> nodes.reference | None:
    """Return a link to the public name that a reference means, None where there is none."""
    if node.get("refdomain") != "py":
        return None
    ending = "." + node["reftarget"].rpartition(".")[2]
    for name, entry in env.domains.python_domain.objects.items():
        if name.endswith(ending) and entry.objtype in ("class", "exception", "function", "module"):
            uri = app.builder.get_relative_uri(node["refdoc"], entry.docname) + f"#{entry.node_id}"
            return nodes.reference("", "", contents, refuri=uri, internal=True)
    return None


def set_maths(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Set the maths of a docstring: |w| is a length, not the name of a substitution, and w . x a product with a dot."""
    parts = _EXAMPLES.split("\n".join(lines))
    for k in range(0, len(parts), 2):
        pieces = _LITERALS.split(_PRODUCT.sub("·", parts[k]))
        pieces[::2] = [piece.replace("|", r"\|") for piece in pieces[::2]]
        parts[k] = "".join(pieces)
    lines[:] = "".join(parts).split("\n")


def own_signature(
    app: Sphinx, what: str, name: str, found: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str, str | None] | None:
    """Return the parameters of ``__init__``, where ``__new__`` takes any, to refuse those of other libraries."""
    if signature != "(*args, **kwargs)" or not inspect.isclass(found):
        return None
    parameters = inspect.signature(found).parameters.values()
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in parameters]
    return str(inspect.Signature(plain)), returns


def link_inline_code(app: Sphinx, doctree: nodes.document) -> None:
    """Turn inline code on a page into a reference, where it is a public name."""
    if "/" in app.env.current_document.docname:
        return  # generated pages: docstrings say themselves what they refer to
    public = public_names()
    for node in list(doctree.findall(nodes.literal)):
        name = re.sub(r"^rosenblatt\.|\(\)$", "", node.astext())
        inside = isinstance(node.parent, nodes.reference | nodes.title | addnodes.pending_xref)
        if name in public and name not in PLAIN_WORDS and not inside:
            reference = addnodes.pending_xref(
                "", node.deepcopy(), refdomain="py", reftype="obj", reftarget=f"rosenblatt.{name}",
                refdoc=app.env.current_document.docname, refwarn=True, refexplicit=True,
            )  # fmt: skip
            node.replace_self(reference)


def trim_code(app: Sphinx, doctree: nodes.document) -> None:
    """Remove blank lines at the end of code, which doctest needs and readers do not."""
    for node in doctree.findall(nodes.literal_block):
        text = node.astext().rstrip("\n")
        if node.rawsource == node.astext():  # what is not yet highlighted
            node.rawsource = text
            node[:] = [nodes.Text(text)]


def public_names() -> set[str]:
    """Return every public name, as it is written after ``rosenblatt.``."""
    modules = {module: importlib.import_module(f"rosenblatt.{module}") for module in MODULES}
    inside = {f"{module}.{name}" for module, found in modules.items() for name in found.__all__}
    return (set(rosenblatt.__all__) - set(modules)) | inside


def skip_member(app: Sphinx, what: str, name: str, found: Any, skip: bool, options: Any) -> bool | None:
    """Leave out methods that scikit-learn's, numpy's or Python's classes bring along."""
    home = getattr(getattr(found, "fget", found), "__module__", None) or ""
    return True if home.partition(".")[0] in ("sklearn", "builtins", "dataclasses") else None
