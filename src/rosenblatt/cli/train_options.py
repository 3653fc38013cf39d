"""What ``rosenblatt train`` is asked for, and what does not go together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.cluster_options import ClusterOptions
from rosenblatt.cli.kernel_choice import KernelChoice
from rosenblatt.cli.learner_options import LearnerOptions
from rosenblatt.messages import ParameterError, Setting, check_choice, check_integer

if TYPE_CHECKING:
    from rosenblatt.training.options import RunOptions

LEARNERS = {
    "averaged": "AveragedPerceptron",
    "arow": "AROW",
    "pa": "PassiveAggressive",
    "perceptron": "Perceptron",
    "margin": "MarginPerceptron",
    "voted": "VotedPerceptron",
    "kernel": "KernelPerceptron",
}
"""The learners by the names that the command has for them."""
DIRECT = ("averaged",)
"""Learners whose classes all compete in one update unless something else is said, though their own default is one
against the rest; the others keep theirs."""
ON_CLUSTERS = ("averaged", "perceptron")
"""Learners that can be trained on a cluster."""
MOST_FOLDS = 1000


@dataclass(frozen=True)
class TrainOptions:
    """What to train, and how."""

    learner: str = "averaged"
    kernel: KernelChoice = field(default_factory=KernelChoice)
    steps: LearnerOptions = field(default_factory=LearnerOptions)
    passes: int | None = None
    shuffle: bool = True
    seed: int = 0
    seeds: int = 1
    early_stopping: bool = False
    checkpoint: Path | None = None
    every: float = 30.0
    resume: bool = False
    cache: Path | None = None
    bias: bool = True
    class_weight: str | None = None
    multi_class: str | None = None
    holdout: str | None = None
    folds: int | None = None
    on: ClusterOptions = field(default_factory=ClusterOptions)

    @property
    def held_share(self) -> float | None:
        """The share of rows that is held out to test on, None if none are."""
        return None if self.holdout is None else share_of(self.holdout)

    def check(self, tested: Sequence[str]) -> None:
        """Raise a ValueError for what does not go together, given the files to test on."""
        self.on.check()
        if self.on.cluster is not None:
            self._check_cluster()
        if self.seeds < 1:
            raise ValueError(f"--seeds must be 1 or more, got {self.seeds}.")
        if self.seeds > 1 and not (tested or self.holdout):
            raise ValueError("--seeds shows how accuracy varies, so it needs --test, a file to test on, or --holdout.")
        if self.seeds > 1 and self.checkpoint is not None:
            raise ValueError("--checkpoint is for one run, so it does not go with --seeds.")
        if self.resume and self.checkpoint is None:
            raise ValueError("--resume needs --checkpoint, the file to go on from.")
        if self.passes is not None and self.passes < 1:
            raise ValueError(f"--passes must be 1 or more, got {self.passes}.")
        if self.class_weight is not None:
            check_choice("class_weight", self.class_weight, ("balanced",))
        if self.holdout is not None:
            share_of(self.holdout)
        if self.folds is not None:
            check_integer("folds", self.folds, 2, most=MOST_FOLDS)
        for one, other in (("holdout", "test"), ("folds", "test"), ("folds", "holdout"), ("folds", "seeds")):
            given = {
                "holdout": self.holdout,
                "folds": self.folds,
                "test": tested or None,
                "seeds": self.seeds > 1 or None,
            }
            if given[one] is not None and given[other] is not None:
                raise ValueError(f"--{one} and --{other} both say what the accuracy is measured on: leave one out.")

    def _check_cluster(self) -> None:
        """Raise a ParameterError for what cannot be had on a cluster."""
        if self.learner not in ON_CLUSTERS:
            raise ParameterError(
                Setting("cluster"),
                f" is for --learner {' or '.join(ON_CLUSTERS)}, and this is {self.learner}: leave it out.",
            )
        for name, given, why in (
            ("holdout", self.holdout, "workers learn from whole files: test on others with --test"),
            ("folds", self.folds, "workers learn from whole files: test on others with --test"),
            ("seeds", self.seeds > 1 or None, "one model is trained at a time: run it with one --seed after the other"),
            ("cache", self.cache, "workers keep their rows in memory: leave it out"),
        ):
            if given is not None:
                raise ParameterError(Setting(name), " does not go with ", Setting("cluster"), f", as {why}.")


def share_of(text: str) -> float:
    """Return a share such as ``20%`` or ``0.2`` as a number.

    >>> share_of("20%"), share_of("0.25")
    (0.2, 0.25)
    """
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*(%?)\s*", text)
    share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
    if not 0.01 <= share <= 0.99:
        raise ValueError(f"--holdout expects a share of the rows between 1% and 99%, such as 20%, got {text!r}.")
    return share


def run_options(asked: TrainOptions) -> RunOptions:
    """Return the options of the run that is asked for.

    >>> run_options(TrainOptions(learner="perceptron", passes=3)).max_iter
    3
    >>> run_options(TrainOptions()).multi_class, run_options(TrainOptions(learner="voted")).multi_class
    ('direct', 'ovr')
    """
    from rosenblatt.training.options import RunOptions

    if asked.learner not in LEARNERS:
        raise ValueError(f"--learner must be one of {', '.join(LEARNERS)}, got {asked.learner!r}.")
    given: dict[str, Any] = {} if asked.passes is None else {"max_iter": asked.passes}
    if asked.multi_class is not None:
        given["multi_class"] = asked.multi_class
    elif asked.learner in DIRECT:
        given["multi_class"] = "direct"
    if asked.learner == "kernel":
        if not asked.bias:
            raise ParameterError(
                "--no-bias is for the other learners: a constant comes into a kernel through ", Setting("coef0"), "."
            )
    else:
        given["fit_intercept"] = asked.bias
    return RunOptions.for_learner(
        LEARNERS[asked.learner],
        shuffle=asked.shuffle,
        random_state=asked.seed,
        early_stopping=asked.early_stopping,
        **given,
        **asked.steps.parameters(asked.learner),
        **asked.kernel.parameters(asked.learner),
    ).check()
