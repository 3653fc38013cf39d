"""Small faults, put into a copy of the package one at a time: does a test notice?

``python tests/mutants.py`` makes a copy of the checkout in a temporary folder, and for each mutant changes one place of
``src/rosenblatt`` there, runs the tests that belong to it until one fails, and changes the place back. At the end a
table says which mutants were caught, by how much time. The checkout itself is never written to.

A mutant names a place by its text and not by its file, so code may move freely; the text has to occur exactly once in
all of ``src/rosenblatt``, and ``test_structure.py`` fails where it does not: then change the mutant with the code.

``--list`` prints all mutants, ``--only NAME`` (repeatedly) chooses some, by the start of their names, and ``--tier``
says which tests are run: ``room``, the files of the room that are named with each mutant; ``test``, these and then all
that is not slow; ``all``, these and then everything. The exit status is 1 where a mutant was missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv*", "__pycache__", "node_modules", "out", "build", "dist", ".*_cache")
TIERS = {"room": None, "test": ["-m", "not slow", "tests"], "all": ["tests"]}
"""What is run after the tests of the room, if anything."""


class Mutant(NamedTuple):
    """A fault: ``old`` becomes ``new``, and one of ``tests`` ought to fail."""

    name: str
    room: str
    old: str
    new: str
    tests: tuple[str, ...]


def _of(room: str, *mutants: tuple[str, str, str, str]) -> list[Mutant]:
    """Return the mutants of a room, each a name, the old text, the new one, and the tests below ``tests``."""
    return [
        Mutant(f"{room}-{name}", room, old, new, tuple(f"tests/{path}" for path in tests.split()))
        for name, old, new, tests in mutants
    ]


KERNELS = _of(
    "kernels",
    ("prequential-average", "a -= share * (pass_dot(", "a += share * (pass_dot(", "training/test_prequential.py"),
    ("prequential-certain", "certain = first - second > 2.0 * doubt", "certain = first - second >= 0.0 * doubt",
     "training/test_prequential.py"),
    ("prequential-sign", "certain, best = abs(scores[0]) > doubt", "certain, best = abs(scores[0]) > 0.0 * doubt",
     "training/test_prequential.py"),
    ("nan-one-vs-rest", "if measure_row(s, q + bias_value, weight, threshold):",
     "if q == q and weight > 0.0 and measure_row(s, q + bias_value, weight, threshold):",
     "kernels/test_passes.py kernels/test_edges.py"),
    ("nan-direct", "if first and measure_row(s, square(rows, i)",
     "if first and weight > 0.0 and square(rows, i) >= 0.0 and measure_row(s, square(rows, i)",
     "kernels/test_passes.py kernels/test_edges.py"),
    ("bias-in-exact-sign", "sign_threshold(terms, magnitude(rows, i, w) + abs(b))",
     "sign_threshold(terms, magnitude(rows, i, w))",
     "kernels/test_exact.py kernels/test_passes.py kernels/test_edges.py"),
    ("bias-in-rounded-margin", "magnitude(rows, i, v) + abs(b) + abs(c))", "magnitude(rows, i, v))",
     "kernels/test_rounded.py kernels/test_passes.py kernels/test_edges.py"),
    ("decay-not-rescaled", "factor = 1.0 / (1.0 + _compound(growth, int((now - epoch) * period)))",
     "factor = 1.0",
     "kernels/test_passes.py kernels/test_edges.py"),
    ("boundary-is-right", "if a > threshold:\n                    if a < lowest:",
     "if a >= threshold:\n                    if a < lowest:", "kernels/test_passes.py"),
    ("boundary-is-right-direct", "if step < 0.0:\n            continue",
     "if step < 0.0 or not (a < threshold):\n            continue", "kernels/test_passes.py"),
    ("doubt-too-small", "return (terms + 4) * (2.02", "return 1e-3 * (terms + 4) * (2.02", "kernels/test_passes.py"),
    ("rival-moves-along", "((y, 1.0), (rival, -1.0))", "((y, 1.0), (rival, 1.0))", "kernels/test_passes.py"),
    ("average-one-late", 'average_weight(weights.decay, before, s["epoch"])',
     'average_weight(weights.decay, before + 1.0, s["epoch"])', "kernels/test_passes.py"),
    ("weight-zero-is-visited", "if (weighted and weight == 0.0) or", "if", "kernels/test_passes.py"),
    ("limit-one-more", 'if weight == 0.0 or s["updates"] >= limit:', 'if weight == 0.0 or s["updates"] > limit:',
     "kernels/test_passes.py training/test_edges.py"),
    ("pa-without-cap", "return min(rule.cap, loss / norm2) * weight", "return loss / norm2 * weight",
     "estimators/family"),
    ("arow-shrinks-less", "share = at_most((at_least(v - t * x, 0.0) + r) * inverse, 1.0)",
     "share = at_most((at_least(v - t * x, 0.0) + 2.0 * r) * inverse, 1.0)", "kernels/test_interpreted.py"),
    ("arow-shrinks-less-interpreted", "share = ((0.0 if rest < 0.0 else rest) + r) * inverse",
     "share = ((0.0 if rest < 0.0 else rest) + 2.0 * r) * inverse", "estimators/family"),
    ("exact-sum-middle", "+ (a >> 27) * (b & _LOW_27)", "+ (a >> 26) * (b & _LOW_27)", "kernels/test_exact.py"),
    ("half-to-odd", "(rest != 0 or kept & 1 == 1)", "(rest != 0 or kept & 1 == 0)",
     "kernels/test_exact.py kernels/test_rounded.py"),
    ("shuffle-off-by-one", "* np.uint64(i + 1)) >> np.uint64(32))", "* np.uint64(i)) >> np.uint64(32))",
     "kernels/test_orders.py"),
    ("svmlight-order", "elif index <= previous or index > last_index:", "elif index < previous or index > last_index:",
     "kernels/parsing"),
    ("wolfe-drops-last", "if stop < 0 or ratio < theta:", "if stop < 0 or ratio > theta:", "kernels/test_wolfe.py"),
)  # fmt: skip

TRAINING = _of(
    "training",
    ("nan-not-looked-for", 'if first and not np.isfinite(state.counters["radius2"]).all():', "if False:",
     "training/test_train.py training/test_edges.py"),
    ("updates-without-mistakes-are-clean", ' & (counted["pass_updates"] == 0)', "",
     "training/test_train.py training/test_edges.py"),
    ("record-of-others", "return self.state.passes == self._passes", "return True", "estimators/test_records.py"),
    ("record-with-wrong-sign", "if not a > threshold + bound:\n            a, extra",
     "if not a > threshold:\n            a, extra", "estimators/test_records.py"),
    ("record-in-a-new-epoch", 'if epoch > s["epoch"] or not', "if not", "estimators/test_records.py"),
    ("record-without-error", "error = 1.2 * (n + 4) * HALF_ULP", "error = 0.0 * (n + 4) * HALF_ULP",
     "estimators/test_records.py"),
    ("record-not-written-back", "self._changed.update(record.names)", "pass", "estimators/test_records.py"),
    ("max-updates-of-earlier-fits", 'counters["updates"] + options.max_updates', "options.max_updates",
     "training/test_train.py training/test_edges.py"),
    ("max-updates-of-each-call", "if options.max_updates is None else options.max_updates\n",
     'if options.max_updates is None else state.counters["updates"] + options.max_updates\n',
     "training/test_train.py training/test_edges.py"),
    ("marked-after-rows-are-skipped", "self._split.mark(stream)", "self._split.mark(skip_rows(stream, from_row))",
     "training/test_checkpoint.py"),
    ("shards-count-from-zero", "(self._block,) = split.mark([self._block], before)",
     "(self._block,) = split.mark([self._block])", "distributed/test_exact.py distributed/test_mix.py"),
    ("equal-error-is-better", "is_best = error < best.error or", "is_best = error <= best.error or",
     "training/test_train.py training/test_report.py estimators/test_fit.py"),
    ("equal-loss-stalls", "loss > least[k] - tol", "loss >= least[k] - tol", "training/test_losses.py"),
    ("loss-is-compared-with-the-last", "min(loss, least[k])", "loss", "training/test_losses.py"),
    ("one-more-pass-of-patience", "self.best.passes_since >= self.patience", "self.best.passes_since > self.patience",
     "training/test_train.py training/test_report.py estimators/test_fit.py"),
    ("resumes-at-wrong-row", "current.row, current.visited = batch.first + batch.rows.n, 0",
     "current.row, current.visited = batch.rows.n, 0", "training/test_checkpoint.py"),
    ("average-adds", "return self.w - self.u / visits[:, None]", "return self.w + self.u / visits[:, None]",
     "training/test_train.py kernels/test_passes.py"),
    ("windows-of-one-order", "visiting_order(n, seed + window * 0x632BE59BD9B4E019, pass_number)",
     "visiting_order(n, seed, pass_number)", "training/test_batches.py training/test_train.py"),
    ("class-weight-dropped", "len(steps) == 0 else steps * weights[numbers]", "len(steps) == 0 else steps",
     "training/test_train.py kernels/test_passes.py"),
    ("third-class-mirrored", "(0, int(places[0]), -1), (0, int(places[1]), 1)",
     "(0, int(places[0]), 1), (0, int(places[1]), -1)", "training/test_train.py estimators/test_partial_fit.py"),
    ("resumes-with-other-parameters", 'if name != "data" and then != now:', "if False:",
     "training/test_checkpoint.py"),
    ("pocket-keeps-the-worst", "pocket.mistakes[better] = mistakes[better]\n", "pocket.mistakes[better] = 0.0\n",
     "training/test_train.py estimators/test_fit.py"),
    ("kernel-settles-zero-as-right", "self._sign(rows, place, coefficients) <= 0",
     "self._sign(rows, place, coefficients) < 0", "training/dual"),
    ("kernel-forgets-bound", "sure = found & ((margin < -bound) | (bound == 0.0))", "sure = found & (margin < 0.0)",
     "training/dual"),
    ("ties-count-whole-in-the-roc-curve", "twice += n * (2 * above + p)", "twice += n * (2 * above + 2 * p)",
     "training/test_ranking.py"),
    ("threshold-adds-to-the-bias", "else b - self.threshold", "else b + self.threshold", "cli/test_imbalance.py"),
    ("threshold-of-equal-cost", "key=lambda k: (abs(values[k]), -values[k])", "key=lambda k: -abs(values[k])",
     "training/test_ranking.py"),
)  # fmt: skip

SOUND = "theory/test_soundness.py"  # where a bound without one of its terms would let a false proof pass
THEORY = _of(
    "theory",
    ("touching-separates", "not (least > 0 and low >= 0)", "not (least >= 0 and low >= 0)",
     "theory/test_certificates.py theory/test_verdicts.py theory/test_separability.py"),
    ("margin-rounded-up", "up=None if nearest else least < 0", "up=None if nearest else least > 0",
     "theory/test_margins.py theory/test_certificates.py"),
    ("hull-distance-not-halved", "(2 * plus * minus) ** 2", "(plus * minus) ** 2", "theory/test_margins.py"),
    ("bias-not-summed", "if bias and sum(signed) != 0:", "if False:",
     "theory/test_exact.py theory/test_certificates.py"),
    ("weights-may-be-zero", "len(rows) == 0 or min(weights) <= 0:", "len(rows) == 0 or min(weights) < 0:",
     "theory/test_exact.py theory/test_certificates.py"),
    ("scores-without-error", "g = (self.terms + 6) * HALF_ULP * 1.01", "g = 0.0", "theory/test_scores.py"),
    ("radius-without-bias", "for i in rows.tolist()) + int(bias)", "for i in rows.tolist())",
     "theory/convergence"),
    ("overlap-is-quasi-complete", '"complete" if pair.signs.all()', '"complete" if pair.signs.any()',
     "theory/logistic"),
    ("cover-counts-one-less", "for i in range(min(n - 1, d) + 1))", "for i in range(min(n - 1, d)))", "theory/vc"),
    ("core-of-wrong-rows", "return Core(pool[rows], verdict.alpha[rows]", "return Core(rows, verdict.alpha[rows]",
     "theory/min_mistakes"),
    ("optimum-stops-early", "if high - low <= atol + rtol * max(abs(low), abs(high)):",
     "if high - low <= 1e-3 + rtol * max(abs(low), abs(high)):", "theory/linear_programs"),
    ("enclosure-residual-without-rounding", "np.abs(alpha @ self.near) + 1.01 * g * (alpha @ np.abs(self.near))",
     "np.abs(alpha @ self.near)", SOUND),
    ("enclosure-residual-not-rounded-up", "np.nextafter(np.array([as_float(value) for value in values]), np.inf)",
     "np.array([as_float(value) for value in values])", SOUND),
    ("enclosure-without-spread", "delta + TINY + 1.01 * q / (1 - q) * np.max(delta)", "delta + TINY", SOUND),
    ("enclosure-inverse-without-rounding", "np.abs(np.eye(size) - R @ B) + (g + A.rounding) * magnitude",
     "np.abs(np.eye(size) - R @ B)", SOUND),
    ("enclosure-without-underflow", "underflow = TINY * (len(alpha) + float(np.sum(alpha)))", "underflow = 0.0", SOUND),
    ("enclosure-far-from-alpha", "and np.max(delta) <= NEARNESS * np.max(alpha)", "", SOUND),
    ("scores-of-any-number-of-terms", "g = (self.terms + 6) * HALF_ULP * 1.01", "g = 6 * HALF_ULP * 1.01", SOUND),
    ("scores-without-error-of-the-bias", "g * (products + abs(self.b)) +", "g * products +", SOUND),
    ("scores-without-underflow", " + (self.terms + 4) * TINY)", ")", SOUND),
    ("scores-without-underflow-of-weights", "np.abs(self.w) + TINY", "np.abs(self.w)", SOUND),
    ("scores-with-error-of-one-row", "np.min(self.near) + 2.02 * error", "np.min(self.near) + 1.01 * error", SOUND),
    ("scores-with-error-of-the-other-row", "least = np.min(high) if not", "least = np.min(self.near[rows]) if not",
     SOUND),
    ("compensated-without-second-order", "2 * HALF_ULP * np.abs(s) + g * g * reach", "2 * HALF_ULP * np.abs(s)",
     SOUND),
    ("compensated-without-last-rounding", "2 * HALF_ULP * np.abs(s) + g * g * reach", "g * g * reach", SOUND),
    ("margin-at-most-rounded-down", "if square is None else round_root(square, up=True)",
     "if square is None else round_root(square, up=False)", SOUND),
    ("weights-nearly-proportional", "<= (weight >> dropped) * of / 10**9", "<= (weight >> dropped) * of / 10**8",
     SOUND),
    ("program-with-equality", "proportional([*x.tolist(), 1.0]), 0.0) > 0",
     "proportional([*x.tolist(), 1.0]), 0.0) >= 0", SOUND),
    ("program-with-rounded-excess", "or largest_violation(A, b, self.x) <=",
     "or float(largest_violation(A, b, self.x)) <=", SOUND),
    ("program-with-rounded-value", "return exact_dot(c, self.x) >=", "return float(exact_dot(c, self.x)) >=", SOUND),
    ("program-with-rounded-direction", "proportional(d.tolist()), 0.0) >= 0",
     "proportional(d.tolist()), 0.0) >= -1e-15", SOUND),
    ("program-of-negative-deficit", "known = short >= 0 and (short > 0)", "known = (short > 0)", SOUND),
    ("program-of-scaled-rows", "return bool(exact) and encloses_zero_combination(",
     "return bool(alpha.all()) and encloses_zero_combination(", SOUND),
    ("logistic-without-error", "gamma = (X.shape[1] + 6) * HALF_ULP * 1.01", "gamma = 0.0", SOUND),
    ("logistic-without-underflow", "gamma * magnitudes + (X.shape[1] + 4) * TINY", "gamma * magnitudes", SOUND),
    ("logistic-without-underflow-of-coefficients", "(np.abs(floats) + TINY)", "np.abs(floats)", SOUND),
    ("logistic-with-error-of-one-score", "bound = np.max(error, axis=1, initial=0.0)[:, None] * 2.01",
     "bound = np.max(error, axis=1, initial=0.0)[:, None]", SOUND),
    ("logistic-products-in-floats", "int(least.min()) + 52", "int(least.min()) + 56", SOUND),
    ("logistic-centres-near-columns", "_FAR = 16.0", "_FAR = 0.25", SOUND),
    ("mistakes-with-a-row-on-the-hyperplane", "signs[rest], self.w, self.b) > 0", "signs[rest], self.w, self.b) >= 0",
     SOUND),
    ("packing-rounded-beyond", "-(-total * copies // uses)", "total * copies // uses + 1", SOUND),
    ("circle-without-rounding", "(1.01 * HALF_ULP * size + TINY)", "TINY", SOUND),
    ("circle-without-underflow", "(1.01 * HALF_ULP * size + TINY)", "(1.01 * HALF_ULP * size)", SOUND),
    ("radius-of-one-of-many", "slack = 4.0 * (X.shape[1] + 4) * HALF_ULP", "slack = 0.0", SOUND),
    ("radius-not-rounded-up", "Fraction(longest * (1.0 + slack))", "Fraction(longest)", SOUND),
    ("novikoff-rounded-down", "Fraction(HALF_ULP)), up=True)", "Fraction(HALF_ULP)), up=False)", SOUND),
    ("proof-without-rounding", "return 1.01 * (m + 16) * HALF_ULP", "return 0.0", "theory/convergence"),
    ("proof-without-drift", "drift = np.cumsum(lost) * (1 + len(rows) * HALF_ULP)", "drift = np.zeros(len(rows))",
     "theory/convergence"),
)  # fmt: skip

DATA = _of(
    "data",
    ("line-after-a-bad-row", 'progress["lines"] += 1', 'progress["lines"] += 0',
     "data/text data/test_line_numbers.py"),
    ("line-counts-rows", "line += parsed.lines", "line += parsed.n", "data/text data/test_line_numbers.py"),
    ("line-after-one-too-long", "[(0, chunk.fault)], [0], lines=1)", "[(0, chunk.fault)], [0], lines=0)",
     "data/text data/test_limits.py data/test_line_numbers.py"),
    ("table-line-after-one-too-long", "at.line += 1\n", "at.line += 0\n",
     "data/tables data/test_limits.py data/test_line_numbers.py"),
    ("line-after-a-record-of-several", "line {item.line + int(lines[place])}", "line {item.line + place}",
     "data/tables data/test_line_numbers.py"),
    ("row-number-after-a-bad-row", "self.rows_before, rows, side=\"right\")", "self.rows_before, rows, side=\"left\")",
     "data/text data/test_line_numbers.py"),
    ("line-of-the-next-chunk", "at.line += line_count(data[:stop])", "at.line += 0",
     "data/tables data/test_line_numbers.py"),
    ("svmlight-column", "indices[entry] = index - base", "indices[entry] = index", "data/text"),
    ("window-too-long", "stop = start + size - count", "stop = start + size", "test_blocks.py data/test_open_files.py"),
    ("skips-one-row-less", "max(0, row - block.first)", "max(0, row - block.first - 1)",
     "test_blocks.py training/test_checkpoint.py"),
    ("split-takes-one-more", "own <= draws[number, self.stop - 1]", "own <= draws[number, self.stop]",
     "test_splits.py"),
    ("split-counts-each-block", "self._counts[codes[begins]] += sizes", "self._counts[codes[begins]] = sizes",
     "test_splits.py"),
    ("deviation-of-a-sample", "_square_root(numerator, self.rows) if", "_square_root(numerator, self.rows - 1) if",
     "test_scaling.py features/test_scaling.py"),
    ("maxabs-is-signed", "np.maximum.at(self._largest, columns, np.abs(values))",
     "np.maximum.at(self._largest, columns, values)", "test_scaling.py features/test_scaling.py"),
    ("slice-of-the-end-is-all", "block if stop - start == len(block) else", "block if stop == len(block) else",
     "training/test_batches.py data/test_open_files.py"),
)  # fmt: skip

PERSISTENCE = _of(
    "persistence",
    ("checksum-not-compared", "if total.hexdigest() != digest:", "if False:", "storage persistence/test_files.py"),
    ("newer-format-is-read", "if found > known:", "if False:", "storage persistence/test_files.py"),
    ("unknown-arrays-are-left", "left = sorted(set(self.arrays) - set(self._uses))", "left = []",
     "storage persistence/test_files.py"),
    ("not-discarded", "        except BaseException:\n            temporary.discard()\n            raise",
     "        except BaseException:\n            raise", "storage persistence/test_files.py"),
    ("zero-columns-stored-wrong", "buffer[:, :known] = weights", "buffer[:, :known] = 0.0",
     "training/test_train.py estimators/test_online.py"),
)  # fmt: skip

CLI = _of(
    "cli",
    ("watch-read", "self.read, self._is_torn = self._read_before + last + 1, False",
     "self.read, self._is_torn = self._read_before + last, False", "cli/test_watch.py"),
    ("no-is-yes", "raise typer.Exit(1) from None", "raise typer.Exit(0) from None",
     "cli/test_separate.py cli/test_main.py"),
    ("tests-on-what-it-learned", "stream.part(split, held=True, scaled_as=like)",
     "stream.part(split, held=False, scaled_as=like)", "cli/test_held_out.py"),
    ("folds-with-one-seed", "range(options.seed + 1, options.seed + options.seeds)",
     "range(options.seed, options.seed + options.seeds)", "cli/test_train.py cli/test_held_out.py"),
    ("header-in-every-part", "if number == 0:\n            writer.writerow(columns)",
     "if number >= 0:\n            writer.writerow(columns)", "cli/test_predict.py"),
)  # fmt: skip

DISTRIBUTED = _of(
    "distributed",
    ("mean-over-one-more", "return WeightDelta(features, w / len(deltas),",
     "return WeightDelta(features, w / (len(deltas) + 1),",
     "distributed/test_mix.py"),
    ("shards-start-at-zero", "source.width, source.starts[k]", "source.width, 0", "distributed/test_exact.py"),
    ("window-across-shards", "run.labels, validation, rows.leftover, not run.read_all)",
     "run.labels, validation, None, not run.read_all)", "distributed/test_exact.py"),
    ("rounds-alike", "state.passes = task.number", "state.passes = 0", "distributed/test_mix.py"),
)  # fmt: skip

EXERCISES = _of(
    "exercises",
    ("changes-are-not-seen", ' if _same(arguments, call) else Stopped(number, "changes")', "",
     "exercises/test_functions.py"),
    ("ties-are-positive", "return 1 if a > 0 else -1\n\n\ndef signed", "return 1 if a >= 0 else -1\n\n\ndef signed",
     "exercises/test_answers.py"),
    ("larger-sets-first", "return sorted(sets, key=_size)", "return sorted(sets, key=_size, reverse=True)",
     "exercises/test_functions.py"),
    ("weaker-bounds-are-right", "if weaker is not None:", "if False:", "exercises/test_answers.py"),
    ("later-steps-count", "if needed not in steps[:k]:", "if needed not in steps:", "exercises/test_answers.py"),
    ("arrays-are-not-tried", 'if stopped is not None and stopped.kind != "loops":', "if False:",
     "exercises/test_functions.py"),
    ("power-before-sign", "return _binary(self.take(), base, self.signed()) if",
     "return _binary(self.take(), base, self.atom()) if", "exercises/test_answers.py"),
    ("an-exercise-twice", ' or result["exercise"] in names:', ":", "cli/test_exercises.py"),
)  # fmt: skip
MUTANTS = [*KERNELS, *TRAINING, *THEORY, *DATA, *PERSISTENCE, *CLI, *DISTRIBUTED, *EXERCISES]


def read_sources(source: Path) -> dict[Path, str]:
    """Return the text of each source file of the package."""
    return {path: path.read_text(encoding="utf-8") for path in sorted(source.rglob("*.py"))}


def place_of(mutant: Mutant, texts: dict[Path, str]) -> Path:
    """Return the file that holds a mutant's text; an AssertionError unless it is there exactly once in all files."""
    found = {path: text.count(mutant.old) for path, text in texts.items() if mutant.old in text}
    where = ", ".join(f"{path} ({count})" for path, count in found.items()) or "no file"
    assert sum(found.values()) == 1, f"{mutant.name}: expected {mutant.old!r} once, got it in {where}."
    return next(iter(found))


