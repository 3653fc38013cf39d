"""``rosenblatt separate`` and ``rosenblatt check``: verdicts on linear separability, with certificates."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from rosenblatt.cli.inputs import check_out, open_data
from rosenblatt.cli.options import AS_JSON, FILES, TARGET, RowOptions, column_of, command, option
from rosenblatt.cli.output import (
    JsonObject,
    NegativeAnswer,
    enable_gc,
    note_counts,
    note_extra_columns,
    note_preparation,
    print_json,
    print_text,
)
from rosenblatt.messages import Message, ParameterError, Setting, check_seconds, escape_unprintable, label_text

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from rosenblatt.blocks import Features
    from rosenblatt.data import Stream

Verdict: TypeAlias = Any
"""A verdict of `rosenblatt.separability`, or for more than two classes a dictionary of verdicts by class."""
_SPARSE_RTOL = 1e-2
"""The default of ``--rtol`` for sparse rows, which are usually many. Margins rarely need more digits."""
MOST_COEFFICIENTS = 128
"""Logistic regressions with more coefficients are skipped, because an exact decision on each may take long."""


@command
def separate(
    *,
    data: list[str] = FILES,
    target: str | None = TARGET,
    out: Path | None = option(None, "CERT", "Write the certificate to this file.", "--out -o"),
    rtol: float | None = option(None, "X", "Relative precision of the margin.  [default: 1e-6; sparse rows: 1e-2]"),
    margin: bool = option(
        True, None, "Also compute the largest margin, which may take far longer.", "--margin/--no-margin"
    ),
    max_seconds: float | None = option(None, "S", "Stop after S seconds with the bounds proved so far."),
    as_json: bool = AS_JSON,
    rows: RowOptions,
) -> None:
    """Decide whether the classes are linearly separable, and prove it. Reads all rows into memory.

    First prints whether a hyperplane separates the classes, then the largest margin: the distance from the best
    hyperplane to the nearest row. Pressing Ctrl-C while the margin is being computed keeps the bounds proved so far.
    Features are used exactly as in the files, without scaling. With -o, the proof is saved as a certificate, which
    `rosenblatt check` verifies.

    \b
    Example:
      rosenblatt separate mushrooms.bz2 -o mushrooms.cert
    """
    import scipy.sparse as sp

    from rosenblatt.interrupts import interrupts_deferred
    from rosenblatt.progress import Limits
    from rosenblatt.theory.separability import verdict_then_margin

    check_out(out, data)
    check_seconds("max_seconds", max_seconds)
    X, y, stream = _read(data, target, rows.to_open())
    names = stream.feature_names
    rtol = rtol if rtol is not None else _SPARSE_RTOL if sp.issparse(X) else 1e-6
    limits = Limits(int(sys.stderr.isatty()), max_seconds)
    stages = verdict_then_margin(X, y, limits, rtol=rtol)
    verdict, interrupted = next(stages), False
    if not as_json:
        _print_verdict(verdict)
    if margin:
        try:
            with interrupts_deferred() as interrupts:
                limits.stop = lambda: bool(interrupts)
                verdict = next(stages)
        except KeyboardInterrupt:
            interrupted = True
    if out is not None:
        verdict.with_preparation(stream.preparation).save(out)
    logistic = None if interrupted else separation_of(X, y, names)
    if as_json:
        facts = {"rows": X.shape[0], "features": X.shape[1], **_plain(verdict), "certificate": out and str(out)}
        print_json(facts | {"logistic_regression": plain_separation(logistic)})
    else:
        _print_margin(verdict)
        if out is not None:
            print_text(f"Certificate written to {out}.")
        if logistic is not None:
            print_text("", logistic if isinstance(logistic, str) else f"Logistic regression on these rows. {logistic}")
    if interrupted:
        raise KeyboardInterrupt


def _print_verdict(verdict: Verdict) -> None:
    """Print the verdict without its margin, or the number of separable classes if there are more than two."""
    if isinstance(verdict, dict):
        separable = sum(_kind(part) == "separable" for part in verdict.values())
        is_or_are = "is" if separable == 1 else "are"
        print_text(f"{separable} of {len(verdict)} classes {is_or_are} linearly separable from the rest.")
    else:
        print_text(str(verdict).partition("\n")[0])


def _print_margin(verdict: Verdict) -> None:
    """Print the margin or, for more than two classes, the verdict of each class."""
    if isinstance(verdict, dict):
        for name, part in verdict.items():
            print_text("", f"Class {escape_unprintable(label_text(name))} against the rest. {part}")
    elif "\n" in (text := str(verdict)):
        print_text(text.partition("\n")[2])


def _kind(verdict: Verdict) -> str:
    from rosenblatt.theory.certificates import Undecided

    return "undecided" if isinstance(verdict, Undecided) else type(verdict).__name__.lower()


def _plain(verdict: Verdict) -> JsonObject:
    if isinstance(verdict, dict):
        return {"by_class": {label_text(name): _plain(part) for name, part in verdict.items()}}
    plain: JsonObject = {"verdict": _kind(verdict), "words": str(verdict)}
    if hasattr(verdict, "margin_low"):
        return plain | {"margin_low": verdict.margin_low, "margin_high": verdict.margin_high}
    if hasattr(verdict, "rows"):  # a result of fewest_mistakes
        return plain | {"low": verdict.low, "high": verdict.high}
    return plain | ({"margin_low": verdict.low, "margin_high": verdict.high} if hasattr(verdict, "low") else {})


@command
def check(
    *,
    certificate: str = typer.Argument(metavar="CERT", help="Certificate written by separate."),
    data: list[str] = FILES,
    target: str | None = TARGET,
    as_json: bool = AS_JSON,
    rows: RowOptions,
) -> None:
    """Verify every claim of a certificate against the data. Exit with status 1 if a claim does not hold.

    A certificate is a file that holds the result of `rosenblatt separate` and its proof. All rows are read into memory.
    A certificate from `rosenblatt separate` records the label column and how the rows were prepared. One saved from
    Python does not: give --target and the options for reading the rows.

    \b
    Example:
      rosenblatt check mushrooms.cert mushrooms.bz2
    """
    verdict = _load(certificate)
    options = rows.to_open()
    if verdict.preparation is not None:
        check_same_preparation(certificate, verdict.preparation, target, rows)
        target, options = None, {**rows.about_files(), "preparation": verdict.preparation}
    X, y, stream = _read(data, target, options)
    columns = _columns_of(verdict, X, stream.feature_names)
    holds = not stream.unseen and bool(verdict.check(columns, y))
    if as_json:
        print_json({"certificate": certificate, "holds": holds, **_plain(verdict)})
        if not holds:
            raise NegativeAnswer
        return
    files = ", ".join(data)
    if not holds:
        reason = f"{files} contradicts a claim of {certificate}."
        if stream.unseen:
            reason = f"{files} has values that do not occur in the rows of {certificate}."
        raise NegativeAnswer(f"The certificate does not hold: {reason}{_other_labels(verdict, y)}")
    print_text(f"The certificate holds: every claim was recomputed exactly from {files}.")
    print_text(str(verdict))


def _columns_of(verdict: Verdict, X: Features, names: Sequence[str] | None) -> Features | pa.Table:
    """Return the rows for a certificate: a table of named columns if it is about a logistic regression, else X."""
    if not hasattr(verdict, "on_hyperplane") or "x0" in verdict.names:
        return X
    return design(X, names)


def _other_labels(verdict: Verdict, y: np.ndarray) -> str:
    """Return a sentence that names the labels in ``y``, or "" if the positive label of the certificate is in ``y``."""
    import numpy as np

    positive, labels = getattr(verdict, "positive", None), np.unique(y).tolist()
    if positive is None or positive in labels:
        return ""
    found = ", ".join(repr(label) for label in labels[:6]) + (", ..." if len(labels) > 6 else "")
    return f" Its positive label is {positive!r}, and the labels here are {found}."


def _load(path: str) -> Verdict:
    from rosenblatt import Certificate, Verdicts
    from rosenblatt.storage.container import check_is_file

    check_is_file(path)
    text = Path(path).read_bytes()
    several = text.lstrip()[:1] == b"["
    try:
        found: Verdict = (Verdicts if several else Certificate).from_json(text)
    except ValueError as error:
        raise ValueError(f"{path} is not a certificate that can be checked: {error}") from None
    if not several and not (hasattr(found, "positive") or hasattr(found, "on_hyperplane")):
        raise ValueError(f"{path} certifies a system of inequalities, expected a certificate for labelled rows.")
    return found


def _read(paths: Sequence[str], target: str | None, options: Mapping[str, Any]) -> tuple[Features, np.ndarray, Stream]:
    """Return (X, y, stream): all rows, their labels, and the stream from which they were read."""
    stream = open_data(paths, target, options)
    if not stream.labelled:
        hint = ": name the column with --target" if "preparation" not in options else ""
        raise ValueError(
            f"linear separability needs labelled rows, but there are no labels in {', '.join(paths)}{hint}."
        )
    note_preparation(stream)
    note_extra_columns(stream, "the certificate")
    enable_gc()
    X, y = stream.read()
    note_counts(stream)
    return X, y, stream


# A certificate may record a preparation, which describes how its rows were read. Other options must agree with it.


def check_same_preparation(path: str, preparation: Mapping[str, Any], target: str | None, rows: RowOptions) -> None:
    """Raise a ValueError if an option contradicts the preparation of a certificate, or if the preparation scales rows.

    >>> made = {"format": "vw", "version": 1, "bits": 18, "n_features": 5}
    >>> check_same_preparation("a.cert", made, None, RowOptions(bits=18))
    >>> check_same_preparation("a.cert", made, None, RowOptions(bits=9))
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: bits=9 contradicts a.cert, whose rows were read with bits=18: leave it out.
    """
    from rosenblatt.data.preparation import check_preparation

    try:
        check_preparation(preparation)
    except ValueError as error:
        raise ValueError(f"{path} has a row preparation that is not valid: {error}") from None
    if "scale" in preparation:
        raise ValueError(
            f"{path} certifies scaled rows, expected unscaled rows: create the certificate again without scaling."
        )
    for name, value in (rows.about_rows() | ({} if target is None else {"target": column_of(target)})).items():
        recorded = _recorded(preparation, name, value)
        if recorded != value:
            raise ParameterError(
                "{given} contradicts {path}, whose rows were read {recorded}: leave it out.",
                given=Setting(name, value),
                path=path,
                recorded=Message("without it")
                if recorded in (None, [], {})
                else Message("with {option}", option=Setting(name, recorded)),
            )


def _recorded(preparation: Mapping[str, Any], name: str, value: Any) -> object:
    """Return the value that a preparation records for the option ``name``; equal to ``value`` if the two agree."""
    columns = {column["name"]: column for column in preparation.get("columns", ())}
    order, target = preparation.get("order", ()), preparation.get("target")
    if name == "target":
        label = target["name"] if isinstance(target, dict) else target
        places = isinstance(value, int) and -len(order) <= value < len(order)
        return value if label == (order[value] if places else value) else label
    if name == "drop":
        return [column for column in value if column in preparation.get("ignored", ())]
    if name == "keep":
        return [column for column in value if column in columns]
    if name == "column_types":
        return {column: columns[column]["kind"] for column in value if column in columns}
    return preparation.get(name)


# Coefficients of a logistic regression on the same rows that separation makes infinite.


def separation_of(X: Features, y: np.ndarray, names: Sequence[str] | None) -> Verdict:
    """Return which coefficients of a logistic regression on the rows have finite estimates.

    Returns a message instead if there are too many coefficients to check, and None if there is only one class.
    """
    import numpy as np

    from rosenblatt import detect_separation

    classes = len(np.unique(y))
    if classes < 2:
        return None
    coefficients = (X.shape[1] + 1) * (classes - 1)
    if coefficients > MOST_COEFFICIENTS:
        return (
            f"A logistic regression on these rows has {coefficients:,} coefficients. For more than "
            f"{MOST_COEFFICIENTS}, use rosenblatt.detect_separation in Python."
        )
    return detect_separation(design(X, names), y)


def design(X: Features, names: Sequence[str] | None) -> Features | pa.Table:
    """Return the design matrix: a table of named columns, without the first level of each factor (treatment coding).

    Returns X unchanged if its columns do not have unique names, or if one of them is named "intercept".
    """
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


def plain_separation(found: Any) -> JsonObject | None:
    """Return a result of `separation_of` as JSON data, with coefficients by class if there are more than two classes.

    Returns None if the result is None or a message.
    """
    if not hasattr(found, "coefficients"):
        return None
    if len(found.classes) == 2:
        return {"kind": found.kind, "coefficients": found.coefficients}
    by_class: dict[str, dict[str, str]] = {}
    for (label, name), status in found.coefficients.items():
        by_class.setdefault(label_text(label), {})[name] = status
    return {"kind": found.kind, "baseline": label_text(found.baseline), "coefficients": by_class}
