"""How well what was trained predicts: on other files, on rows held out, on the folds of a cross-validation."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.errors import cli_message
from rosenblatt.cli.inputs import NO_ROWS, score
from rosenblatt.cli.output import as_text, note, print_table, say
from rosenblatt.cli.progress_bar import ProgressBar
from rosenblatt.cli.scores import class_scores, scores_table
from rosenblatt.cli.train_run import Training
from rosenblatt.messages import plain_label

if TYPE_CHECKING:
    from rosenblatt.data import Stream
    from rosenblatt.training.model_file import TrainedModel

Pairs = dict[tuple[Any, Any], int]
"""How many rows of each class were predicted as each."""
_TOO_FEW = "there are too few rows to hold some of each class out: add rows, or train without holding any out."
_MOST_CLASSES = 30
"""Scores of more classes than this would fill the screen; ``--json`` has them."""


def tested(model: TrainedModel, rows: Stream, paths: Sequence[str], held_out: bool) -> Pairs:
    """Return what a model predicts for labelled rows, those of files or some held out, with a bar on a terminal."""
    no_rows = _TOO_FEW if held_out else NO_ROWS
    with ProgressBar("testing", paths) as bar:
        return score(model, bar.track(rows), no_rows)["pairs"]


def scores_of(pairs: Pairs, classes: Sequence[Any]) -> dict[str, Any]:
    """Return the accuracy and the scores of each class, as ``--json`` prints them."""
    pairs = {(plain_label(true), plain_label(predicted)): count for (true, predicted), count in pairs.items()}
    rows, true = sum(pairs.values()), Counter[Any]()
    for (label, _), count in pairs.items():
        true[label] += count
    right = sum(count for (label, predicted), count in pairs.items() if label == predicted)
    label, most = true.most_common(1)[0]
    commonest = {"class": label, "accuracy": most / rows}
    plain = class_scores(pairs, map(plain_label, classes)).to_plain()
    return {"rows": rows, "accuracy": right / rows, "commonest": commonest, **plain}


def more_seeds(first: float, training: Training, test: Callable[[Stream], Stream]) -> list[float]:
    """Train again with the seeds that follow, and return the accuracies of all.

    ``test`` returns the rows to test on, scaled as those that it is given.
    """
    found, asked = [first], training.asked
    for seed in range(asked.seed + 1, asked.seed + asked.seeds):
        rows = training.stream.rescaled()  # early stopping holds out other rows
        again = Training(rows, asked, replace(training.options, random_state=seed), training.paths)
        if not again.fit(f"seed {seed}, pass"):
            raise KeyboardInterrupt
        found.append(score(again.model, test(rows))["accuracy"])
    return found


def cross_validated(stream: Stream, training: Training) -> dict[str, Any]:
    """Train once for each fold on the rows of the others, and return how well its own are predicted.

    After Ctrl-C, the scores are those of the folds that were made.
    """
    from rosenblatt.data.splits import Split

    asked, by_fold = training.asked, []
    pairs: Counter[tuple[Any, Any]] = Counter()
    folds = Split.of_folds(asked.folds or 2, asked.seed)
    interrupted = False
    for number, split in enumerate(folds, 1):
        rows = stream.part(split, held=False)
        again = Training(rows, replace(asked, checkpoint=None, resume=False), training.options, training.paths)
        try:
            if not again.fit(f"fold {number} of {len(folds)}, pass"):
                raise KeyboardInterrupt
            found = tested(again.model, stream.part(split, held=True, scaled_as=rows), training.paths, held_out=True)
        except ValueError as fault:  # a class that the other folds do not have, for instance
            note(f"fold {number} of {len(folds)} is left out: {cli_message(fault)}")
            continue
        except KeyboardInterrupt:
            interrupted = True
            note(f"{number - 1} of {len(folds)} folds were made.")
            break
        pairs.update(found)
        by_fold.append(sum(n for (true, guess), n in found.items() if true == guess) / sum(found.values()))
    scores = scores_of(dict(pairs), training.model.classes.tolist()) if pairs else {}
    return {"folds": len(folds), "by_fold": by_fold, "interrupted": interrupted, **scores}


def say_scores(scores: dict[str, Any], on: str) -> None:
    """Print the accuracy and the scores of each class."""
    commonest, label = scores["commonest"], as_text(scores["commonest"]["class"])
    say(
        f"Accuracy {scores['accuracy']:.2%} on {on}; always answering {label} would give {commonest['accuracy']:.2%}. "
        f"Balanced accuracy {scores['balanced_accuracy']:.2%}."
    )
    by_fold = scores.get("by_fold")
    if by_fold:
        say(f"By fold: {', '.join(f'{share:.2%}' for share in by_fold)}{_spread(by_fold)}.")
    if len(scores["by_class"]) <= _MOST_CLASSES:
        say("")
        print_table(scores_table(scores["by_class"]))
        say("")


def _spread(shares: Sequence[float]) -> str:
    if len(shares) < 2:
        return ""
    return f" (mean {statistics.mean(shares):.2%}, standard deviation {statistics.stdev(shares):.2%})"


def say_seeds(accuracies: Sequence[float]) -> None:
    """Print how the accuracy varies with the seed."""
    say(
        f"Over {len(accuracies)} seeds: mean {statistics.mean(accuracies):.2%}, spread "
        f"{statistics.stdev(accuracies):.2%} (standard deviation), from {min(accuracies):.2%} to {max(accuracies):.2%}."
    )
