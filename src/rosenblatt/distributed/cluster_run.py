"""What runs on shards have in common, however these are visited."""

from __future__ import annotations

from rosenblatt.training.run import TrainingRun


class ClusterRun(TrainingRun):
    """A run whose rows are visited elsewhere: what an interrupt cuts short has not come back, and is forgotten."""

    def run_pass(self) -> int:
        """Visit all rows once; a pass of which nothing has come back is as one that was not begun."""
        state, before = self.state, self.state.counters.copy()
        try:
            return super().run_pass()
        except KeyboardInterrupt:
            if not self.current.row:
                state.counters[:] = before
                state.done[self.current.active] = self.current.was_done
                self.in_pass = False
            raise
