"""The catalogue of figures, and functions that draw a figure by its id or write figures to files.

Each of the modules `ciml`, `har_peled` and `notes` registers the figures of one textbook or set of lecture notes, with
the decorator ``figure``.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from sklearn.datasets import load_iris, load_wine

from rosenblatt.messages import ParameterError, did_you_mean, shorten
from rosenblatt.plots.axes import import_matplotlib
from rosenblatt.storage.container import write_atomically
from rosenblatt.theory.inputs import shown_number, true_minus

Picture: TypeAlias = Any  # matplotlib.figure.Figure; matplotlib may not be installed
Shown: TypeAlias = tuple[Picture, str, dict[str, Any]]
"""The picture of a figure, its caption with placeholders such as "{updates}", and the numbers that replace them."""
FORMATS = ("svg", "png", "pdf")
_DOTS_PER_INCH = 200
_NO_DATE = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}
# text as outlines looks the same in every browser, and a fixed salt makes the ids in an SVG file reproducible
_SETTINGS = {"svg.fonttype": "path", "svg.hashsalt": "rosenblatt", "pdf.fonttype": 42}


@dataclass(frozen=True)
class Drawing:
    """The result of drawing a figure, as ``figures.draw`` returns it.

    Attributes
    ----------
    id : str
        Number of the figure in its text, such as "4.7".
    title : str
        Title of the figure.
    picture : matplotlib Figure
        The drawing. Save it with ``savefig``; it has no window.
    caption : str
        Caption of one paragraph, with the numbers filled in.
    numbers : dict
        The numbers that the picture shows, by name.

    See Also
    --------
    draw : Draw a figure by its id.

    Examples
    --------
    >>> from rosenblatt import figures
    >>> drawing = figures.draw("4.5")
    >>> drawing.id, drawing.title, list(drawing.numbers)
    ('4.5', 'A dot product is a projection', ['u', 'v', 'dot', 'length_of_a', 'length_of_b'])
    """

    id: str
    title: str
    picture: Picture
    caption: str
    numbers: dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """A figure in the catalogue.

    Attributes
    ----------
    id : str
        Number of the figure in its text, such as "4.7".
    title : str
        Title of the figure.
    text : str
        The text that contains the figure.
    function : callable
        Function that draws the figure; it is called by ``draw``.

    See Also
    --------
    Drawing : The result of drawing a figure.

    Examples
    --------
    >>> from rosenblatt import figures
    >>> entry = figures.catalogue["4.5"]
    >>> entry.title, entry.text
    ('A dot product is a projection', 'A Course in Machine Learning, chapter 4')
    """

    id: str
    title: str
    text: str
    function: Callable[[], Shown]

    def draw(self) -> Drawing:
        """Draw the figure from its data and a run with a fixed seed.

        Returns
        -------
        drawing : Drawing
            The picture with its caption and numbers.
        """
        with import_matplotlib("style").context("default"):  # so that the session's style has no effect
            picture, caption, found = self.function()
        numbers = json.loads(json.dumps(found, default=_plain))
        return Drawing(self.id, self.title, picture, true_minus(caption.format(**numbers)), numbers)


catalogue: dict[str, Entry] = {}
"""All figures, as a dictionary from the id to the `Entry`."""


def figure(text: str, id: str, title: str) -> Callable[[Callable[[], Shown]], Callable[[], Shown]]:
    """Return a decorator that adds a function to the catalogue as figure ``id`` of ``text``, with the given title."""

    def add(function: Callable[[], Shown]) -> Callable[[], Shown]:
        catalogue[id] = Entry(id, title, text, function)
        return function

    return add


def _plain(value: Any) -> Any:
    """Convert a NumPy number or array to Python numbers; raise a TypeError for other types."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(
        f"expected numbers, lists, dictionaries or strings as the values of a figure, got {type(value).__name__}."
    )


