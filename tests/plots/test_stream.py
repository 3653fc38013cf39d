"""The running errors of a stream are those that `watch --json` printed."""

import json

import numpy as np
import pytest

from helpers.commands import ran
from helpers.pictures import axes
from rosenblatt.plots import plot_stream


def test_there_is_a_line_for_each_learner_with_the_errors_that_watch_printed(tmp_path):
    rows = "".join(f"{i * i % 2} 1:{i % 5} 2:{i % 3}\n" for i in range(300))
    results, expected = {}, []
    for learner in ("perceptron", "pa"):
        text = ran("watch", "-l", learner, "--json", "--every", "50", "--window", "60", input=rows).stdout
        found = [json.loads(line) for line in text.splitlines()]
        expected.append([[line["rows"], 100 * line["recent_rate"]] for line in found])
        results[f"${learner}"] = text.splitlines()
    (tmp_path / "pa.jsonl").write_text("\n".join(results["$pa"]) + "\n\n")
    ax = plot_stream(results | {"$pa": tmp_path / "pa.jsonl"}, axes())
    assert [line.get_label() for line in ax.get_lines()] == [r"\$perceptron", r"\$pa"]
    np.testing.assert_array_equal([line.get_xydata() for line in ax.get_lines()], expected)
    ax.figure.draw_without_rendering()


def test_other_lines_are_refused():
    for line in ("no JSON", "[1]", '{"rows": 3}'):
        with pytest.raises(ValueError, match="expected the lines of results that watch prints as JSON"):
            plot_stream({"pa": [line]})
