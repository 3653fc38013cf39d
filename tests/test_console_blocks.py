"""Every console block of README and docs is run, in order, and prints what the page shows.

Blocks of a page run in one empty folder, which has the files of `helpers.page_files`. Python blocks are doctests,
which pytest runs by itself (``--doctest-glob``); here it is checked that no other code is on a page.
"""

import re
from pathlib import Path

import pytest

from helpers.console import agrees, blocks, commands, run
from helpers.page_files import REAL, has_real_file, made_files, real_file

ROOT = Path(__file__).parents[1]
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")))}
BLOCKS = {name: blocks(path.read_text()) for name, path in PAGES.items()}
CONSOLE = {
    name: [one for block in found if block.language == "console" for one in commands(block)]
    for name, found in BLOCKS.items()
}
OPENS, HOURS = "opens a browser", "learns MNIST for an hour, from files that are not here"
SETS_UP = "sets up an environment from the network"
SERVES = "starts a server or asks one; tests/serving does so"
NOT_RUN = {
    ("README.md", "make demo"): SETS_UP,
    ("README.md", "make test"): SETS_UP,
    ("docs/command.md", "rosenblatt reproduce freund-schapire-1999 --data mnist --degrees 2,3"): HOURS,
    ("docs/lab.md", "pip install '.[cli]'"): SETS_UP,
    ("docs/index.md", "pip install '.[all]'"): SETS_UP,
    ("docs/start.md", "pip install '.[all]'"): SETS_UP,
    ("docs/lab.md", "rosenblatt lab"): OPENS,
    ("docs/reproduction.md", "rosenblatt reproduce freund-schapire-1999 --degrees 1,2,3,4 --epochs 10 --data mnist"): (
        HOURS
    ),
    (
        "docs/reproduction.md",
        "rosenblatt reproduce freund-schapire-1999 --degrees 1,2,3,4,5,6 --data mnist --device cuda",
    ): HOURS,
    ("docs/command.md", "rosenblatt serve spam.model"): SERVES,
    **{("docs/serve.md", one.words): SERVES for one in CONSOLE["docs/serve.md"]},
}
"""The commands that no test can run, each with the reason."""
SKIPPED = {
    ("docs/kernels.md", '>>> figure.savefig("kernels.png")'): "would write a file beside the tests",
    ("docs/lab.md", ">>> lab.show(X, y)"): "needs a notebook",
}
"""Lines of Python that carry doctest's ``+SKIP``, each with the reason."""
ANSWERS_NO = {
    ("docs/command.md", "rosenblatt check mushrooms.cert a9a.bz2"),
    ("docs/command.md", "rosenblatt exercises grade ada.json broken.json"),
}
"""The commands that end with exit code 1, as the answer is no or a file could not be read; all others must succeed."""
OUTPUT_ONLY = {"text", "bibtex", "dockerfile", "ini"}
"""Languages of blocks that nothing would run: what a program printed, what to cite, configuration of other programs."""
PROGRAMS = {("docs/serve.md", "import json"): SERVES, ("docs/serve.md", "import numpy as np"): SERVES}
"""The Python blocks, by their first line, that are no doctests, each with the reason."""
DIRECTIVE = re.compile(r"\{(?!code|sourcecode|literalinclude|doctest|testcode|ipython)")
"""A block of the documentation's own, such as a list of pages; not those that show code."""
FILE = re.compile(r"(?<![\w/.-])[\w.-]+\.[a-z]\w*(?![\w/])")