def draw(id: str) -> Drawing:
    """Draw a figure of the textbooks from its data and a run with a fixed seed.

    Parameters
    ----------
    id : str
        A key of ``figures.catalogue``, such as "4.7".

    Returns
    -------
    drawing : Drawing
        The picture as a matplotlib Figure, with its caption and the numbers that it shows.

    See Also
    --------
    write : Draw figures to files.

    Examples
    --------
    >>> from rosenblatt import figures
    >>> drawing = figures.draw("4.5")
    >>> drawing.title, round(drawing.numbers["dot"], 3)
    ('A dot product is a projection', 0.734)
    >>> drawing.picture.savefig("dot_product.svg")  # doctest: +SKIP
    """
    return _find(id).draw()


def _find(id: str) -> Entry:
    """Return the catalogue entry of an id; if there is none, raise a ValueError that names a similar id or all ids."""
    if not isinstance(id, str):
        raise ParameterError('the id of a figure must be a string such as "4.7", got {got}.', got=shorten(id))
    if id in catalogue:
        return catalogue[id]
    known = "; ".join(f"{entry.id} {entry.title}" for entry in catalogue.values())
    hint = did_you_mean(id, catalogue) or f"choose one of {known}."
    raise ParameterError("there is no figure {id}: {hint}", id=shorten(id), hint=hint)


def write(
    folder: str | os.PathLike[str] = "figures",
    only: str | Iterable[str] | None = None,
    format: str = "svg",
    progress: Callable[[Entry, float], None] | None = None,
) -> list[Path]:
    """Draw figures and write them to a folder, with a page that shows them.

    Each figure becomes a picture file, such as ``figure-4.7.svg``. The file ``index.html`` is a page with the pictures,
    captions and numbers of these figures, and ``figures.json`` contains their captions and numbers. Each file is
    replaced atomically. With the same versions of all packages, files are reproducible byte for byte.

    Parameters
    ----------
    folder : str or path-like, default="figures"
        Folder to write to. It is created if necessary.
    only : str or iterable of str, default=None
        Ids of the figures to draw, from ``figures.catalogue``. None draws all figures.
    format : {"svg", "png", "pdf"}, default="svg"
        File format of the pictures.
    progress : callable, default=None
        Function that is called after each figure with its `Entry` and the seconds that it took.

    Returns
    -------
    paths : list of Path
        All files written: the pictures, the page and ``figures.json``.

    See Also
    --------
    draw : Draw a single figure without writing a file.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import figures
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in figures.write(folder, only=["4.5"])]
    ['figure-4.5.svg', 'index.html', 'figures.json']
    """
    if format not in FORMATS:
        raise ParameterError(
            "{format} must be one of {known}, got {got}.", known=", ".join(FORMATS), got=shorten(format)
        )
    ids = catalogue if only is None else [only] if isinstance(only, str) else dict.fromkeys(only)
    entries = [_find(id) for id in ids]
    if not entries:
        raise ParameterError("{only} is empty: give the ids of figures, or leave it out to draw all figures.")
    import_matplotlib("figure")  # if matplotlib is missing, fail before anything is written
    to = _folder(folder)
    sections, numbers, written = [], {}, []
    for entry in entries:
        started = time.perf_counter()
        drawing = entry.draw()
        path = to / f"figure-{entry.id}.{format}"
        write_atomically(path, [_picture_bytes(drawing.picture, format)])
        written.append(path)
        sections.append(page_section(drawing, entry.text, path.name))
        numbers[entry.id] = {
            "title": entry.title,
            "text": entry.text,
            "file": path.name,
            "caption": drawing.caption,
            "numbers": drawing.numbers,
        }
        if progress is not None:
            progress(entry, time.perf_counter() - started)
    page, numbers_file = to / "index.html", to / "figures.json"
    write_atomically(page, [_page(entries, sections).encode()])
    write_atomically(numbers_file, [(json.dumps(numbers, indent=2, ensure_ascii=False) + "\n").encode()])
    return [*written, page, numbers_file]


