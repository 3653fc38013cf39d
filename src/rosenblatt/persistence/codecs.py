"""Each learner as plain data and arrays, and back with every check: what a model file says of it."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from rosenblatt.estimators.parameters import check_parameters
from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron, VotedPerceptron
from rosenblatt.estimators.rescaled import RescaledPerceptron
from rosenblatt.parameters import shorten
from rosenblatt.storage.array_fields import StrictArrays
from rosenblatt.storage.json_fields import StrictFields, label_to_json, to_canonical_json
from rosenblatt.theory.certificates import Certificate
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, Undecided, Verdicts
from rosenblatt.training.early_stopping import Best
from rosenblatt.training.scoring import kept
from rosenblatt.training.serialization import machines_from_state, machines_to_state
from rosenblatt.training.state import Machines

LEARNERS: dict[str, type] = {
    cls.__name__: cls for cls in (Perceptron, AveragedPerceptron, VotedPerceptron, RescaledPerceptron)
}
"""What a file may hold. A name in a file is looked up here and nowhere else."""
_COUNTS = ("seed_", "n_iter_", "n_updates_", "n_rescalings_")
_VERDICTS = (Separable, Inseparable, Undecided, MarginBracket)


def learned_to_plain(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return what a model has learned as fields of a header and arrays."""
    if isinstance(model, RescaledPerceptron):
        return _rescaled_to_plain(model)
    return _linear_to_plain(model)


def read_learned(model: Any, fields: StrictFields, arrays: StrictArrays) -> int:
    """Give ``model``, which has its parameters and classes, what it has learned; return the number of features."""
    if isinstance(model, RescaledPerceptron):
        return _read_rescaled(model, fields, arrays)
    check_parameters(model)
    return _read_linear(model, fields, arrays)


# the perceptron, averaged and voted


