"""Figures as files: a picture of each, a page with all of them, and their captions and numbers as JSON."""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from rosenblatt.figures.catalogue import catalogue, find
from rosenblatt.figures.drawing import Drawing, Entry, number_words
from rosenblatt.messages import ParameterError, Setting
from rosenblatt.plots.axes import import_matplotlib
from rosenblatt.storage.container import write_atomically

# A page of figures: pictures with captions and numbers, in one file beside the pictures.


_STYLE = """
:root { color-scheme: light dark; --ink: #222; --soft: #666; --paper: #fff; --line: #ddd; --link: #0072B2; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --soft: #a8a8a8; --paper: #16181c; --line: #3a3d44; --link: #6db9ec; }
}
body { margin: 0 auto; max-width: 46rem; padding: 1.5rem 1rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 3rem; } a { color: var(--link); }
nav ul { columns: 18rem; padding-left: 1.2rem; }
figure { margin: 0; } figcaption { margin-top: .8rem; }
.picture { background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: .8rem; text-align: center; }
.picture img { width: 30rem; max-width: 100%; height: auto; }
.picture object { width: 100%; height: 32rem; }
.from { color: var(--soft); font-size: .9rem; margin: -.6rem 0 .8rem; }
details { margin-top: .6rem; } summary { cursor: pointer; color: var(--link); }
table { border-collapse: collapse; font-size: .9rem; margin-top: .4rem; display: block; overflow-x: auto; }
th, td { text-align: left; vertical-align: top; padding: .15rem .9rem .15rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; white-space: nowrap; }
"""


def page(drawings: Sequence[Drawing], texts: Sequence[str], files: Sequence[str]) -> str:
    """Return the page of some drawings, each with the text that it is from and the name of its file."""
    contents = "\n".join(
        f'<li><a href="#figure-{drawing.id}">{drawing.id}</a> {escape(drawing.title)}</li>' for drawing in drawings
    )
    parts = "\n".join(map(_part, drawings, texts, files))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Figures of the perceptron</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Figures of the perceptron</h1>
<p>Drawn by <code>rosenblatt figures</code>, each from data and a run with a fixed seed. What they show is in
<a href="figures.json">figures.json</a> as well.</p>
<nav aria-label="Figures"><ul>
{contents}
</ul></nav>
{parts}
</body>
</html>
"""


def _part(drawing: Drawing, text: str, file: str) -> str:
    """Return one figure with its caption and its numbers."""
    title = f"Figure {drawing.id}: {drawing.title}"
    if file.endswith(".pdf"):
        link = f'<a href="{file}">{file}</a>'
        shown = f'<object data="{file}#view=Fit" type="application/pdf" aria-label="{escape(title)}">{link}</object>'
    else:
        shown = f'<a href="{file}"><img src="{file}" alt="{escape(title)}"></a>'
    rows = "\n".join(
        f"<tr><th scope='row'>{escape(name)}</th><td>{escape(words)}</td></tr>"
        for name, words in _numbers(drawing.numbers)
    )
    return f"""<section id="figure-{drawing.id}">
<h2>{escape(title)}</h2>
<p class="from">{escape(text)}</p>
<figure>
<div class="picture">{shown}</div>
<figcaption>{escape(drawing.caption)}</figcaption>
</figure>
<details><summary>Its numbers</summary>
<table>
{rows}
</table>
</details>
</section>"""


def _numbers(numbers: dict[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Yield each number with its name; those of a dictionary follow its name."""
    for name, value in numbers.items():
        words = f"{before}{name}".replace("_", " ")
        if isinstance(value, dict):
            yield from _numbers(value, f"{words}: ")
        else:
            yield words, number_words(value)


FORMATS = ("svg", "png", "pdf")
_DOTS_PER_INCH = 200
_NO_DATE = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
# letters as outlines look alike in every browser, and a fixed salt gives the same names inside the file every time
_SETTINGS = {"svg.fonttype": "path", "svg.hashsalt": "rosenblatt", "pdf.fonttype": 42}