def _folder(folder: str | os.PathLike[str]) -> Path:
    """Return the folder to write to, creating it if necessary."""
    if not os.fspath(folder):
        raise ParameterError('expected a folder for the figures, got an empty path: use "." for the current folder.')
    to = Path(folder)
    if to.exists() and not to.is_dir():
        raise ParameterError(
            "expected a folder for the figures, got {to}, which is a file: choose another name.", to=to
        )
    to.mkdir(parents=True, exist_ok=True)
    return to


def _picture_bytes(picture: Picture, format: str) -> bytes:
    """Return the content of a picture file."""
    file = io.BytesIO()
    with import_matplotlib("style").context(["default", _SETTINGS]):
        picture.savefig(file, format=format, dpi=_DOTS_PER_INCH, metadata=_NO_DATE[format])
    return file.getvalue()


# The page of figures: an HTML file that shows the pictures beside it, with captions and numbers.

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


def _page(entries: Sequence[Entry], sections: Sequence[str]) -> str:
    """Return the HTML page that contains the sections of some figures."""
    contents = "\n".join(
        f'<li><a href="#figure-{entry.id}">{entry.id}</a> {escape(entry.title)}</li>' for entry in entries
    )
    parts = "\n".join(sections)
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


def page_section(drawing: Drawing, text: str, file: str) -> str:
    """Return the HTML section of a figure, with the name of the text, the picture, the caption and the numbers."""
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


def _numbers(numbers: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield (name, text) for each number; in a nested dictionary, the name is that of the dictionary and the key."""
    for name, value in numbers.items():
        words = f"{before}{name}".replace("_", " ")
        if isinstance(value, dict):
            yield from _numbers(value, f"{words}: ")
        else:
            yield words, number_words(value)


def number_words(value: Any) -> str:
    """Return a value of ``Drawing.numbers`` as text: floats with six digits, lists and dictionaries item by item.

    >>> number_words([0.123456789, -2, [1.0, "a"]]), number_words({"least": 1234, "proved": True})
    ('0.123457, −2, (1, a)', 'least: 1,234; proved: yes')
    """
    if isinstance(value, dict):
        return "; ".join(f"{name}: {number_words(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(
            f"({number_words(item)})" if isinstance(item, list | tuple) else number_words(item) for item in value
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return true_minus(f"{value:,}")
    return shown_number(value, 6) if isinstance(value, float) else str(value)


# The data sets of the figures (Fisher's irises and wines of three cultivars), and an empty picture to draw on.


def flowers(first: str, second: str, *measures: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ``measures`` in cm of 100 irises, 50 of each of two kinds, and the kind of each flower.

    >>> X, y = flowers("setosa", "versicolor", "petal length", "petal width")
    >>> X[0], y[0], y[-1], X.shape
    (array([1.4, 0.2]), 'setosa', 'versicolor', (100, 2))
    """
    iris = load_iris()
    kinds = iris.target_names[iris.target].astype(object)
    columns = [iris.feature_names.index(f"{measure} (cm)") for measure in measures]
    wanted = np.isin(iris.target, [list(iris.target_names).index(kind) for kind in (first, second)])
    return iris.data[wanted][:, columns], kinds[wanted]


def wines(first: int, second: int, *measures: str) -> tuple[np.ndarray, np.ndarray]:
    """Return ``measures`` of the wines of two cultivars, numbered from 1 to 3, and the cultivar of each wine.

    >>> X, y = wines(1, 3, "alcohol", "flavanoids")
    >>> X[0], y[0], X.shape
    (array([14.23,  3.06]), 'cultivar 1', (107, 2))
    """
    wine = load_wine()
    columns = [wine.feature_names.index(measure) for measure in measures]
    wanted = np.isin(wine.target, [first - 1, second - 1])
    names = np.array([f"cultivar {number + 1}" for number in wine.target[wanted]], dtype=object)
    return wine.data[wanted][:, columns], names


def blank(width: float, height: float, layout: str | None = "constrained") -> Picture:
    """Return an empty picture of ``width`` by ``height`` inches, without a window."""
    return import_matplotlib("figure").Figure(figsize=(width, height), layout=layout)