@pytest.mark.slow
@pytest.mark.parametrize("page", [name for name, found in CONSOLE.items() if found])
def test_every_command_prints_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in made_files().items():
        (tmp_path / name).write_text(text)
    missing, not_run = _add_real_files(tmp_path, page), []
    for one in CONSOLE[page]:
        if (page, one.words) in NOT_RUN:
            continue
        files = set(FILE.findall(one.words))
        if files & missing:
            missing |= {name for name in files if not (tmp_path / name).exists()}
            not_run.append(one.words)
            continue
        code, printed = run(one.words)
        where = f"{page}:{one.line}: {one.words}"
        assert agrees(one.shown, printed), f"{where}\nprints\n{printed}\nand not\n" + "\n".join(one.shown)
        assert code == ((page, one.words) in ANSWERS_NO), f"{where} ended with exit code {code}:\n{printed}"
    if not_run:
        pytest.skip(
            f"{page}: all others agree, but {len(not_run)} commands were not run, as ROSENBLATT_DATA names no folder "
            f"with {', '.join(sorted(missing & REAL.keys()))}, or SciPy is not that of constraints.txt"
        )


def _add_real_files(folder, page):
    """Put the real files that a page speaks of into the folder; return the names of those that are not to be had."""
    spoken_of = REAL.keys() & {name for one in CONSOLE[page] for name in FILE.findall(one.words)}
    there = set(filter(has_real_file, spoken_of))
    for name in there:
        (folder / name).write_bytes(real_file(name))
    return spoken_of - there


@pytest.mark.parametrize("listed", [*NOT_RUN, *sorted(ANSWERS_NO)], ids=lambda pair: pair[1])
def test_every_command_listed_here_is_still_on_its_page(listed):
    page, words = listed
    assert words in [one.words for one in CONSOLE[page]]


@pytest.mark.parametrize("listed", SKIPPED, ids=lambda pair: pair[1])
def test_every_skipped_line_listed_here_is_still_on_its_page(listed):
    page, line = listed
    assert f"{line}  # doctest: +SKIP" in PAGES[page].read_text().splitlines()


@pytest.mark.parametrize("page", PAGES)
def test_no_code_on_a_page_escapes_the_tests(page):
    for block in BLOCKS[page]:
        where = f"{page}:{block.line}: a block of {block.language or 'no language'}"
        if (page, "".join(block.lines[:1])) in PROGRAMS:
            continue
        if block.language == "python":
            assert block.lines[0].startswith(">>> "), f"{where} must begin with >>>, so that it is run as a doctest"
            assert not block.lines[-1].strip(), f"{where} must end with an empty line, which ends the last output"
            for line in block.lines:
                assert "+SKIP" not in line or (page, line.split("  #")[0]) in SKIPPED, f"{where} skips {line}"
        elif block.language in OUTPUT_ONLY:
            code = [line for line in block.lines if line.startswith(("$ ", ">>> "))]
            assert not code, f"{where} shows what nothing runs: {code[0]}"
        elif not DIRECTIVE.match(block.language):
            assert block.language == "console", f"{where} is not run: let it be console, python with >>>, or text"


def test_every_fence_of_a_page_is_part_of_a_block():
    for page, path in PAGES.items():
        fences = re.findall(r"^ *(?:```|~~~)", path.read_text(), re.MULTILINE)
        assert len(fences) == 2 * len(BLOCKS[page]), f"{page} has a fence that does not close"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (["Accuracy 88.89%; 0.7 s."], "Accuracy 88.89%; 12.31 s.\n\n", True),
        (["Accuracy 88.89%; 0.7 s."], "Accuracy 88.88%; 0.7 s.\n", False),
        (["a", "...", "d"], "a\nb\nc\nd\n", True),
        (["a", "..."], "a\n", True),
        (["a", "...", "d"], "a\nb\n", False),
        (["a"], "a\nb\n", False),
        ([], "", True),
        ([], "a\n", False),
        (["a  b"], "a b\n", False),
        (["-10.64345893432975"], "-10.643458934329752\n", True),
        (["-10.64345893432975"], "-10.64345893439\n", False),
        (["0.0001234567"], "0.0001234568\n", False),
    ],
)
def test_only_seconds_and_what_is_left_out_may_differ(shown, printed, same):
    assert agrees(shown, printed) is same
