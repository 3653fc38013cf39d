"""The options of ``--learner kernel``: what they may be, and what is told of the kernel afterwards."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from rosenblatt.messages import ParameterError, Setting, check_choice

if TYPE_CHECKING:
    from rosenblatt.training.model_file import TrainedModel
    from rosenblatt.training.options import RunOptions

KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid")
"""Kernels of rows in files; a matrix of kernel values is no such."""


@dataclass(frozen=True)
class KernelChoice:
    """What the command line says of the kernel perceptron; None where it says nothing."""

    kernel: str | None = None
    degree: int | None = None
    gamma: str | None = None
    coef0: float | None = None
    cache_size: float | None = None
    max_support: int | None = None
    device: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by the names of the parameters."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def parameters(self, learner: str) -> dict[str, Any]:
        """Return the parameters for a learner; a ParameterError where an option is not for it or not valid.

        >>> KernelChoice(kernel="rbf", gamma="0.5").parameters("kernel")
        {'kernel': 'rbf', 'gamma': 0.5}
        """
        given = self.given
        if learner != "kernel":
            for name in given:
                raise ParameterError(Setting(name), f" is for --learner kernel, and this is {learner}: leave it out.")
            return given
        from rosenblatt.training.options import PARAMETERS

        kernel = given.get("kernel", "poly")
        check_choice("kernel", kernel, KERNELS)
        for name in ("degree", "gamma", "coef0"):
            if name in given and name not in PARAMETERS[kernel]:
                users = [other for other in KERNELS if name in PARAMETERS[other]]
                raise ParameterError(
                    Setting(name), " is no parameter of ", Setting("kernel", kernel), f", but of {', '.join(users)}."
                )
        if "gamma" in given:
            given["gamma"] = _gamma(given["gamma"])
        if "device" in given:
            from rosenblatt.training.dual.kernel_values import open_library

            open_library(given["device"])  # an error is better now than after files have been read
        return given


def _gamma(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        if text in ("scale", "auto"):
            return text
        raise ParameterError(Setting("gamma"), f" must be scale, auto or a number from 0 on, got {text!r}.") from None


def needs_data(options: RunOptions) -> bool:
    """Return whether the kernel depends on all rows, so that they are read before the first pass."""
    return bool(getattr(options, "needs_data", False))


def check_read_once(options: RunOptions) -> None:
    """Raise a ParameterError where the kernel depends on rows that can be read only once."""
    if needs_data(options):
        gamma = getattr(options, "gamma")  # noqa: B009
        raise ParameterError(
            Setting("gamma", gamma),
            " depends on all rows, and what can be read only once, such as standard input, is learned from before they "
            "are known: give a number, such as ",
            Setting("gamma", 0.5),
            ".",
        )


def online_options(model: TrainedModel, device: str | None) -> RunOptions:
    """Return the options with which a model goes on learning row by row, here, from the kernel that it has."""
    from rosenblatt.training.options import KernelOptions

    if not isinstance(model.options, KernelOptions):
        KernelChoice(device=device).parameters(model.learner)
        return model.options
    KernelChoice(device=device).parameters("kernel")
    return replace(model.options, gamma=model.state.kernel.gamma, device=device)


def check_bounded(options: RunOptions) -> None:
    """Raise a ParameterError where the theorem has no bound on the updates of such a run."""
    from rosenblatt.kernels.rules import MarginRule, PerceptronRule
    from rosenblatt.training.options import Kernel, KernelOptions

    if not isinstance(options.rule, PerceptronRule | MarginRule):
        raise ParameterError(
            "--margin is for learners whose updates have a bound, and steps of other sizes than 1 have none: leave it "
            "out, or use --learner perceptron."
        )
    if not isinstance(options, KernelOptions):
        return
    if options.max_support is not None:
        raise ParameterError(
            "--margin is for runs that forget nothing, which have a bound, and ",
            Setting("max_support"),
            " forgets rows: leave out one of the two.",
        )
    if not Kernel(options.kernel, coef0=options.coef0).has_space:
        raise ParameterError(
            "--margin is for kernels that are dot products in some space, and ",
            Setting("kernel", options.kernel),
            " with this ",
            Setting("coef0"),
            " is not known to be one: leave it out.",
        )


def kernel_space(model: TrainedModel) -> str:
    """Return where a hyperplane of the model is, for a sentence."""
    return " in the kernel's space" if kernel_facts(model) else ""


def kernel_facts(model: TrainedModel) -> dict[str, Any]:
    """Return the kernel, the parameters that it uses, and the number of support rows; nothing for other learners."""
    from rosenblatt.training.options import KernelOptions

    if not isinstance(model.options, KernelOptions):
        return {}
    kernel = model.state.kernel
    return {
        "kernel": {"name": kernel.name, **kernel.parameters},
        "hypothesis": model.options.hypothesis,
        "support_rows": len(model.state.supports),
    }


def kernel_line(facts: dict[str, Any]) -> str:
    """Return these facts as a line to read.

    >>> kernel_line({"kernel": {"name": "rbf", "gamma": 0.5}, "support_rows": 1200})
    'Kernel: rbf with gamma 0.5; 1,200 support rows.'
    """
    parameters = dict(facts["kernel"])
    name, count = parameters.pop("name"), facts["support_rows"]
    used = ", ".join(f"{key} {value:.4g}" for key, value in parameters.items())
    return f"Kernel: {name}{' with ' if used else ''}{used}; {count:,} support row{'' if count == 1 else 's'}."
