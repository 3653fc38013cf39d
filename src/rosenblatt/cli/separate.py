"""``rosenblatt separate`` and ``rosenblatt check``: verdicts with certificates."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from rosenblatt.cli.inputs import check_out, open_data
from rosenblatt.cli.options import AS_JSON, FILES, TARGET, RowOptions, column_of, command, option
from rosenblatt.cli.output import (
    NegativeAnswer,
    as_text,
    emit,
    enable_gc,
    say,
    say_counts,
    say_extra_columns,
    say_preparation,
)
from rosenblatt.messages import ParameterError, Setting, check_seconds

_QUICK = 1e-2
"""How far the margin of sparse rows is settled: they are many, and their margins rarely asked for to six digits."""
MOST_COEFFICIENTS = 128
"""Beyond so many nothing is said of a logistic regression: exact answers for each may take long."""


@command
def separate(
    *,
    data: list[str] = FILES,
    target: str | None = TARGET,
    out: Path | None = option(None, "CERT", "Where to write the certificate.", "--out -o"),
    rtol: float | None = option(None, "X", "How far to settle the margin (1e-6; sparse rows: 1e-2)."),
    margin: bool = option(
        True, None, "Go on to the largest margin, which may take far longer.", "--margin/--no-margin"
    ),
    max_seconds: float | None = option(None, "S", "Stop after so many seconds with what is proved."),
    as_json: bool = AS_JSON,
    rows: RowOptions,
) -> None:
    """Decide whether a hyperplane separates the classes, and prove it. Reads all rows into memory.

    The verdict comes first, then its margin; Ctrl-C meanwhile keeps the bracket that was reached. Numbers are taken as
    they are in the files: nothing is scaled.

    \b
    Example:
      rosenblatt separate mushrooms.bz2 -o mushrooms.cert
    """
    import scipy.sparse as sp

    from rosenblatt.progress import Limits
    from rosenblatt.theory.separability import verdict_then_margin
    from rosenblatt.training.state import interrupts_deferred

    check_out(out, data)
    check_seconds("max_seconds", max_seconds)
    X, y, stream = _read(data, target, rows.to_open())
    names = stream.feature_names
    rtol = rtol if rtol is not None else _QUICK if sp.issparse(X) else 1e-6
    limits = Limits(int(sys.stderr.isatty()), max_seconds)
    stages = verdict_then_margin(X, y, limits, rtol=rtol)
    verdict, interrupted = next(stages), False
    if not as_json:
        _say_verdict(verdict)
    if margin:
        try:
            with interrupts_deferred() as came:
                limits.stop = lambda: bool(came)
                verdict = next(stages)
        except KeyboardInterrupt:
            interrupted = True
    if out is not None:
        verdict.with_preparation(stream.preparation).save(out)
    logistic = None if interrupted else separation_of(X, y, names)
    if as_json:
        facts = {"rows": X.shape[0], "features": X.shape[1], **_plain(verdict), "certificate": out and str(out)}
        emit(facts | {"logistic_regression": plain_separation(logistic)})
    else:
        _say_margin(verdict)
        if out is not None:
            say(f"Certificate written to {out}.")
        if logistic is not None:
            say("", logistic if isinstance(logistic, str) else f"In a logistic regression. {logistic}")
    if interrupted:
        raise KeyboardInterrupt


def _say_verdict(verdict: Any) -> None:
    """Print what is known first: the verdict without its margin, or how many classes can be separated."""
    if isinstance(verdict, dict):
        separable = [as_text(name) for name, one in verdict.items() if _kind(one) == "separable"]
        say(f"{len(separable)} of {len(verdict)} classes can be separated from the rest by a hyperplane.")
    else:
        say(str(verdict).partition("\n")[0])


def _say_margin(verdict: Any) -> None:
    """Print what `_say_verdict` has left out."""
    if isinstance(verdict, dict):
        for name, one in verdict.items():
            say("", f"{as_text(name)} against the rest. {one}")
    elif "\n" in (words := str(verdict)):
        say(words.partition("\n")[2])


def _kind(verdict: Any) -> str:
    from rosenblatt.theory.certificates import Undecided

    return "undecided" if isinstance(verdict, Undecided) else type(verdict).__name__.lower()


def _plain(verdict: Any) -> dict[str, Any]:
    if isinstance(verdict, dict):
        return {"by_class": {as_text(name): _plain(one) for name, one in verdict.items()}}
    plain: dict[str, Any] = {"verdict": _kind(verdict), "words": str(verdict)}
    if hasattr(verdict, "margin_low"):
        return plain | {"margin_low": verdict.margin_low, "margin_high": verdict.margin_high}
    if hasattr(verdict, "rows"):  # of fewest_mistakes
        return plain | {"low": verdict.low, "high": verdict.high}
    return plain | ({"margin_low": verdict.low, "margin_high": verdict.high} if hasattr(verdict, "low") else {})


@command
def check(
    *,
    certificate: str = typer.Argument(metavar="CERT", help="A file that separate wrote."),
    data: list[str] = FILES,
    target: str | None = TARGET,
    as_json: bool = AS_JSON,
    rows: RowOptions,
) -> None:
    """Recompute every claim of a certificate from the data; exit with 1 if one does not hold.

    Reads all rows into memory. A certificate that separate wrote says which column is the label and how rows are made;
    one without that, of an earlier version or from Python, needs the options that separate was given.

    \b
    Example:
      rosenblatt check mushrooms.cert mushrooms.bz2
    """
    verdict = _loaded(certificate)
    options = rows.to_open()
    if verdict.preparation is not None:
        check_same_preparation(certificate, verdict.preparation, target, rows)
        target, options = None, {**rows.about_files(), "preparation": verdict.preparation}
    X, y, stream = _read(data, target, options)
    about = _plain_columns(verdict, X, stream.feature_names)
    holds = not stream.unseen and bool(verdict.check(about, y))
    if as_json:
        emit({"certificate": certificate, "holds": holds, **_plain(verdict)})
        if not holds:
            raise NegativeAnswer
        return
    files, words = ", ".join(data), str(verdict)
    if not holds:
        sentence = f"The certificate does not hold: {certificate} claims something that {files} contradicts."
        if stream.unseen:
            sentence = f"The certificate does not hold: {files} has values that are not in the rows of {certificate}."
        raise NegativeAnswer(f"{sentence}{_other_labels(verdict, y)}")
    say(f"The certificate holds: every claim was recomputed exactly from {files}.")
    say(words)


def _plain_columns(verdict: Any, X: Any, names: Sequence[str] | None) -> Any:
    """Return X as the certificate is about it: one about a logistic regression knows the names of the columns."""
    if not hasattr(verdict, "on_hyperplane") or "x0" in verdict.names:
        return X
    return design(X, names)


def _other_labels(verdict: Any, y: Any) -> str:
    """Return a sentence about labels that the certificate was not made for, if that may be the reason."""
    import numpy as np

    positive, labels = getattr(verdict, "positive", None), np.unique(y).tolist()
    if positive is None or positive in labels:
        return ""
    found = ", ".join(repr(label) for label in labels[:6]) + (", ..." if len(labels) > 6 else "")
    return f" It was made for rows labelled {positive!r}, and the labels here are {found}."


def _loaded(path: str) -> Any:
    from rosenblatt import Certificate, Verdicts
    from rosenblatt.storage.container import check_is_file

    check_is_file(path)
    text = Path(path).read_bytes()
    several = text.lstrip()[:1] == b"["
    try:
        found: Any = (Verdicts if several else Certificate).from_json(text)
    except ValueError as fault:
        raise ValueError(f"{path} is no certificate that can be checked: {fault}") from None
    if not several and not (hasattr(found, "positive") or hasattr(found, "on_hyperplane")):
        raise ValueError(f"{path} is a certificate about inequalities, expected one about labelled rows.")
    return found


def _read(paths: Sequence[str], target: str | None, options: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return all rows, their labels, and the stream that they are of."""
    stream = open_data(paths, target, options)
    if not stream.labelled:
        where = ": say --target, the column with the labels" if "preparation" not in options else ""
        raise ValueError(f"a verdict is about labelled rows, and {', '.join(paths)} has no labels{where}.")
    say_preparation(stream)
    say_extra_columns(stream, "the certificate")
    enable_gc()
    X, y = stream.read()
    say_counts(stream)
    return X, y, stream


