"""Counts of what the server does, in the text format of Prometheus."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping

from rosenblatt.messages import escape_unprintable

_BOUNDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Histogram:
    """Counts of durations, each in the first class whose bound in seconds is not below it.

    >>> times = Histogram()
    >>> times.add(0.004)
    >>> times.lines("t", {})[4:6]
    ['t_bucket{le="0.005"} 1', 't_bucket{le="0.01"} 1']
    """

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0
        self._lock = threading.Lock()

    def add(self, seconds: float) -> None:
        """Count a duration."""
        place = next((i for i, bound in enumerate(_BOUNDS) if seconds <= bound), len(_BOUNDS))
        with self._lock:
            self._counts[place] += 1
            self._sum += seconds

    def lines(self, name: str, labels: Mapping[str, str]) -> list[str]:
        """Return the histogram as lines of Prometheus' text format, with its type first."""
        with self._lock:
            counts, total = list(self._counts), self._sum
        found, below = [f"# TYPE {name} histogram"], 0
        for bound, count in zip([*map(str, _BOUNDS), "+Inf"], counts, strict=True):
            below += count
            found.append(f"{name}_bucket{_labels({**labels, 'le': bound})} {below}")
        return [*found, f"{name}_sum{_labels(labels)} {total:.6f}", f"{name}_count{_labels(labels)} {below}"]


class Metrics:
    """The counts of one model."""

    def __init__(self) -> None:
        self.predicted, self.refused, self.snapshots = 0, 0, 0
        """Rows predicted, rows refused, and snapshots written."""
        self.predictions, self.learning, self.flush, self.acknowledged = (Histogram() for _ in range(4))
        """Seconds of requests to predict, of learning a group, of flushing it to the disk, and of requests to learn."""

    def histograms(self) -> dict[str, Histogram]:
        """Return the histograms by the names of their metrics."""
        return {
            "rosenblatt_predict_seconds": self.predictions,
            "rosenblatt_learn_request_seconds": self.acknowledged,
            "rosenblatt_learn_group_seconds": self.learning,
            "rosenblatt_log_flush_seconds": self.flush,
        }


def render(models: Mapping[str, tuple[Metrics, Mapping[str, float]]], statuses: Counter[int]) -> str:
    """Return all metrics as text: for each model its counts and further values by name, and the requests by status."""
    lines: list[str] = []
    names = dict.fromkeys(name for _, values in models.values() for name in values)
    for name in names:
        lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
        lines += [f"{name}{_labels({'model': model})} {values[name]}" for model, (_, values) in models.items()]
    for name in Metrics().histograms():
        for model, (metrics, _) in models.items():
            found = metrics.histograms()[name].lines(name, {"model": model})
            lines += found if model == next(iter(models)) else found[1:]
    lines.append("# TYPE rosenblatt_requests_total counter")
    lines += [f"rosenblatt_requests_total{_labels({'status': str(s)})} {n}" for s, n in sorted(statuses.items())]
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    pairs: Iterable[str] = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(pairs) + "}"


def _escaped(value: str) -> str:
    return escape_unprintable(value).replace("\\", "\\\\").replace('"', '\\"')