def run_tests(folder: Path, arguments: list[str], workers: int, seconds: float) -> str:
    """Run tests in a copy of the checkout; return "caught", "missed" or "too long"."""
    environment = os.environ | {
        "PYTHONPATH": f"{folder / 'src'}{os.pathsep}{folder / 'tests'}",
        "NUMBA_CACHE_DIR": str(folder / "kernels"),
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-n", str(workers), *arguments]
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)  # the workers too
        process.communicate()
        return "too long"
    if process.returncode in (0, 1, 2):  # 2 is how several workers stop after the first failure
        return "caught" if process.returncode else "missed"
    raise RuntimeError(f"pytest ended with status {process.returncode}:\n{output.decode()[-3000:]}")


def try_mutant(mutant: Mutant, folder: Path, tier: str, workers: int, seconds: float) -> tuple[str, float]:
    """Put a mutant into the copy, run its tests, and take it out again; return how that ended, and after how long."""
    path = place_of(mutant, read_sources(folder / "src" / "rosenblatt"))
    text, stamp = path.read_text(encoding="utf-8"), path.stat()
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    began = time.monotonic()
    try:
        result = run_tests(folder, list(mutant.tests), workers, seconds)
        if result == "missed" and TIERS[tier] is not None:
            result = run_tests(folder, TIERS[tier], workers, seconds)
        return result, time.monotonic() - began
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # compiled kernels are known by it


