"""The results of ``train --report`` as one HTML page, without scripts and without requests.

The page shows what ``--json`` prints, and nothing else. Names, labels and values may come from untrusted files, so all
text is escaped. The exception is `Markup`, which only this module creates. The Content-Security-Policy of the page
allows neither scripts nor requests.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from rosenblatt.cli.imbalance import threshold_line
from rosenblatt.cli.output import JsonObject
from rosenblatt.cli.test import calibration_lines, ranking_lines
from rosenblatt.cli.train_run import calibration_line
from rosenblatt.html import BLUE, Curve, chart, number
from rosenblatt.messages import count_of, escape_unprintable, label_text

_MOST_CLASSES = 30
"""Maximum number of classes in tables, and of classes whose weights are shown; ``--json`` contains all classes."""
_MOST_CONFUSED = 12
"""The largest confusion matrix that is shown; for more classes, the most common confusions are listed."""
_MOST_COLUMNS = 200
_STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1b1f24; --dim: #5b6470; --line: #d8dde3; --box: #f5f7f9;
  --blue: #2a87d3; --red: #d55e00; }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --text: #e6e9ed; --dim: #a2abb6; --line: #353c45;
  --box: #1d2228; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
h3 { font-size: 1rem; margin: 0 0 .4rem; }
p { margin: .5rem 0; max-width: 46rem; }
.head { font-size: 1.15rem; }
.dim { color: var(--dim); font-size: .9rem; }
.note { border-left: 4px solid var(--red); background: var(--box); padding: .5rem .8rem; max-width: 46rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: break-word; max-width: 20rem; }
th { font-weight: 600; }
td.n, th.n { text-align: right; }
td.n { white-space: nowrap; }
.data { font-size: .9rem; }
.data td:nth-child(3), .data td:nth-child(6) { min-width: 9rem; }
.matrix td, .matrix th { padding: .3rem .7rem; }
.bars { display: grid; grid-template-columns: fit-content(50%) minmax(5rem, 1fr) max-content; gap: .2rem .7rem;
  align-items: center; max-width: 46rem; font-size: .92rem; }
.bars b { font-weight: 400; text-align: right; font-variant-numeric: tabular-nums; }
.bar { position: relative; height: .8rem; background: var(--box); }
.bar i { position: absolute; top: 0; bottom: 0; min-width: 1px; background: var(--blue); }
.bar i.minus { background: var(--red); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); gap: 1rem; }
.card { border: 1px solid var(--line); border-radius: .4rem; padding: .7rem .9rem; min-width: 0; }
.card .bars { grid-template-columns: minmax(0, 1fr) 4rem max-content; }
summary { cursor: pointer; }
@media print { .card, table { break-inside: avoid; } }
"""
_HEAD = (
    '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    '<meta name="referrer" content="no-referrer">'
)
_LEARNED_FROM = (
    "The model has learned from these rows, so it will be right less often on new ones. Train with --holdout 20% to "
    "measure it on rows that it has not seen."
)


class Markup(str):
    """A string that is already HTML and must not be escaped again."""

    __slots__ = ()


def page(answer: JsonObject) -> str:
    """Return the HTML page for ``answer``, the results of a training run with the data of the report."""
    found = answer["report"]
    about = found["target"] or ", ".join(Path(name).name for name in found["files"])
    title, scores = f"A model of {about}", found["scores"]
    parts = [
        _element("h1", title),
        *_headline(answer, scores),
        *_accuracy(answer, scores),
        *_confusion(scores),
        *_calibration(answer, scores),
        *_weights(answer),
        *_worst(answer),
        *_data(answer),
        *_run(answer),
    ]
    head = Markup(f"{_HEAD}{_element('title', title)}<style>{_STYLE}</style>")
    body = _element("body", _element("main", *parts))
    return f'<!doctype html>\n<html lang="en">{_element("head", head)}{body}</html>\n'


# The sections.


def _headline(answer: JsonObject, scores: JsonObject) -> list[Markup]:
    found, constant = answer["report"], scores["commonest"]
    sentence = (
        f"Right on {scores['accuracy']:.2%} of {found['on']}. Always predicting {label_text(constant['class'])} is "
        f"right on {constant['accuracy']:.2%}."
    )
    parts = [_element("p", sentence, kind="head")]
    if found["measured_on"] == "training":
        parts.append(_element("p", _LEARNED_FROM, kind="note"))
    if answer.get("interrupted"):
        parts.append(_element("p", "Training was interrupted, so the model is not finished.", kind="note"))
    return parts