def write(
    folder: str | os.PathLike[str] = "figures",
    only: str | Iterable[str] | None = None,
    format: str = "svg",
    progress: Callable[[Entry, float], None] | None = None,
) -> list[Path]:
    """Draw figures into a folder, which is made where it is missing, and return the paths of all files written.

    There are a picture of each figure, such as ``figure-4.7.svg``; ``index.html``, a page that shows them with captions
    and numbers; and ``figures.json`` with captions and numbers. The latter two are about the figures drawn now. Each
    file is replaced as a whole or not at all, and the same versions of all packages give the same bytes.

    Parameters
    ----------
    folder : path
    only : id or ids, optional
        Some of ``figures.catalogue``; otherwise all figures are drawn.
    format : "svg", "png" or "pdf"
    progress : callable, optional
        Called after each figure with its entry of the catalogue and the seconds that it took.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import figures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in figures.write(folder, only=["4.5"])]
    ['figure-4.5.svg', 'index.html', 'figures.json']
    """
    if format not in FORMATS:
        raise ParameterError(Setting("format"), f" must be one of {', '.join(FORMATS)}, got {format!r}.")
    entries = list(catalogue.values()) if only is None else _chosen(only)
    import_matplotlib("figure")  # an error where there is none, before anything is made
    to = _folder(folder)
    drawings, written = [], []
    for entry in entries:
        started = time.perf_counter()
        drawing = entry.draw()
        written.append(to / f"figure-{entry.id}.{format}")
        write_atomically(written[-1], [picture_bytes(drawing, format)])
        drawings.append(drawing)
        if progress is not None:
            progress(entry, time.perf_counter() - started)
    names = [path.name for path in written]
    texts = [entry.text for entry in entries]
    write_atomically(to / "index.html", [page(drawings, texts, names).encode()])
    write_atomically(to / "figures.json", [numbers_bytes(drawings, texts, names)])
    return [*written, to / "index.html", to / "figures.json"]


def _chosen(only: str | Iterable[str]) -> list[Entry]:
    """Return the entries of these ids, each once."""
    ids = [only] if isinstance(only, str) else list(dict.fromkeys(only))
    if not ids:
        raise ParameterError(Setting("only"), " names no figure: give some ids, or leave it out for all figures.")
    return [find(id) for id in ids]


def _folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder to write to, which is made where it is missing."""
    if not os.fspath(folder):
        raise ParameterError('expected a folder for the figures, got no name: "." is the current one.')
    to = Path(folder)
    if to.exists() and not to.is_dir():
        raise ParameterError(f"expected a folder for the figures, got {to}, which is a file: give another name.")
    to.mkdir(parents=True, exist_ok=True)
    return to


def picture_bytes(drawing: Drawing, format: str) -> bytes:
    """Return the picture of a drawing as a file holds it."""
    file = io.BytesIO()
    with import_matplotlib("style").context(["default", _SETTINGS]):
        drawing.picture.savefig(file, format=format, dpi=_DOTS_PER_INCH, metadata=_NO_DATE[format])
    return file.getvalue()


def numbers_bytes(drawings: list[Drawing], texts: list[str], names: list[str]) -> bytes:
    """Return captions and numbers of drawings as JSON."""
    figures = {
        drawing.id: {
            "title": drawing.title,
            "text": text,
            "file": name,
            "caption": drawing.caption,
            "numbers": drawing.numbers,
        }
        for drawing, text, name in zip(drawings, texts, names, strict=True)
    }
    return (json.dumps(figures, indent=2, ensure_ascii=False, default=_plain) + "\n").encode()


def _plain(value: Any) -> Any:
    """Return a number or array of numpy as Python has it."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"numbers of a figure are numbers, lists, dictionaries or texts, got {type(value).__name__}.")
