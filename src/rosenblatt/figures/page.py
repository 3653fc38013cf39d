"""A page of figures: pictures with captions and numbers, in one file beside the pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from rosenblatt.figures.drawing import Drawing
from rosenblatt.figures.numbers import number_words

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