def _accuracy(answer: JsonObject, scores: JsonObject) -> list[Markup]:
    constant = f"always {label_text(scores['commonest']['class'])}"
    shares = {
        "this model": scores["accuracy"],
        constant: scores["commonest"]["accuracy"],
        "balanced accuracy": scores["balanced_accuracy"],
    }
    shown = scores["by_class"][:_MOST_CLASSES]
    rows = [
        [
            label_text(each["class"]),
            f"{each['rows']:,}",
            *(_percent(each[name]) for name in ("precision", "recall", "f1")),
        ]
        for each in shown
    ]
    lines = ranking_lines(scores)
    if "by_fold" in scores:
        lines.append(f"By fold: {', '.join(f'{share:.2%}' for share in scores['by_fold'])}.")
    if "by_seed" in scores:
        lines.append(f"By seed: {', '.join(f'{share:.2%}' for share in scores['by_seed'])}.")
    return [
        _element("h2", "Accuracy"),
        _bars([(name, share, f"{share:.2%}") for name, share in shares.items()], most=1.0),
        _dim("Balanced accuracy is the mean of the recalls: the share of each class that is found."),
        *(_element("p", line) for line in lines),
        _table(["class", "rows", "precision", "recall", "F1"], rows, numbers=(1, 2, 3, 4)),
        *_rest(len(scores["by_class"]) - len(shown), "class", "classes"),
        *(_element("p", f"{_sentence(remark)}.", kind="note") for remark in answer["advice"]),
    ]


def _confusion(scores: JsonObject) -> list[Markup]:
    counts = {(each["true"], each["predicted"]): each["rows"] for each in scores["confusion"]}
    classes = [each["class"] for each in scores["by_class"]]
    parts = [_element("h2", "Confusion")]
    if len(classes) > _MOST_CONFUSED:
        wrong = [each for each in scores["confusion"] if each["true"] != each["predicted"]][:_MOST_CONFUSED]
        rows = [[label_text(each["true"]), label_text(each["predicted"]), f"{each['rows']:,}"] for each in wrong]
        return [*parts, _dim("The most common mistakes."), _table(["true", "predicted", "rows"], rows, numbers=(2,))]
    lines = []
    for true in classes:
        total = sum(counts.get((true, other), 0) for other in classes) or 1
        cells = [_element("th", label_text(true))]
        for other in classes:
            count = counts.get((true, other), 0)
            colour = "blue" if true == other else "red"
            shade = f"background: color-mix(in srgb, var(--{colour}) {55 * count / total:.0f}%, transparent)"
            cells.append(_element("td", f"{count:,}", kind="n", style=shade))
        lines.append(_element("tr", *cells))
    head = _element(
        "tr", _element("th", "true \\ predicted"), *(_element("th", label_text(c), kind="n") for c in classes)
    )
    table = _element("table", _element("thead", head), _element("tbody", *lines), kind="matrix")
    return [*parts, _dim("Rows: the true class. Columns: the predicted class."), _element("div", table, kind="wide")]


def _calibration(answer: JsonObject, scores: JsonObject) -> list[Markup]:
    parts = [_element("h2", "Probabilities")]
    if "calibration" not in scores:
        return [*parts, _element("p", "The model gives no probabilities: train with --calibrate to fit them.")]
    parts.append(_element("p", calibration_line(answer["calibration"])))
    rated, classes = scores["calibration"], answer["classes"]
    two = len(classes) == 2
    name = f"probability of {escape_unprintable(label_text(classes[1]))}" if two else "largest probability"
    words = "; ".join(f"{p:.0%}: {share:.0%}" for p, share in zip(rated["probability"], rated["share"], strict=True))
    picture = chart(
        [
            Curve([0.0, 1.0], [0.0, 1.0], "perfect probabilities", "currentColor", "3 3"),
            Curve(rated["probability"], rated["share"], "share that was right" if not two else "share of rows", BLUE),
        ],
        f"Probability and share of the rows in each group: {words}",
        name,
        least=0.0,
    )
    if answer["report"]["measured_on"] == "unseen":
        parts.append(
            _element("p", "The probabilities were fitted to these rows, so the error is too small.", kind="note")
        )
    return [*parts, *(_element("p", line) for line in calibration_lines(scores)), Markup(picture)]


