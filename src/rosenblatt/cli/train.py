"""``rosenblatt train``: learn from files, and end in a report."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rosenblatt.cli.inputs import Watched, check_out, opened, score
from rosenblatt.cli.output import as_text, bars, emit, note, on_terminal, say
from rosenblatt.cli.progress_bar import Bar
from rosenblatt.cli.startup import begin

__all__ = ["LEARNERS", "Run", "learner_for", "name_features", "train"]

LEARNERS = {"averaged": "AveragedPerceptron", "perceptron": "Perceptron", "voted": "VotedPerceptron"}
_UNLIKE = 100.0


@dataclass(frozen=True)
class Run:
    """What to train, and how."""

    learner: str = "averaged"
    passes: int | None = None
    shuffle: bool = True
    seed: int = 0
    seeds: int = 1
    early_stopping: bool = False
    checkpoint: Path | None = None
    every: float = 30.0
    resume: bool = False
    cache: Path | None = None


def learner_for(run: Run) -> Any:
    """Return a new learner.

    >>> learner_for(Run(learner="perceptron", passes=3))
    Perceptron(max_iter=3, random_state=0)
    """
    import rosenblatt

    if run.learner not in LEARNERS:
        raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}, got {run.learner!r}.")
    kind = getattr(rosenblatt, LEARNERS[run.learner])
    passes = {} if run.passes is None else {"max_iter": run.passes}
    return kind(shuffle=run.shuffle, random_state=run.seed, early_stopping=run.early_stopping, **passes)


def train(
    paths: Sequence[str],
    target: str | None,
    run: Run,
    test: Sequence[str],
    out: Path | None,
    options: Mapping[str, Any],
    names: bool,
    as_json: bool,
) -> None:
    """Learn, test, save and report; after Ctrl-C too, with what was learned so far."""
    _check(run, test)
    for file in (out, run.checkpoint, run.cache):
        check_out(file, [*paths, *test])
    if out is not None and run.checkpoint is not None and out.resolve() == run.checkpoint.resolve():
        raise ValueError(f"{out} cannot be the model and the checkpoint: name two files.")
    started = time.perf_counter()
    many = run.passes is None or run.passes * run.seeds > 2  # for one more pass, writing costs as much as parsing
    cache = run.cache or many or None
    stream = opened(paths, target, {**options, "names": names or None, "cache": cache})
    once = iter(stream) is stream
    rows = stream if once else Watched(stream)
    if not once:
        rows.begin()
    model = learner_for(run)
    if test:
        _opened_test(stream, test, options)  # to complain at once; how many features there are is not known yet
    if once:
        if (run.passes or 1) > 1 or run.seeds > 1:
            raise ValueError(
                "What can be read only once, such as standard input, allows one pass: save it to a file for more."
            )
        if run.passes is None:
            note("what can be read only once allows one pass: save it to a file for more.")
        model.set_params(max_iter=1)
    interrupted = not _fit(model, rows, run, Bar("pass", paths, model.max_iter))
    took = time.perf_counter() - started
    _attach(model, stream, paths, rows)
    answer = _answer(model, stream, rows, took)
    answer["interrupted"] = interrupted
    fault = _save(model, out, answer)
    if test:
        labelled = _opened_test(stream, test, options)
        answer["test"] = _test(model, labelled, test)
        if run.seeds > 1 and not interrupted:
            accuracy = answer["test"]["accuracy"]
            answer["test"]["by_seed"] = _more_seeds(accuracy, paths, rows, run, labelled)
    if as_json:
        emit(answer)
    else:
        _report(model, answer)
    if fault is not None:
        raise fault
    if interrupted:
        raise KeyboardInterrupt


def _save(model: Any, out: Path | None, answer: dict[str, Any]) -> OSError | None:
    """Write the model, before anything else can go wrong; return why that failed, for after the report."""
    if out is None:
        return None
    import rosenblatt

    try:
        rosenblatt.save(model, out)
    except OSError as fault:
        return fault
    answer["model"] = str(out)
    return None


def _check(run: Run, test: Sequence[str]) -> None:
    if run.seeds < 1:
        raise ValueError(f"--seeds must be 1 or more, got {run.seeds}.")
    if run.seeds > 1 and not test:
        raise ValueError("--seeds tells how accuracy spreads, so it needs --test, a file to test on.")
    if run.seeds > 1 and run.checkpoint is not None:
        raise ValueError("--checkpoint is for one run, so it does not go with --seeds.")
    if run.resume and run.checkpoint is None:
        raise ValueError("--resume needs --checkpoint, the file to go on from.")
    if run.passes is not None and run.passes < 1:
        raise ValueError(f"--passes must be 1 or more, got {run.passes}.")


def _fit(model: Any, rows: Any, run: Run, bar: Bar) -> bool:
    """Train, with a bar on a terminal; return False where Ctrl-C cut it short after something was learned."""
    from sklearn.exceptions import ConvergenceWarning

    def after(model: Any) -> None:
        bar.after(model.n_iter_, int(model.history_["mistakes"][-1]))

    if isinstance(rows, Watched):
        rows.tell, rows.visited = bar.within, bar.visited
    else:
        rows = _told(bar, model, rows)
    begin()
    with bar, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the report says it
        try:
            model.fit_stream(rows, on_pass=after, checkpoint=run.checkpoint, every=run.every, resume=run.resume)
        except KeyboardInterrupt:
            if not hasattr(model, "machines_") or not hasattr(model, "n_features_in_"):
                raise  # not one row was visited
            return False
    return True


def _told(bar: Bar, model: Any, stream: Any) -> Iterator[Any]:
    """Yield the blocks of what can be read only once, and tell of each and of the mistakes before it."""
    for block in bar.watching(stream):
        if hasattr(model, "machines_"):
            bar.visited(model.n_updates_)
        yield block


def _attach(model: Any, stream: Any, paths: Sequence[str], rows: Any) -> None:
    """Let the model know how its rows are prepared, what features are called, and what it was trained on."""
    model.preparation_ = stream.preparation
    model.fingerprint_ = {"files": [Path(path).name for path in paths], "rows": _rows(stream, rows)}
    if isinstance(rows, Watched):
        model.fingerprint_["sha256"] = rows.fingerprint
    name_features(model, stream.feature_names)


def name_features(model: Any, names: list[str] | None) -> None:
    """Let the model know what its features are called, where they have names."""
    import numpy as np

    if names is not None and len(names) == model.n_features_in_ and not all(name.startswith("#") for name in names):
        model.feature_names_in_ = np.array(names, object)


def _rows(stream: Any, rows: Any) -> int:
    return rows.rows if isinstance(rows, Watched) and rows.rows else stream.rows_read


def _answer(model: Any, stream: Any, rows: Any, took: float) -> dict[str, Any]:
    report = model.report_
    return {
        "learner": type(model).__name__,
        "rows": _rows(stream, rows),
        "skipped": stream.skipped.rows,
        "features": model.n_features_in_,
        "classes": model.classes_.tolist(),
        "passes": report.passes,
        "updates": report.updates,
        "mistakes_by_pass": list(report.mistakes_by_pass),
        "separated": bool(report.converged),
        "radius": report.radius,
        "margin_low": report.margin_low,
        "margin_high": report.margin_high,
        "bound": report.bound,
        "seconds": round(took, 3),
    }


def _opened_test(stream: Any, test: Sequence[str], options: Mapping[str, Any]) -> Any:
    kept = {name: options.get(name) for name in ("format", "on_error")}
    rows = opened(test, None, {**kept, "preparation": stream.preparation})
    if not rows.labelled:
        raise ValueError(f"{', '.join(test)} has no labels to test against: add the column that --target names.")
    return rows


def _test(model: Any, rows: Any, test: Sequence[str]) -> dict[str, Any]:
    with Bar("testing", test) as bar:
        found = score(model, bar.watching(rows))
    return {"files": list(test), "rows": found["rows"], "accuracy": found["accuracy"]}


def _more_seeds(first: float, paths: Sequence[str], rows: Any, run: Run, test: Any) -> list[float]:
    """Train again with the seeds that follow, and return the accuracies of all."""
    from dataclasses import replace

    labelled = Watched(test)
    found = [first]
    for seed in range(run.seed + 1, run.seed + run.seeds):
        model = learner_for(replace(run, seed=seed))
        if not _fit(model, rows, run, Bar(f"seed {seed}, pass", paths, model.max_iter)):
            raise KeyboardInterrupt
        found.append(score(model, labelled)["accuracy"])
    return found


def _report(model: Any, answer: dict[str, Any]) -> None:
    labels = [as_text(label) for label in answer["classes"]]
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6:,} more" if len(labels) > 6 else "")
    skipped = f" ({answer['skipped']:,} skipped)" if answer["skipped"] else ""
    say(
        f"{answer['learner']}: {answer['rows']:,} rows{skipped}, {answer['features']:,} features, "
        f"classes {shown}; {answer['seconds']:.2f} s."
    )
    say(str(model.report_))
    bars(answer["mistakes_by_pass"], "Mistakes by pass")
    tested = answer.get("test")
    if tested:
        _accuracy(tested)
    if _unlike(model):
        note("the features range over values of very different sizes, and the largest drown the others: scale them.")
    if "model" in answer:
        say(f"Model written to {answer['model']}.")
    elif on_terminal():
        say("The model was not saved: -o MODEL writes it to a file.")


def _unlike(model: Any) -> bool:
    """Say whether the range of some feature is more than a hundred times that of another."""
    prepared = model.preparation_
    if prepared["format"] in ("svmlight", "vw") or prepared.get("lists") or model.machines_.spread is None:
        return False  # rare words range over less, and that is as it should be
    spread = [x for x in model.machines_.spread.tolist() if x > 0]
    return bool(spread) and max(spread) > _UNLIKE * min(spread)


def _accuracy(tested: dict[str, Any]) -> None:
    rows = f"on {tested['rows']:,} rows of {', '.join(tested['files'])}"
    say(f"Accuracy {tested['accuracy']:.2%} {rows}.")
    several = tested.get("by_seed")
    if several:
        import statistics

        say(
            f"Over {len(several)} seeds: mean {statistics.mean(several):.2%}, spread {statistics.stdev(several):.2%} "
            f"(standard deviation), from {min(several):.2%} to {max(several):.2%}."
        )
