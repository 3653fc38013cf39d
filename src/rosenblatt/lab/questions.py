"""The requests of the page, called questions. Each is answered by a function from JSON data to JSON data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rosenblatt.lab.state import LabState
from rosenblatt.lab.state_fields import FAMILIES

Question = Callable[[Any], dict[str, Any]]


def questions(start: LabState) -> Mapping[str, Question]:
    """Return the functions that answer the page's questions, by name. The page opens with the state ``start``.

    Each function imports its modules when it is called, so that the server starts quickly.

    >>> sorted(questions(LabState()))
    ['csv', 'errors', 'export', 'fewest', 'preset', 'run', 'start', 'vc']
    """
    return {
        "start": lambda body: start_answer(start),
        "run": lambda body: run_answer(LabState.from_plain(body)),
        "errors": _errors,
        "vc": _vc,
        "preset": _preset,
        "fewest": _fewest,
        "csv": _csv,
        "export": lambda body: {"html": exported(LabState.from_plain(body))},
    }


def start_state() -> LabState:
    """Return the state with which the page opens by default."""
    from rosenblatt.lab.presets import START

    return START


def start_answer(state: LabState) -> dict[str, Any]:
    """Return the data that the page needs to open: the state, a list of the presets, and the version."""
    from rosenblatt import __version__
    from rosenblatt.lab.presets import PRESETS

    presets = [{"name": name, "title": title} for name, title in PRESETS.items()]
    return {"state": state.to_plain(), "presets": presets, "version": __version__}


def run_answer(state: LabState) -> dict[str, Any]:
    """Train on a state; return the run, theory and code, or ``{"waiting": ...}`` if training is not possible."""
    from rosenblatt.lab.learning import run, run_message, waiting

    missing = waiting(state)
    if missing:
        return {"waiting": missing}
    from rosenblatt.lab.code import python_code
    from rosenblatt.lab.theory import theory_message

    made = run(state)
    return run_message(state, made) | {"theory": theory_message(state, made), "code": python_code(state, made)}


def exported(state: LabState) -> str:
    """Return an HTML page that replays the run of a state without a server."""
    from rosenblatt.lab.errors import error_message
    from rosenblatt.lab.export import export_html

    answers = {"start": start_answer(state) | {"presets": []}, "run": run_answer(state)}
    if not answers["run"]["waiting"]:
        answers["errors"] = error_message(state)
    return export_html(answers | _vc_answers(state))


def _vc_answers(state: LabState) -> dict[str, Any]:
    """Return the VC game's answer for each family of shapes, for the subset of points with label 1.

    The result is empty if there are no training points, or too many for the game.
    """
    from rosenblatt.lab.vc_game import MOST_POINTS, vc_message

    points, labels = state.coordinates(state.rows).tolist(), state.labels(state.rows)
    if not 0 < len(points) <= MOST_POINTS:
        return {}
    subset = [i for i, label in enumerate(labels.tolist()) if label > 0]
    return {f"vc {name}": vc_message({"points": points, "family": name, "subset": subset}) for name in FAMILIES}


def _errors(body: Any) -> dict[str, Any]:
    from rosenblatt.lab.errors import error_message

    return error_message(LabState.from_plain(body))


def _vc(body: Any) -> dict[str, Any]:
    from rosenblatt.lab.vc_game import vc_message

    return vc_message(body)


def _preset(body: Any) -> dict[str, Any]:
    from rosenblatt.lab.presets import preset_message

    return preset_message(body)


def _fewest(body: Any) -> dict[str, Any]:
    from rosenblatt.lab.fewest import fewest_message

    return fewest_message(LabState.from_plain(body))


def _csv(body: Any) -> dict[str, Any]:
    from rosenblatt.lab.sources import csv_message

    return csv_message(body)