def _weights(answer: JsonObject) -> list[Markup]:
    found = answer["report"]
    entries = found["weights"]
    parts = [_element("h2", "Weights")]
    if entries is None:
        return [*parts, _element("p", "A kernel model compares rows with each other, so columns have no weights.")]
    classes = [label_text(label) for label in answer["classes"]]
    if len(entries) == 1:
        told = f"Blue speaks for {classes[-1]}, red for {classes[0]}."
    else:
        told = "Blue speaks for the class, red against it."
    scaled = answer["scale"] and answer["scale"]["features"]
    units = " Columns were scaled, so lengths can be compared." if scaled else ""
    if answer["ranges_differ"]:
        units = " Columns differ widely in their ranges, so lengths cannot be compared: train with --scale standard."
    votes = " The model predicts by the votes of many weights; these are their averages." if found["votes"] else ""
    parts.append(_dim(told + units + votes))
    if any(re.match(r"#\d+$", weight["feature"]) for each in entries for weight in each["weights"]):
        parts.append(
            _dim("A name such as #17 stands for a column without a name or for words: --names stores all words.")
        )
    blocks = []
    for each in entries[:_MOST_CLASSES]:
        rows = [(weight["feature"], weight["weight"], number(weight["weight"])) for weight in each["weights"]]
        rows.append(("(bias)", each["bias"], number(each["bias"])))
        block = [_bars(rows, both_sides=True), *_rest(each["others"], "smaller weight", "smaller weights")]
        blocks.append(_element("div", _element("h3", label_text(each["class"])), *block, kind="card"))
        if len(entries) == 1:
            return [*parts, *block]
    return [*parts, _element("div", *blocks, kind="cards"), *_rest(len(entries) - len(blocks), "class", "classes")]


def _worst(answer: JsonObject) -> list[Markup]:
    found = answer["report"]
    rows = found["worst"]
    wrong = sum(row["true"] != row["predicted"] for row in rows)
    margin = "the score of the true class minus that of its rival"
    if len(answer["classes"]) == 2:
        margin = "the score, positive on the side of the true class"
    told = f"Of {found['worst_on']}, those with the least margin: {margin}. "
    if wrong == 0:
        told = f"No row is wrong. {told}"
    if any(row["reasons"] for row in rows):
        told += (
            "Below each are the features that pushed it away from its class, their values, and how far they pushed. "
        )
    told += "Rows are counted from 0, without the header."
    cards = []
    for row in rows:
        right, predicted = row["true"] == row["predicted"], f"predicted {label_text(row['predicted'])}"
        reasons = [(_reason(each), each["contribution"], number(each["contribution"])) for each in row["reasons"]]
        head = _element(
            "h3", f"Row {row['row']:,}: {label_text(row['true'])}, {'and predicted so' if right else predicted}"
        )
        cards.append(_element("div", head, _dim(f"Margin {number(row['margin'])}"), _bars(reasons), kind="card"))
    return [_element("h2", "The rows it gets most wrong"), _dim(told), _element("div", *cards, kind="cards")]


def _reason(each: JsonObject) -> str:
    is_category = each["value"] == 1 and "=" in each["feature"]
    if each["value"] is None or is_category:
        return str(each["feature"])
    return f"{each['feature']} ({each['value']:{'.4g' if abs(each['value']) < 1000 else '.7g'}})"


