"""What ``rosenblatt train`` tells people at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.cluster_options import cluster_line
from rosenblatt.cli.held_out import say_scores, say_seeds
from rosenblatt.cli.kernel_choice import kernel_line
from rosenblatt.cli.output import as_text, bars, note, on_terminal, say
from rosenblatt.messages import count_of

if TYPE_CHECKING:
    from rosenblatt.scaling import ColumnScale
    from rosenblatt.training.model_file import TrainedModel


def print_report(model: TrainedModel, answer: dict[str, Any]) -> None:
    """Print what a run has learned and proved, and how well it predicts."""
    labels = [as_text(label) for label in answer["classes"]]
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6:,} more" if len(labels) > 6 else "")
    skipped = f" ({answer['skipped']:,} skipped)" if answer["skipped"] else ""
    say(
        f"{answer['learner']}: {count_of(answer['rows'], 'row')}{skipped}, {_features(model)}, classes {shown}; "
        f"{answer['seconds']:.2f} s."
    )
    if "cluster" in answer:
        say(cluster_line(answer["cluster"]))
    if "kernel" in answer:
        say(kernel_line(answer))
    _say_accuracy(answer)
    say(str(model.report))
    bars(answer["mistakes_by_pass"], "Mistakes by pass")
    if "updates_by_pass" in answer:
        bars(answer["updates_by_pass"], "Updates by pass (mistakes, and rows that were right by too little)")
    if answer["early_stopping"] is not None:
        errors = answer["early_stopping"]["error_by_pass"]
        shares = ", ".join("-" if error is None else f"{error:.1%}" for error in errors)
        say(f"Error on the rows held out, by pass: {shares}.")
    if answer["ranges_differ"]:
        note(
            f"some features range over {answer['ranges_differ']:,.0f} times as much as others, which hardly count: "
            "--scale standard brings them to one scale."
        )
    if "model" in answer:
        say(f"Model written to {answer['model']}.")
    elif on_terminal():
        say("The model was not saved: -o MODEL writes it to a file.")


def _features(model: TrainedModel) -> str:
    """Return how many features there are, and of how many columns of a table they are made."""
    from rosenblatt.data.preparation import is_hashed

    prepared, features = model.preparation or {}, count_of(model.n_features, "feature")
    columns = prepared.get("columns")
    if not columns or len(columns) == model.n_features:
        return features
    words = f", 2^{prepared['bits']} of them for hashed words" if any(map(is_hashed, columns)) else ""
    return f"{count_of(len(columns), 'column')} as {features}{words}"


def say_scale(scale: ColumnScale | None, names: Sequence[str] | None, automatic: bool) -> None:
    """Print in one line what is done to columns of numbers, if something is."""
    if scale is None or not len(scale.features):
        return
    import numpy as np

    count = f"{count_of(len(scale.features), 'column')} of numbers"
    done = "centred and divided by" if scale.centre.any() else "divided by"
    by = "the largest value" if scale.method == "maxabs" else "the standard deviation"
    varying = np.flatnonzero(scale.spread != 1.0)  # a column whose numbers are all the same is divided by 1
    varying = varying if len(varying) else np.arange(len(scale.spread))
    low, high = varying[scale.spread[varying].argmin()], varying[scale.spread[varying].argmax()]
    ends = []
    for place in (low, high):
        name = f" of {names[scale.features[place]]}" if names is not None else ""
        ends.append(f"{scale.spread[place]:.3g}{name}")
    why = ", as sizes differ, also from the bias (1); --scale none leaves them as they are" if automatic else ""
    between = f"from {ends[0]} to {ends[1]}" if low != high else ends[0]
    say(f"Scaled: {count}, {done} {by} ({between}){why}.")


def _say_accuracy(answer: dict[str, Any]) -> None:
    found = answer.get("test") or answer.get("holdout") or answer.get("folds")
    if not found or "rows" not in found:
        return
    rows = f"{found['rows']:,} rows"
    if "test" in answer:
        on = f"{rows} of {', '.join(found['files'])}"
    elif "holdout" in answer:
        share = found["rows"] / (found["rows"] + answer["rows"])
        on = f"{rows} held out of training ({share:.0%} of each class)"
    else:
        on = f"{rows}, each predicted by a model trained on the other folds ({found['folds']})"
    say_scores(found, on)
    if found.get("by_seed"):
        say_seeds(found["by_seed"])
