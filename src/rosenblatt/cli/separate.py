"""``rosenblatt separate`` and ``rosenblatt check``: verdicts with certificates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rosenblatt.cli.certified_rows import check_same_preparation
from rosenblatt.cli.inputs import check_out, opened
from rosenblatt.cli.logistic import design, plain_separation, separation_of
from rosenblatt.cli.notes import say_counts, say_extra_columns, say_preparation
from rosenblatt.cli.output import NegativeAnswer, as_text, emit, say
from rosenblatt.cli.row_options import FileOptions, RowOptions
from rosenblatt.cli.startup import enable_gc
from rosenblatt.messages import check_seconds
from rosenblatt.training.state import interrupts_deferred

_QUICK = 1e-2
"""How far the margin of sparse rows is settled: they are many, and their margins rarely asked for to six digits."""


def _read(paths: Sequence[str], target: str | None, options: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return all rows, their labels, and the stream that they are of."""
    stream = opened(paths, target, options)
    if not stream.labelled:
        where = ": say --target, the column with the labels" if "preparation" not in options else ""
        raise ValueError(f"a verdict is about labelled rows, and {', '.join(paths)} has no labels{where}.")
    say_preparation(stream)
    say_extra_columns(stream, "the certificate")
    enable_gc()
    X, y = stream.read()
    say_counts(stream)
    return X, y, stream


def separate(
    paths: Sequence[str],
    target: str | None,
    out: Path | None,
    rtol: float | None,
    margin: bool,
    max_seconds: float | None,
    options: Mapping[str, Any],
    as_json: bool,
) -> None:
    """Decide whether a hyperplane separates, print the verdict, then its margin, and write the certificate.

    Ctrl-C while the margin is computed keeps the bracket that was reached.
    """
    import sys

    import scipy.sparse as sp

    from rosenblatt.theory.search.limits import Limits
    from rosenblatt.theory.separability import verdict_then_margin

    check_out(out, paths)
    check_seconds("max_seconds", max_seconds)
    X, y, stream = _read(paths, target, options)
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
    return type(verdict).__name__.lower()


def _plain(verdict: Any) -> dict[str, Any]:
    if isinstance(verdict, dict):
        return {"by_class": {as_text(name): _plain(one) for name, one in verdict.items()}}
    plain: dict[str, Any] = {"verdict": _kind(verdict), "words": str(verdict)}
    if hasattr(verdict, "margin_low"):
        return plain | {"margin_low": verdict.margin_low, "margin_high": verdict.margin_high}
    if hasattr(verdict, "rows"):  # of fewest_mistakes
        return plain | {"low": verdict.low, "high": verdict.high}
    return plain | ({"margin_low": verdict.low, "margin_high": verdict.high} if hasattr(verdict, "low") else {})


def check(certificate: str, paths: Sequence[str], target: str | None, rows: RowOptions, as_json: bool) -> None:
    """Recompute every claim of a certificate from the data; a claim that does not hold is a failure.

    Rows are made as the certificate says; where it does not, as the options say.
    """
    verdict = _loaded(certificate)
    options = rows.to_open()
    if verdict.preparation is not None:
        check_same_preparation(certificate, verdict.preparation, target, rows)
        target, options = None, {**FileOptions.to_open(rows), "preparation": verdict.preparation}
    X, y, stream = _read(paths, target, options)
    about = _plain_columns(verdict, X, stream.feature_names)
    holds = not stream.unseen and bool(verdict.check(about, y))
    if as_json:
        emit({"certificate": certificate, "holds": holds, **_plain(verdict)})
        if not holds:
            raise NegativeAnswer
        return
    files, words = ", ".join(paths), str(verdict)
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
