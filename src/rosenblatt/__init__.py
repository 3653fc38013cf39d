"""Perceptrons for Python, fast and exact, with proofs of their results.

The public names are imported on first use, which keeps ``import rosenblatt`` fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from rosenblatt import data, distributed, exercises, figures, lab, plots, reproductions, textbook
    from rosenblatt.circles.fitting import fit_circle
    from rosenblatt.circles.shapes import Circle, HalfSpace, NoCircle, Outside, circle_from_plane
    from rosenblatt.estimators.calibration import calibrated
    from rosenblatt.estimators.kernel import KernelPerceptron
    from rosenblatt.estimators.margin_learners import AROW, MarginPerceptron, PassiveAggressive
    from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron, VotedPerceptron
    from rosenblatt.estimators.pruning import pruned
    from rosenblatt.estimators.rescaled import RescaledPerceptron
    from rosenblatt.estimators.river import to_river
    from rosenblatt.features import Combinations, ExactScaler, SphereLift, TextHasher, n_combinations
    from rosenblatt.inspection.contributions import contributions
    from rosenblatt.inspection.explain import explain
    from rosenblatt.inspection.geometry import boundary, distance, unit_weights
    from rosenblatt.kernels.orders import visiting_order
    from rosenblatt.persistence.files import load, save
    from rosenblatt.persistence.json_export import export_json
    from rosenblatt.persistence.onnx import export_onnx
    from rosenblatt.theory import vc
    from rosenblatt.theory.certificates import Certificate, Undecided
    from rosenblatt.theory.convergence.bounds import mistake_bound
    from rosenblatt.theory.convergence.proof import Proof, proof
    from rosenblatt.theory.convergence.trace import Trace, trace
    from rosenblatt.theory.linear_programs.answers import Feasible, Infeasible, Optimum, Unbounded
    from rosenblatt.theory.linear_programs.solve import maximize, strict_feasibility
    from rosenblatt.theory.logistic.answers import Separation
    from rosenblatt.theory.logistic.search import detect_separation
    from rosenblatt.theory.min_mistakes.answers import FewestMistakes
    from rosenblatt.theory.min_mistakes.search import fewest_mistakes
    from rosenblatt.theory.separability import dataset_margin, margin, separability
    from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, Verdicts

_HOMES = {
    "circles.fitting": ("fit_circle",),
    "circles.shapes": (
        "Circle",
        "HalfSpace",
        "NoCircle",
        "Outside",
        "circle_from_plane",
    ),
    "estimators.calibration": ("calibrated",),
    "estimators.kernel": ("KernelPerceptron",),
    "estimators.margin_learners": (
        "AROW",
        "MarginPerceptron",
        "PassiveAggressive",
    ),
    "estimators.perceptron": (
        "AveragedPerceptron",
        "Perceptron",
        "VotedPerceptron",
    ),
    "estimators.pruning": ("pruned",),
    "estimators.rescaled": ("RescaledPerceptron",),
    "estimators.river": ("to_river",),
    "features": (
        "Combinations",
        "ExactScaler",
        "SphereLift",
        "TextHasher",
        "n_combinations",
    ),
    "inspection.contributions": ("contributions",),
    "inspection.explain": ("explain",),
    "inspection.geometry": (
        "boundary",
        "distance",
        "unit_weights",
    ),
    "kernels.orders": ("visiting_order",),
    "persistence.files": (
        "load",
        "save",
    ),
    "persistence.json_export": ("export_json",),
    "persistence.onnx": ("export_onnx",),
    "theory.certificates": (
        "Certificate",
        "Undecided",
    ),
    "theory.convergence.bounds": ("mistake_bound",),
    "theory.convergence.proof": (
        "Proof",
        "proof",
    ),
    "theory.convergence.trace": (
        "Trace",
        "trace",
    ),
    "theory.linear_programs.answers": (
        "Feasible",
        "Infeasible",
        "Optimum",
        "Unbounded",
    ),
    "theory.linear_programs.solve": (
        "maximize",
        "strict_feasibility",
    ),
    "theory.logistic.answers": ("Separation",),
    "theory.logistic.search": ("detect_separation",),
    "theory.min_mistakes.answers": ("FewestMistakes",),
    "theory.min_mistakes.search": ("fewest_mistakes",),
    "theory.separability": (
        "dataset_margin",
        "margin",
        "separability",
    ),
    "theory.verdicts": (
        "Inseparable",
        "MarginBracket",
        "Separable",
        "Verdicts",
    ),
}
_MODULES = {
    "data": "data",
    "distributed": "distributed",
    "exercises": "exercises",
    "figures": "figures",
    "lab": "lab",
    "plots": "plots",
    "reproductions": "reproductions",
    "textbook": "textbook",
    "vc": "theory.vc",
}
_ELSEWHERE = {
    "PassiveAggressiveClassifier": "'PassiveAggressive'",
    "SGDClassifier": "'AveragedPerceptron', 'Perceptron' or 'PassiveAggressive'",
    "separation": "'detect_separation' or 'separability'",
    "open": "'data.open'",
}
"""Names that other libraries or earlier versions use, and what to use here."""
_NAMES = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted({*_NAMES, *_MODULES})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found = import_module(f"rosenblatt.{_MODULES[name]}")
    elif name in _NAMES:
        found = getattr(import_module(f"rosenblatt.{_NAMES[name]}"), name)
    else:
        raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}{_question(name)}", name=name)
    globals()[name] = found
    return found


def _question(name: str) -> str:
    """Return the end of the error message for an unknown name: a question that suggests a name, or ""."""
    if name.startswith("_"):
        return ""
    from rosenblatt.messages import did_you_mean

    question = f"did you mean {_ELSEWHERE[name]}?" if name in _ELSEWHERE else did_you_mean(name, __all__)
    return f"; {question}" if question else ""


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
