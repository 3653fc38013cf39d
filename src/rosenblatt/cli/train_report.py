"""What ``rosenblatt train`` tells people at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rosenblatt.cli.kernel_choice import kernel_line
from rosenblatt.cli.output import as_text, bars, note, on_terminal, say

if TYPE_CHECKING:
    from rosenblatt.training.model import TrainedModel

_RANGE_RATIO = 100.0


def print_report(model: TrainedModel, answer: dict[str, Any]) -> None:
    """Print what a run has learned and proved, and how well it predicts."""
    labels = [as_text(label) for label in answer["classes"]]
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6:,} more" if len(labels) > 6 else "")
    skipped = f" ({answer['skipped']:,} skipped)" if answer["skipped"] else ""
    say(
        f"{answer['learner']}: {answer['rows']:,} rows{skipped}, {answer['features']:,} features, "
        f"classes {shown}; {answer['seconds']:.2f} s."
    )
    if "kernel" in answer:
        say(kernel_line(answer))
    say(str(model.report))
    bars(answer["mistakes_by_pass"], "Mistakes by pass")
    if answer["last_pass_cut"]:
        note("the last pass was cut short: its mistakes are those in the rows that it reached.")
    tested = answer.get("test")
    if tested:
        _accuracy(tested)
    if _differ_in_scale(model):
        note("the features range over values of very different sizes, and the largest drown the others: scale them.")
    if "model" in answer:
        say(f"Model written to {answer['model']}.")
    elif on_terminal():
        say("The model was not saved: -o MODEL writes it to a file.")


def _differ_in_scale(model: TrainedModel) -> bool:
    """Return whether the range of some feature is more than a hundred times that of another."""
    prepared, ranges = model.preparation or {}, model.state.feature_ranges
    if prepared.get("format") in ("svmlight", "vw") or prepared.get("lists") or ranges is None:
        return False  # rare words range over less, and that is as it should be
    positive = ranges[ranges > 0]
    return len(positive) > 0 and bool(positive.max() > _RANGE_RATIO * positive.min())


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
