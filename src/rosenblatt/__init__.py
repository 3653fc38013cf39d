"""The perceptron for Python: exact, fast, and it hands back proofs.

Everything public is named here, and is imported when it is first used, so that ``import rosenblatt`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rosenblatt.version import __version__

if TYPE_CHECKING:
    from rosenblatt import data, distributed, figures, plots, reproductions, textbook
    from rosenblatt.circles.fitting import fit_circle
    from rosenblatt.circles.shapes import Circle, HalfSpace, NoCircle, Outside, circle_from_plane
    from rosenblatt.estimators.family import AROW, MarginPerceptron, PassiveAggressive
    from rosenblatt.estimators.kernel import KernelPerceptron
    from rosenblatt.estimators.perceptron import AveragedPerceptron, Perceptron, VotedPerceptron
    from rosenblatt.estimators.rescaled import RescaledPerceptron
    from rosenblatt.features.combinations import Combinations, n_combinations
    from rosenblatt.features.lifts import SphereLift
    from rosenblatt.features.scaling import ExactScaler
    from rosenblatt.inspection.contributions import contributions
    from rosenblatt.inspection.explain import explain
    from rosenblatt.inspection.geometry import boundary, distance, unit_weights
    from rosenblatt.kernels.orders import visiting_order
    from rosenblatt.persistence.export import export_onnx
    from rosenblatt.persistence.files import load, save
    from rosenblatt.persistence.json_export import export_json
    from rosenblatt.theory import vc
    from rosenblatt.theory.certificates import Certificate
    from rosenblatt.theory.convergence.bounds import mistake_bound
    from rosenblatt.theory.convergence.proof import Proof, proof
    from rosenblatt.theory.convergence.trace import Trace, trace
    from rosenblatt.theory.margins import dataset_margin, margin
    from rosenblatt.theory.mistakes.answers import FewestMistakes
    from rosenblatt.theory.mistakes.fewest import fewest_mistakes
    from rosenblatt.theory.programs.feasibility import maximize, strict_feasibility
    from rosenblatt.theory.programs.feasibility_answers import Feasible, Infeasible, Unsettled
    from rosenblatt.theory.programs.optimum_answers import Optimum, Unbounded
    from rosenblatt.theory.separability import separability
    from rosenblatt.theory.separation.answers import Separation
    from rosenblatt.theory.separation.deciding import separation
    from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, Undecided, Verdicts

_HOMES = {
    "features.combinations": ("Combinations", "n_combinations"),
    "features.lifts": ("SphereLift",),
    "features.scaling": ("ExactScaler",),
    "kernels.orders": ("visiting_order",),
    "circles.fitting": ("fit_circle",),
    "inspection.contributions": ("contributions",),
    "inspection.explain": ("explain",),
    "persistence.export": ("export_onnx",),
    "inspection.geometry": ("boundary", "distance", "unit_weights"),
    "estimators.family": ("AROW", "MarginPerceptron", "PassiveAggressive"),
    "estimators.kernel": ("KernelPerceptron",),
    "estimators.perceptron": ("AveragedPerceptron", "Perceptron", "VotedPerceptron"),
    "estimators.rescaled": ("RescaledPerceptron",),
    "persistence.files": ("load", "save"),
    "persistence.json_export": ("export_json",),
    "circles.shapes": ("Circle", "HalfSpace", "NoCircle", "Outside", "circle_from_plane"),
    "theory.certificates": ("Certificate",),
    "theory.convergence.bounds": ("mistake_bound",),
    "theory.convergence.proof": ("Proof", "proof"),
    "theory.convergence.trace": ("Trace", "trace"),
    "theory.margins": ("dataset_margin", "margin"),
    "theory.mistakes.answers": ("FewestMistakes",),
    "theory.mistakes.fewest": ("fewest_mistakes",),
    "theory.programs.feasibility": ("maximize", "strict_feasibility"),
    "theory.programs.optimum_answers": ("Optimum", "Unbounded"),
    "theory.programs.feasibility_answers": ("Feasible", "Infeasible", "Unsettled"),
    "theory.separability": ("separability",),
    "theory.separation.answers": ("Separation",),
    "theory.separation.deciding": ("separation",),
    "theory.verdicts": ("Inseparable", "MarginBracket", "Separable", "Undecided", "Verdicts"),
}
_MODULES = {
    "data": "data",
    "distributed": "distributed",
    "figures": "figures",
    "plots": "plots",
    "reproductions": "reproductions",
    "textbook": "textbook",
    "vc": "theory.vc",
}
_NAMES = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted({*_NAMES, *_MODULES})


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found = import_module(f"rosenblatt.{_MODULES[name]}")
    elif name in _NAMES:
        found = getattr(import_module(f"rosenblatt.{_NAMES[name]}"), name)
    else:
        raise AttributeError(f"module 'rosenblatt' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, "__version__"})