# Options beside a certificate that says itself how rows are made: they may say the same, nothing else.


def check_same_preparation(path: str, preparation: Mapping[str, Any], target: str | None, rows: RowOptions) -> None:
    """Raise an error where an option says something else than the certificate, or where that was made of scaled rows.

    >>> made = {"format": "vw", "version": 1, "bits": 18, "n_features": 5}
    >>> check_same_preparation("a.cert", made, None, RowOptions(bits=18))
    >>> check_same_preparation("a.cert", made, None, RowOptions(bits=9))
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: a.cert is about rows that were made with bits=18, and bits=9 was given: ...
    """
    from rosenblatt.data.preparation import check_preparation

    try:
        check_preparation(preparation)
    except ValueError as fault:
        raise ValueError(f"{path} does not say in a way that can be used how its rows are made: {fault}") from None
    if "scale" in preparation:
        raise ValueError(f"{path} is about rows that were scaled, expected the numbers as they are: make it again.")
    for name, value in (rows.about_rows() | ({} if target is None else {"target": column_of(target)})).items():
        said = _said(preparation, name, value)
        if said != value:
            raise ParameterError(
                f"{path} is about rows that were made ",
                *(("without ", Setting(name)) if said in (None, [], {}) else ("with ", Setting(name, said))),
                ", and ",
                Setting(name, value),
                " was given: leave it out.",
            )