def _data(answer: JsonObject) -> list[Markup]:
    found, left_out = answer["report"], answer["left_out"]
    counts = f"{count_of(answer['rows'], 'training row')}, {count_of(answer['features'], 'feature')}"
    parts = [_element("h2", "Data"), _element("p", f"{', '.join(found['files'])}: {counts}.")]
    parts += [_element("p", f"Look at {risk['remark']}", kind="note") for risk in answer["look_at"]]
    parts += [_element("p", _sentence(note)) for note in found["notes"]]
    if left_out:
        rows = [[name, reason] for name, reason in left_out.items()]
        parts += [_element("h3", "Columns left out, and why"), _table(["column", "because it"], rows[:_MOST_COLUMNS])]
        parts += _rest(len(rows) - _MOST_COLUMNS, "column", "columns")
    if found["columns"] is not None:
        names = ("column", "kind", "becomes", "missing", "distinct", "range")
        rows = [[_cell(each[name]) for name in names] for each in found["columns"]["rows"]]
        parts.append(_element("h3", found["columns"]["title"]))
        parts.append(_table(names, rows[:_MOST_COLUMNS], numbers=(3, 4), kind="data"))
        parts += _rest(len(rows) - _MOST_COLUMNS, "column", "columns")
    return parts


def _run(answer: JsonObject) -> list[Markup]:
    found = answer["report"]
    given = [[name, _cell(value)] for name, value in found["options"].items()]
    parameters = [[name, _cell(value)] for name, value in found["parameters"].items()]
    passes = list(range(1, len(answer["mistakes_by_pass"]) + 1))
    words = f"Mistakes by pass: {', '.join(map(str, answer['mistakes_by_pass']))}"
    curve = chart([Curve(passes, answer["mistakes_by_pass"], "mistakes")], words, "pass", least=0.0)
    return [
        _element("h2", "Training"),
        *(_element("p", line) for line in found["summary"].splitlines()),
        *([_element("p", threshold_line(answer["threshold"], answer["classes"]))] if "threshold" in answer else []),
        Markup(curve),
        _element("h3", "Options given"),
        _table(["option", "value"], given),
        _element(
            "details",
            _element("summary", f"All parameters of {answer['learner']}"),
            _table(["parameter", "value"], parameters),
        ),
        _dim(f"Made by rosenblatt {found['version']}. --json prints the numbers of this page."),
    ]


# Elements. Everything that is not markup is escaped.


def _element(tag: str, *content: str, kind: str = "", style: str = "") -> Markup:
    attributes = "".join(f' {name}="{value}"' for name, value in (("class", kind), ("style", style)) if value)
    return Markup(f"<{tag}{attributes}>{''.join(map(_escaped, content))}</{tag}>")


def _escaped(text: str) -> str:
    return text if isinstance(text, Markup) else html.escape(escape_unprintable(text))


def _dim(text: str) -> Markup:
    return _element("p", text, kind="dim")


def _sentence(text: str) -> str:
    """Return a text with a capital letter, unless it begins with a name, such as that of a file."""
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.2%}"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(": ".join(map(_cell, item)) if isinstance(item, list) else _cell(item) for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _rest(count: int, one: str, several: str) -> list[Markup]:
    return [_dim(f"and {count:,} more {one if count == 1 else several}")] if count > 0 else []


def _table(
    header: Iterable[str], rows: Iterable[Sequence[str]], numbers: tuple[int, ...] = (), kind: str = ""
) -> Markup:
    def line(tag: str, cells: Iterable[str]) -> Markup:
        return _element("tr", *(_element(tag, cell, kind="n" if i in numbers else "") for i, cell in enumerate(cells)))

    table = _element(
        "table", _element("thead", line("th", header)), _element("tbody", *(line("td", r) for r in rows)), kind=kind
    )
    return _element("div", table, kind="wide")


def _bars(rows: Sequence[tuple[str, float, str]], most: float | None = None, both_sides: bool = False) -> Markup:
    """Return HTML with a line and a bar for each (name, number, text).

    With ``both_sides``, negative bars are drawn to the left of the middle.
    """
    longest = most or max((abs(value) for _, value, _ in rows if value is not None), default=0.0) or 1.0
    cells = []
    for name, value, words in rows:
        width = (50 if both_sides else 100) * min(1.0, abs(value or 0.0) / longest)
        start = "left: 50%" if both_sides else "left: 0"
        minus = (value or 0.0) < 0.0
        place = f"{'right: 50%' if minus else start}; width: {width:.2f}%"
        bar = _element("div", _element("i", kind="minus" if minus else "", style=place), kind="bar")
        cells += [_element("span", name), bar, _element("b", words)]
    return _element("div", *cells, kind="bars")
