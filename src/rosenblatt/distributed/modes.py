"""The two ways to train on shards, exact and mixed: what each can do, and what makes its runs."""

from __future__ import annotations

from functools import partial

from rosenblatt.distributed.exact import ExactRun
from rosenblatt.distributed.mixing import MixingRun
from rosenblatt.parameters import ParameterError, Setting, check_choice, check_integer
from rosenblatt.training.options import RunOptions
from rosenblatt.training.train import MakeRun

MODES = ("exact", "mix")


def checked_options(options: RunOptions, mode: str, n_shards: int) -> RunOptions:
    """Return the options of a run, or raise a ParameterError where a cluster cannot make it in this mode."""
    check_choice("mode", mode, MODES)
    check_integer("n_shards", n_shards, 1)
    options.check_for_stream("training on a cluster")
    if mode == "mix":
        for name, given, needed in (
            ("hypothesis", options.hypothesis if options.hypothesis == "vote" else None, None),
            ("max_updates", options.max_updates, None),
            ("decay", options.decay, 0.0),
        ):
            if given != needed:
                raise ParameterError(
                    Setting("mode", "mix"),
                    " takes the mean of shards that know nothing of each other, which ",
                    Setting(name, given),
                    " does not go with: leave it out, or use ",
                    Setting("mode", "exact"),
                    ".",
                )
    return options


def runs_of(mode: str, every: float | None) -> MakeRun:
    """Return what makes the runs of a mode; exact ones can be gone on with after so many seconds."""
    return MixingRun if mode == "mix" else partial(ExactRun, every=every)
