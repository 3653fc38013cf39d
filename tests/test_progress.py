"""Progress of runs and of searches, in words."""

import io

import pytest

from helpers.separable_sets import facet, noise
from rosenblatt import progress
from rosenblatt.progress import Progress
from rosenblatt.theory.search.wolfe import IntegerRows, exact_search
from rosenblatt.theory.separability import dataset_margin, separability


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Six seconds pass between any two looks at the clock."""
    seconds = iter(range(0, 10**6, 6))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))


def test_lines(clock):
    stream = io.StringIO()
    shown = Progress(1, stream=stream)
    shown.search(1200, -1.0, 0.25)
    shown.search(1201, 0.125, 0.25)
    shown.exact(66, 0.125)
    shown.close()
    assert stream.getvalue().splitlines() == [
        "step 1,200: margin at least none yet, at most 0.25, 6 s",
        "step 1,201: margin at least 0.125, at most 0.25, 12 s",
        "exact arithmetic with 66 rows: 12% of the allowed work, 18 s",
    ]


def test_one_line_on_a_terminal(clock):
    stream = Terminal()
    shown = Progress(1, stream=stream)
    shown.exact(5, 0.5)
    shown.close()
    assert stream.getvalue() == "\r\x1b[Kexact arithmetic with 5 rows: 50% of the allowed work, 6 s\r\x1b[K"


def test_lines_of_a_run(clock):
    stream = io.StringIO()
    shown = Progress(1, 10, stream)
    shown.within(0, 0.5, 3)
    shown.after(1, 1, None)
    shown.after(2, 1200, 0.25)
    shown.close("not separated")
    assert stream.getvalue().splitlines() == [
        "pass 1: 1 mistake, 12.00 s",
        "pass 2: 1,200 mistakes, validation error 0.2500, 18.00 s",
        "not separated (24.00 s)",
    ]


def test_progress_bar_on_a_terminal():
    stream = Terminal()
    progress = Progress(1, 10, stream)
    progress.drawn = 0.0
    progress.within(4, 0.5, 1234)
    progress.close("separated")
    text = stream.getvalue()
    assert "[###########.............] pass 5/10  1,234 mistakes" in text
    assert "left" in text
    assert text.endswith(")\n")
    assert max(len(part) for part in text.split("\r\x1b[K")) < 80


def test_silence(clock):
    stream = Terminal()
    shown = Progress(0, stream=stream)
    shown.search(1, 0.0, 1.0)
    shown.exact(5, 0.5)
    shown.within(0, 0.5, 3)
    shown.after(1, 1, None)
    shown.close()
    shown.close("separated")
    assert stream.getvalue() == ""


@pytest.mark.parametrize("ask", [separability, dataset_margin])
def test_the_exact_stage_talks_too(ask, clock, capsys):
    X, y = facet(5, 20)
    ask(X, y, verbose=1)
    out, err = capsys.readouterr()
    assert out == ""
    assert "\nexact arithmetic with " in err


def test_the_exact_search_says_how_far_it_is():
    X, signs = noise(40, 6)
    seen = []
    exact_search(IntegerRows(X, signs, True), [0], watch=lambda rows, share: seen.append((rows, share)))
    rows, shares = zip(*seen, strict=True)
    assert rows[0] == 1
    assert max(rows) > 3
    assert shares[0] == 0.0
    assert list(shares) == sorted(shares)
    assert 0 < shares[-1] < 1