def main() -> int:
    """Try the mutants that are asked for; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", metavar="NAME", help="mutants whose names begin so")
    parser.add_argument("--list", action="store_true", help="print the mutants, and run nothing")
    parser.add_argument("--tier", choices=TIERS, default="room", help="which tests to run")
    parser.add_argument("--workers", type=int, default=2, help="processes that run tests")
    parser.add_argument("--seconds", type=float, default=900.0, help="the most time for the tests of a mutant")
    given = parser.parse_args()
    chosen = [mutant for mutant in MUTANTS if mutant.name.startswith(tuple(given.only or ("",)))]
    texts = read_sources(CHECKOUT / "src" / "rosenblatt")
    for mutant in MUTANTS:
        path = place_of(mutant, texts)
        if given.list and mutant in chosen:
            print(f"{mutant.name:45} {path.relative_to(CHECKOUT / 'src' / 'rosenblatt')}")
    if given.list:
        return 0
    found: dict[str, tuple[str, float]] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        folder = Path(name, "checkout")
        shutil.copytree(CHECKOUT, folder, ignore=LEFT_OUT)
        for mutant in chosen:
            found[mutant.name] = try_mutant(mutant, folder, given.tier, given.workers, given.seconds)
            print("{:45} {:9} {:6.0f} s".format(mutant.name, *found[mutant.name]), flush=True)
    print("\nroom          mutants  caught  missed  too long")
    for room in dict.fromkeys(mutant.room for mutant in chosen):
        results = [found[mutant.name][0] for mutant in chosen if mutant.room == room]
        print(f"{room:12} {len(results):8}", *(f"{results.count(how):7}" for how in ("caught", "missed", "too long")))
    missed = [name for name, (result, _) in found.items() if result != "caught"]
    print(f"{len(found) - len(missed)} of {len(found)} were caught" + (f"; not: {', '.join(missed)}" if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