def _linear_to_plain(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    state, arrays = machines_to_state(model.machines_)
    out: dict[str, Any] = {"report": model.report_.to_plain(), "state": state, "resume": None}
    if getattr(model, "_resume", None) is not None:
        machines, best = model._resume
        out["resume"] = {"error": float(best.error), "passes_since": int(best.passes_since)}
        for part, source in (("last", machines), ("best", best.machines)):
            out["resume"][part], more = machines_to_state(source)
            arrays |= {f"{part}.{name}": array for name, array in more.items() if not _same(array, arrays.get(name))}
    return out, arrays


def _same(one: np.ndarray, other: np.ndarray | None) -> bool:
    """Whether two arrays are the same bits, so that one of them need not be stored."""
    return (
        other is not None and one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()
    )


def _read_linear(model: Any, fields: StrictFields, arrays: StrictArrays) -> int:
    n_classes, labels = len(model.classes_), model.classes_.tolist()
    machines = machines_from_state(fields.take("state"), arrays, n_classes)
    model.machines_, model._resume = machines, None
    everyone = [machines]
    resume = fields.take("resume")
    if resume is not None:
        more = StrictFields(resume, "the header: 'resume'")
        last, best = (
            machines_from_state(more.take(part), arrays.under(part + "."), n_classes) for part in ("last", "best")
        )
        model._resume = (last, Best(best, more.number("error", 0.0, 1.0), more.whole("passes_since")))
        more.end()
        everyone += [last, best]
    for each in everyone:
        if _kind(each) != _kind(machines):
            raise ValueError("the state of early stopping is that of another model.")
        if each.lead_label is not None and each.lead_label not in labels:
            raise ValueError("the first label of the stream is none of the classes.")
    if model.hypothesis in ("pocket", "vote"):
        kept(machines, model.hypothesis)
    if not _same_report(fields.take("report"), model.report_.to_plain()):
        raise ValueError("its report is not that of its counters.")
    return machines.w.shape[1]


def _kind(machines: Machines) -> tuple[Any, ...]:
    """Return what machines of one model have in common."""
    return (
        machines.w.shape,
        machines.direct,
        machines.fit_intercept,
        machines.seed,
        machines.pocket is None,
        machines.ballots is None,
    )


def _same_report(told: Any, true: Any) -> bool:
    """Whether two reports have the same fields and counts; another version may put a margin a little otherwise."""
    if type(true) is float or true in ("inf", "-inf"):
        return type(told) is float or told in ("inf", "-inf")
    if type(told) is not type(true):
        return False
    if type(true) is dict:
        return told.keys() == true.keys() and all(_same_report(told[name], true[name]) for name in true)
    if type(true) is list:
        return len(told) == len(true) and all(map(_same_report, told, true))
    return told == true


# the rescaled perceptron


def _rescaled_to_plain(model: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    out = {name: int(getattr(model, name)) for name in _COUNTS}
    out |= {"converged": bool(model.converged_), "verdict": model.verdict_.to_json()}
    return out, {"coef": model.coef_, "intercept": model.intercept_}


def _read_rescaled(model: Any, fields: StrictFields, arrays: StrictArrays) -> int:
    labels = model.classes_.tolist()
    if len(labels) < 2:
        raise ValueError("there are fewer than two classes.")
    machines = len(labels) if len(labels) > 2 else 1
    model.coef_ = arrays.take("coef", "f8", (machines, None))
    model.intercept_ = arrays.take("intercept", "f8", (machines,))
    if model.coef_.shape[1] == 0 or not (np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()):
        raise ValueError("some weights are not finite, or there are none.")
    if not model.fit_intercept and model.intercept_.any():
        raise ValueError("there is a bias where none was to be learned.")
    model.converged_ = fields.flag("converged")
    for name in _COUNTS:
        setattr(model, name, fields.whole(name, most=2**4096 if name == "seed_" else 2**62))
    text = fields.word("verdict")
    model.verdict_ = Verdicts.from_json(text) if machines > 1 else Certificate.from_json(text)
    verdicts = model.verdict_ if machines > 1 else {labels[1]: model.verdict_}
    if list(verdicts) != (labels if machines > 1 else labels[1:]) or any(
        not isinstance(verdict, _VERDICTS) or verdict.positive != label for label, verdict in verdicts.items()
    ):
        raise ValueError("its verdict is about other classes.")
    return model.coef_.shape[1]


# parameters


def parameters_to_plain(model: Any) -> dict[str, Any]:
    """Return the parameters as plain data; a source of randomness becomes the seed in use."""
    out = {}
    for name, value in model.get_params(deep=False).items():
        value = value.item() if isinstance(value, np.generic) else value
        if name == "random_state" and (isinstance(value, bool) or not isinstance(value, Integral | None)):
            value = model.seed_
        if name == "class_weight" and isinstance(value, Mapping):
            value = [[label_to_json(label), float(weight)] for label, weight in value.items()]
        to_canonical_json(value, name)
        out[name] = value
    return out


def parameters_from_plain(fields: StrictFields, learner: type) -> dict[str, Any]:
    """Return the parameters that ``parameters_to_plain`` wrote, or raise a ValueError."""
    out: dict[str, Any] = {}
    for name, default in learner().get_params(deep=False).items():
        value = fields.take(name)
        if name in ("random_state", "n_jobs"):
            wrong = type(value) is not int or (value < 0 if name == "random_state" else value == 0)
            if value is not None and wrong:
                raise ValueError(f"{name} must be a whole number or None, got {shorten(value)}.")
        elif type(value) is int and abs(value) >= 2**62:
            raise ValueError(f"{name} must be below 2**62, got {shorten(value)}.")
        elif name == "class_weight":
            value = _class_weight(value)
        elif name == "validation_fraction" and type(value) is not float:
            raise ValueError(f"validation_fraction must be a number between 0 and 1, got {shorten(value)}.")
        elif name == "verbose" and type(value) not in (int, bool):
            raise ValueError(f"verbose must be a whole number, got {shorten(value)}.")
        elif learner is RescaledPerceptron and type(value) is not type(default):
            raise ValueError(f"{name} must be of type {type(default).__name__}, got {shorten(value)}.")
        out[name] = value
    fields.end()
    return out


def _class_weight(value: Any) -> Any:
    if value is None or value == "balanced":
        return value
    pairs: list[Any] = value if type(value) is list else [None]
    if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
        raise ValueError(f"class_weight must be pairs of a label and a weight, got {shorten(value)}.")
    weights = {label_to_json(label): weight for label, weight in pairs}
    if len(weights) < len(pairs) or any(type(weight) is not float or weight < 0 for weight in weights.values()):
        raise ValueError(f"class_weight must be one weight from 0 on for each label, got {shorten(value)}.")
    return weights
