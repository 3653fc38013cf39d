"""One pass over a file of text by AROW, against vw's: whole programs, their times and what they get right.

The target counts only where our accuracy is at least vw's. The averaged perceptron runs beside, for comparison.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks import programs, streams
from benchmarks.measure import Figure

SEEDS = (1, 3, 4)
"""Of the rows to learn from; those to test on have 2."""
LEARNERS = ("arow", "averaged")


@dataclass(frozen=True)
class Course:
    """Rows to race on, and the most of vw's time that AROW may take."""

    name: str
    rows: int
    limit: float
    made: Callable[[int, int], streams.Pieces] = streams.pieces

    def files(self, folder: Path, seed: int) -> tuple[Path, Path]:
        """Return the file to learn from and the one to test on; write those that are missing."""
        kind = "zipf-" if self.made is streams.zipf_pieces else ""
        among = f"-{seed}" if seed != SEEDS[0] or kind else ""  # without it the file that ``programs`` writes, too
        text, test = folder / f"{kind}{self.rows}-rows{among}.vw", folder / f"{kind}test.vw"
        streams.write(text, self.rows, seed, self.made)
        streams.write(test, programs.TESTED, 2, self.made)
        return text, test


def courses(quick: bool) -> list[Course]:
    """Return the races, with a twentieth of the rows if ``quick``."""
    size = 20 if quick else 1
    return [
        Course("50 numbers a row", 4_000_000 // size, 0.35),
        Course("a quarter of it", 1_000_000 // size, 0.6),
        Course("Zipf's law", 2_000_000 // size, 0.6, streams.zipf_pieces),
    ]


def races(quick: bool) -> list[Figure]:
    """Return the time of our one pass over vw's, on three seeds of each course; if ``quick``, on one."""
    if not programs.has_vw():
        return [Figure("one pass from text against vw", programs.WITHOUT_VW)]
    seeds = SEEDS[:1] if quick else SEEDS
    with programs.stream_folder() as folder:
        return [figure for course in courses(quick) for seed in seeds for figure in race(course, folder, seed)]


def race(course: Course, folder: Path, seed: int) -> list[Figure]:
    """Run vw and our learners in turn."""
    text, test = course.files(folder, seed)
    theirs, ours = folder / "vw.model", {learner: folder / f"{learner}.model" for learner in LEARNERS}
    calls = [partial(programs.train_vw, text, theirs)]
    calls += [partial(programs.train, text, model, learner, 1) for learner, model in ours.items()]
    peer, *times = programs.in_turn(*calls)
    wanted = programs.vw_accuracy(theirs, test, "--binary")
    found = []
    for (learner, model), taken in zip(ours.items(), times, strict=True):
        reached = programs.accuracy(model, test)
        limit = course.limit if learner == LEARNERS[0] else None
        name = f"{learner} / vw, one pass over {text.stat().st_size / 1e9:.2f} GB, {course.name}, seed {seed}"
        found.append(verdict(name, (taken.seconds, reached), (peer.seconds, wanted), limit))
    return found


def verdict(name: str, ours: tuple[float, float], theirs: tuple[float, float], limit: float | None) -> Figure:
    """Return the ratio of two programs' seconds beside their accuracies; it is met only if ours is no worse."""
    ratio = ours[0] / theirs[0]
    words = f"{ratio:.2f}: ours {ours[0]:.2f} s to {ours[1]:.2%}, vw {theirs[0]:.2f} s to {theirs[1]:.2%}"
    if limit is None:
        return Figure(name, words)
    return Figure(name, words, f"<= {limit:g}, at least vw's accuracy", ratio <= limit and ours[1] >= theirs[1])
