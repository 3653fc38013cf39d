import io
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.commands import THREE, command, written
from rosenblatt.cli import output as bars
from rosenblatt.cli.output import ProgressBar


class Terminal(io.StringIO):
    def isatty(self):
        return True


def _terminal(monkeypatch):
    """Set up a terminal eighty columns wide, and runs that are long from the start."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(bars, "_BAR_DELAY", -1.0)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    return screen


def _frames(screen):
    lines = re.split(r"[\r\n]", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue()))
    return [line.rstrip() for line in lines if line.strip()]


def test_it_tells_pass_rows_speed_and_mistakes(monkeypatch, tmp_path):
    terminal = _terminal(monkeypatch)
    path = written(tmp_path, "rows.svm", "x" * 3_000_000)
    with ProgressBar("pass", [str(path)], passes=4) as bar:
        bar._pass_start -= 2.0  # the pass began two seconds ago
        bar.set_rows(0.5, 1200)
        bar.set_mistakes(17)
        bar._progress.refresh()
        words = bar.text
    assert re.fullmatch(r"1,200 rows  1 MB/s  17 mistakes", words)
    assert any("pass 1/4" in frame and "12%" in frame and "17 mistakes" in frame for frame in _frames(terminal))
    assert max(map(len, _frames(terminal))) <= 80


def test_a_pass_that_ends_starts_the_next(monkeypatch, tmp_path):
    terminal = _terminal(monkeypatch)
    path = written(tmp_path, "rows.svm", "x")
    with ProgressBar("pass", [str(path)], passes=2) as bar:
        bar.set_rows(1.0, 7)
        bar.end_pass(1, 3)
        bar._progress.refresh()
        bar.end_pass(2, 1)
        bar._progress.refresh()
    assert any("pass 2/2" in frame and "50%" in frame and "3 mistakes" in frame for frame in _frames(terminal))
    assert "100%" in _frames(terminal)[-1]
    assert "1 mistake " in _frames(terminal)[-1]
    assert "3/2" not in terminal.getvalue()


def test_what_has_no_size_has_no_share(monkeypatch):
    terminal = _terminal(monkeypatch)
    with ProgressBar("pass", ["-"]) as bar:
        bar.set_rows(0.0, 5)
        bar._progress.refresh()
    assert "5 rows" in _frames(terminal)[-1]
    assert "%" not in terminal.getvalue()


def test_nothing_is_drawn_when_piped_or_soon_over(monkeypatch, capsys):
    monkeypatch.setattr(bars, "_BAR_DELAY", -1.0)
    with ProgressBar("pass", ["-"]) as bar:
        stream = type("Stream", (), {"share_read": 0.5, "__iter__": lambda self: iter([[1, 2], [3]])})()
        assert list(bar.track(stream)) == [[1, 2], [3]]
    assert bar.rows == 3
    assert capsys.readouterr().err == ""
    terminal = _terminal(monkeypatch)
    monkeypatch.setattr(bars, "_BAR_DELAY", 60.0)
    with ProgressBar("pass", ["-"]) as bar:
        bar.set_rows(0.5, 5)
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("words", [["train", "{data}", "-p", "2"], ["test", "{model}", "{data}"]])
def test_live_mistakes_reach_the_bar(tmp_path, monkeypatch, words):
    path = written(tmp_path, "three.svm", THREE)
    assert command("train", path, "-o", tmp_path / "m").exit_code == 0
    told = []
    monkeypatch.setattr(ProgressBar, "_draw", lambda bar: told.append((bar.done, bar.rows, bar.mistakes)))
    names = {"{data}": str(path), "{model}": str(tmp_path / "m")}
    assert command(*[names.get(word, word) for word in words]).exit_code == 0
    assert told[0][:2] == (0, 12)
    if words[0] == "train":
        first = [mistakes for done, _, mistakes in told if done == 0]
        assert first[-1] > 0  # within the first pass, not only after it


def test_it_moves_within_a_batch_and_begins_in_the_pass_of_a_resumed_run(monkeypatch):
    _terminal(monkeypatch)
    current = SimpleNamespace(passes_done=2, active=[0], row=0)
    counters, source = {"mistakes": np.array([5])}, SimpleNamespace(share=lambda batch, visited: batch.read)
    run = SimpleNamespace(current=current, source=source, state=SimpleNamespace(counters=counters, passes=3))
    half, rest = (SimpleNamespace(rows=SimpleNamespace(n=100), first=k * 100, read=(k + 1) / 2) for k in (0, 1))
    bar = ProgressBar("pass", passes=4)
    observer, shown = bar.observer(), []
    observer.on_start(run)
    for batch in (half, rest):
        for visited in (50, 100):
            observer.on_slice(run, batch, visited)
            shown.append((bar.done, bar.share, bar.rows, bar.mistakes))
        current.row += 100
        observer.on_batch(run, batch)
        assert (bar.share, bar.rows) == (batch.read, current.row)
    assert shown == [(2, 0.25, 50, 5), (2, 0.5, 100, 5), (2, 0.75, 150, 5), (2, 1.0, 200, 5)]
    observer.on_pass(run, [0])
    observer.on_slice(run, half, 50)
    assert (bar.done, bar.share) == (3, 0.25)
    bar.__exit__()
