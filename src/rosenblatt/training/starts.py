"""The states that runs start from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from rosenblatt.parameters import ParameterError, Setting
from rosenblatt.training.batches import InMemory, Streamed
from rosenblatt.training.dual.start import check_rows, new_dual_state
from rosenblatt.training.options import KernelOptions, RunOptions, draw_seed
from rosenblatt.training.rows import Matrix
from rosenblatt.training.starting_weights import Weights
from rosenblatt.training.state import LinearState


def new_state(
    options: RunOptions, n_classes: int, d: int, matrices: Callable[[], Iterable[Matrix]] | None = None
) -> Any:
    """Return a state that has seen nothing, of the kind that the options are for.

    ``matrices`` gives all rows, for parameters that depend on them.
    """
    if isinstance(options, KernelOptions):
        return new_dual_state(options, n_classes, d, matrices)
    seed = draw_seed(options.random_state)
    return LinearState.zeros(
        n_classes,
        d,
        direct=options.direct,
        fit_intercept=options.fit_intercept,
        hypothesis=options.hypothesis,
        seed=seed,
        rule=options.rule,
        decay=float(options.decay),
    )


def first_state(source: InMemory | Streamed, options: RunOptions, given: Weights | None = None) -> Any:
    """Return the state from which a run on a source starts; ``given`` are the weights of a linear one, if not zero."""
    d = source.width
    if not isinstance(options, KernelOptions):
        state = new_state(options, len(source.classes), d)
        if given is not None:
            state.start_from(*given)
        return state
    if isinstance(source, InMemory):
        check_rows(options, source.batch.rows.n, d)
    elif options.kernel == "precomputed":
        raise not_precomputed("a stream does not have")
    elif source.rereadable and options.needs_data:
        for batch in source.batches():
            d = max(d, batch.rows.d)
    matrices = (lambda: (batch.rows.matrix for batch in source.batches())) if source.rereadable else None
    return new_state(options, len(source.classes), d, matrices)


def not_precomputed(who: str) -> ParameterError:
    """Return the error for a precomputed kernel where values between all rows cannot be had."""
    return ParameterError(
        Setting("kernel", "precomputed"), f" needs values between all rows, which {who}: use fit, or name a kernel."
    )
