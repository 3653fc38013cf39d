"""What an example draws: the page of a function that draws has the picture that its docstring's example makes."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import io
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOM = "rosenblatt.plots."
DPI = 100


def setup(app: Sphinx) -> dict[str, Any]:
    """Register what adds the pictures."""
    app.connect("autodoc-process-docstring", add_picture, priority=900)  # after numpydoc has set the docstring
    return {"version": "1", "parallel_read_safe": True}


def add_picture(app: Sphinx, what: str, name: str, found: Any, options: Any, lines: list[str]) -> None:
    """Put the picture of the example below the docstring of a function that draws."""
    if what != "function" or not name.startswith(ROOM) or not app.config.gallery_pictures:
        return
    short = name.removeprefix(ROOM)
    if draw_example(found, Path(app.srcdir, "gallery", f"example-{short}.png")):
        lines += ["", f".. image:: /gallery/example-{short}.png", f"   :alt: What the example of {short} draws", ""]


def draw_example(function: Any, path: Path) -> bool:
    """Run the examples of a function and write the last figure that they leave; return whether there is one."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    with pyplot.style.context("default"), contextlib.redirect_stdout(io.StringIO()):
        names = dict(vars(importlib.import_module(function.__module__)))
        for example in doctest.DocTestParser().get_examples(function.__doc__ or ""):
            exec(compile(example.source, path.stem, "single"), names)
        drawn = pyplot.get_fignums()
        if drawn:
            pyplot.figure(drawn[-1]).savefig(path, dpi=DPI)
        pyplot.close("all")
    return bool(drawn)
