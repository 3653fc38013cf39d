"""Pages that are printed to PDF, by Chromium where there is one.

The directive ``{printed} page page`` lists pages with links to them and to their PDF. At the end of a build each of
these pages is printed. Where there is no Chromium, a sentence says how to print them.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.logging import getLogger

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", "--disable-background-networking")
SECONDS = 120
"""How long Chromium may take for a page."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive and the printing."""
    app.add_directive("printed", Printed)
    app.connect("env-purge-doc", forget)
    app.connect("build-finished", print_pages)
    return {"version": "1", "parallel_read_safe": False}


class Printed(SphinxDirective):
    """A list of pages, each with its PDF."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Return the list."""
        pages = self.arguments[0].split()
        self.env.__dict__.setdefault("printed_pages", {})[self.env.current_document.docname] = pages
        if browser() is None:
            lines = [f"- [](/{page}.md)" for page in pages]
            lines += ["", "To have these as PDF, print them from a browser: this site was built without Chromium."]
        else:
            lines = [f'- [](/{page}.md) (<a href="_static/{page}.pdf">PDF</a>)' for page in pages]
        return self.parse_text_to_nodes("\n".join(lines))


def browser() -> str | None:
    """Return the path of Chromium, or None."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def forget(app: Sphinx, env: Any, docname: str) -> None:
    """Forget the pages that a page listed."""
    env.__dict__.get("printed_pages", {}).pop(docname, None)


def print_pages(app: Sphinx, exception: Exception | None) -> None:
    """Print each listed page into the folder ``_static`` of the site."""
    program = browser()
    if exception is not None or app.builder.format != "html" or program is None:
        return
    for page in sorted(set().union(*app.env.__dict__.get("printed_pages", {}).values())):
        pdf = Path(app.outdir, "_static", f"{page}.pdf")
        source = Path(app.outdir, f"{page}.html").as_uri()
        words = [program, *FLAGS, f"--print-to-pdf={pdf}", source]
        run = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
        if run.returncode or not pdf.exists():
            getLogger(__name__).warning("Chromium did not print %s: %s", page, run.stderr.strip()[-500:])