def _said(preparation: Mapping[str, Any], name: str, value: Any) -> Any:
    """Return what a preparation says where an option was given: the same value, or another."""
    columns = {column["name"]: column for column in preparation.get("columns", ())}
    order, target = preparation.get("order", ()), preparation.get("target")
    if name == "target":
        label = target["name"] if isinstance(target, dict) else target
        places = isinstance(value, int) and -len(order) <= value < len(order)
        return value if label == (order[value] if places else value) else label
    if name == "drop":
        return [one for one in value if one in preparation.get("ignored", ())]
    if name == "keep":
        return [one for one in value if one in columns]
    if name == "column_types":
        return {one: columns[one]["kind"] for one in value if one in columns}
    return preparation.get(name)


# What separate says of a logistic regression on the same rows.


def separation_of(X: Any, y: Any, names: Sequence[str] | None) -> Any:
    """Return which estimates of a logistic regression are finite; a sentence where there are too many of them.

    None for a single class.
    """
    import numpy as np

    from rosenblatt import detect_separation

    classes = len(np.unique(y))
    if classes < 2:
        return None
    coefficients = (X.shape[1] + 1) * (classes - 1)
    if coefficients > MOST_COEFFICIENTS:
        return (
            f"A logistic regression has {coefficients:,} coefficients on these rows: more than {MOST_COEFFICIENTS} "
            "are left to rosenblatt.detect_separation in Python."
        )
    return detect_separation(design(X, names), y)


def design(X: Any, names: Sequence[str] | None) -> Any:
    """Return the columns with their names; of the columns for the levels of a factor the first is left out."""
    import numpy as np

    if names is None or len(set(names)) < X.shape[1] or "intercept" in names:
        return X
    import pyarrow as pa

    columns = dict(zip(names, X.toarray().T if hasattr(X, "toarray") else np.asarray(X).T, strict=True))
    factors: dict[str, list[str]] = {}
    for name in names:
        factors.setdefault(name.partition("=")[0], []).append(name)
    for levels in factors.values():
        values = np.array([columns[name] for name in levels])
        if "=" in levels[0] and np.isin(values, (0.0, 1.0)).all() and (values.sum(axis=0) == 1.0).all():
            del columns[levels[0]]
    return pa.table(columns) if columns else X[:, :0]


def plain_separation(found: Any) -> dict[str, Any] | None:
    """Return what was found as data that JSON can hold; of several classes each has its coefficients."""
    if not hasattr(found, "coefficients"):
        return None
    if len(found.classes) == 2:
        return {"kind": found.kind, "coefficients": found.coefficients}
    by_class: dict[str, dict[str, str]] = {}
    for (label, name), status in found.coefficients.items():
        by_class.setdefault(as_text(label), {})[name] = status
    return {"kind": found.kind, "baseline": as_text(found.baseline), "coefficients": by_class}
