"""How a training run ends."""

from __future__ import annotations

import enum


class Outcome(enum.Enum):
    """How a run ended."""

    CLEAN_PASS = "clean pass"
    MAX_PASSES = "max_iter"
    MAX_UPDATES = "max_updates"
    STOPPED = "stopped"
    INTERRUPTED = "interrupted"

    def describe(self, passes: int, mistakes: int) -> str:
        """Return a few words for people, given the passes and the mistakes that are left."""
        if self is Outcome.CLEAN_PASS:
            return "separated"
        if self is Outcome.INTERRUPTED:
            return "interrupted; the model keeps what it has learned"
        why = "as asked" if self is Outcome.STOPPED else f"with {'mistakes' if mistakes else 'updates'} left"
        return f"stopped after {passes} pass{'' if passes == 1 else 'es'}, {why}"
