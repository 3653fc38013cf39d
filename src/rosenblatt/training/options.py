"""What a run is asked to do, as plain data: estimators, the command and the lab build it, a checkpoint compares it."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from rosenblatt.parameters import (
    ParameterError,
    Setting,
    check_boolean,
    check_choice,
    check_integer,
    check_share,
    shorten,
)
from rosenblatt.storage.json_fields import StrictFields, label_to_json, to_canonical_json
from rosenblatt.training.kernel import NO_FILE, SCALED, check_kernel

HYPOTHESES = ("last", "average", "pocket", "vote")
LEARNERS: dict[str, dict[str, Any]] = {
    "Perceptron": {"hypothesis": "last", "max_iter": 100},
    "AveragedPerceptron": {"hypothesis": "average", "max_iter": 10},
    "VotedPerceptron": {"hypothesis": "vote", "max_iter": 10},
    "KernelPerceptron": {"hypothesis": "average", "max_iter": 10},
}
"""What each learner that the engine trains sets."""


@dataclass(frozen=True)
class RunOptions:
    """The parameters of a learner, under the names that they have in its constructor."""

    hypothesis: str = "last"
    max_iter: int = 100
    fit_intercept: bool = True
    shuffle: bool | str = True
    random_state: Any = None
    max_updates: int | None = None
    warm_start: bool = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: Mapping[Any, float] | str | None = None
    multi_class: str = "ovr"
    n_jobs: int | None = None
    verbose: int = 0

    @staticmethod
    def for_learner(learner: str, **changed: Any) -> RunOptions:
        """Return the options of a learner, with its defaults for those that are not given."""
        return OPTIONS[learner](**(LEARNERS[learner] | changed))

    @property
    def direct(self) -> bool:
        """Whether more than two classes compete in one update."""
        return self.multi_class == "direct"

    def check(self) -> RunOptions:
        """Return these options; a ParameterError names the first that is out of its range."""
        check_choice("hypothesis", self.hypothesis, HYPOTHESES)
        check_integer("max_iter", self.max_iter, 1)
        if self.max_updates is not None:
            check_integer("max_updates", self.max_updates, 1, or_none=True)
        check_choice("shuffle", self.shuffle, (True, False, "once"))
        check_choice("multi_class", self.multi_class, ("ovr", "direct"))
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_share("validation_fraction", self.validation_fraction)
        for name in ("fit_intercept", "warm_start", "early_stopping"):
            check_boolean(name, getattr(self, name))
        return self

    def check_for_stream(self, caller: str) -> None:
        """Raise a ParameterError where an option needs all rows at once, which a stream never has."""
        if self.hypothesis == "pocket":
            raise ParameterError(
                Setting("hypothesis", "pocket"),
                f" compares weights on all rows at once, which {caller} never has: use fit, or ",
                Setting("hypothesis", "average"),
                ".",
            )
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ParameterError(
                Setting("class_weight", "balanced"),
                f" needs the counts of all classes beforehand, which {caller} does not know: "
                "give the weights as a dictionary, or sample_weight.",
            )

    def check_read_once(self, checkpoint: bool) -> None:
        """Raise a ParameterError where options ask for more than one reading of blocks that can be read only once."""
        if checkpoint:
            raise ParameterError(
                "these blocks can be read only once, so a run on them cannot go on after a crash: leave out ",
                Setting("checkpoint"),
                ", or give what can be read again, such as what data.open returns.",
            )
        for name, given, needed in (("max_iter", self.max_iter, 1), ("early_stopping", self.early_stopping, False)):
            if given != needed:
                raise ParameterError(
                    "these blocks can be read only once, which ",
                    Setting(name, given),
                    " is too much for: set ",
                    Setting(name, needed),
                    ", or give what can be read again, such as a list or what data.open returns for a file on disk.",
                )

    # as plain data

    def to_plain(self, learner: str, seed: int) -> dict[str, Any]:
        """Return the parameters of a learner as data that JSON holds; a source of randomness becomes ``seed``."""
        return parameters_to_plain({name: getattr(self, name) for name in parameter_names(learner)}, seed)

    @staticmethod
    def from_plain(fields: StrictFields, learner: str) -> RunOptions:
        """Return the options that ``to_plain`` wrote, or raise a ValueError."""
        given = {name: _valid(name, fields.take(name)) for name in parameter_names(learner)}
        fields.end()
        return RunOptions.for_learner(learner, **given).check()


@dataclass(frozen=True)
class KernelOptions(RunOptions):
    """The parameters of a kernel perceptron; ``fit_intercept`` is none of them."""

    fit_intercept: bool = False
    kernel: Any = "poly"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 1.0
    cache_size: float = 1000.0
    max_support: int | None = None
    device: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Fields of `Computing` that are set otherwise; no parameter of a learner."""

    @property
    def needs_data(self) -> bool:
        """Whether the kernel depends on the data."""
        return isinstance(self.gamma, str) and isinstance(self.kernel, str) and self.kernel in SCALED

    def check(self) -> KernelOptions:
        """Return these options; a ParameterError names the first that is out of its range."""
        super().check()
        check_kernel(self.kernel, self.degree, self.gamma, self.coef0)
        if isinstance(self.cache_size, bool) or not isinstance(self.cache_size, Real) or not 0 < self.cache_size < 1e15:
            raise ParameterError(
                Setting("cache_size"), f" must be a number of megabytes above 0, got {shorten(self.cache_size)}."
            )
        if self.max_support is not None:
            check_integer("max_support", self.max_support, 1, or_none=True)
            if self.hypothesis == "pocket":
                raise ParameterError(
                    Setting("max_support"),
                    " forgets rows that the pocket may need: leave it out, or use ",
                    Setting("hypothesis", "average"),
                    ".",
                )
        if not isinstance(self.device, str | None):
            raise ParameterError(Setting("device"), f' must be a word such as "cuda" or None, got {self.device!r}.')
        return self


OPTIONS: dict[str, type[RunOptions]] = dict.fromkeys(LEARNERS, RunOptions) | {"KernelPerceptron": KernelOptions}
"""The class of each learner's options."""


def parameter_names(learner: str) -> list[str]:
    """Return the names of a learner's parameters, in the order in which model files have them."""
    names = sorted(field.name for field in fields(OPTIONS[learner]))
    fixed = {"Perceptron": (), "KernelPerceptron": ("fit_intercept", "overrides")}.get(learner, ("hypothesis",))
    return [name for name in names if name not in fixed]


def parameters_to_plain(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return any parameters as data that JSON holds; a source of randomness becomes ``seed``."""
    out = {}
    for name, value in parameters.items():
        value = value.item() if isinstance(value, np.generic) else value
        if name == "random_state" and (isinstance(value, bool) or not isinstance(value, Integral | None)):
            value = seed
        if name == "kernel" and callable(value):
            raise ValueError(NO_FILE)
        if name == "class_weight" and isinstance(value, Mapping):
            value = [[label_to_json(label), float(weight)] for label, weight in value.items()]
        to_canonical_json(value, name)
        out[name] = value
    return out


_DEVICE = re.compile("[a-z]{1,20}(:[0-9]{1,4})?")
"""What a file may call a device."""


def _valid(name: str, value: Any) -> Any:
    """Return the value of a parameter from a file; a ValueError where its type cannot be that of the parameter."""
    if name in ("random_state", "n_jobs"):
        wrong = type(value) is not int or (value < 0 if name == "random_state" else value == 0)
        if value is not None and wrong:
            raise ValueError(f"{name} must be an integer or None, got {shorten(value)}.")
    elif type(value) is int and abs(value) >= 2**62:
        raise ValueError(f"{name} must be below 2**62, got {shorten(value)}.")
    elif name == "class_weight":
        value = _class_weight(value)
    elif name == "validation_fraction" and type(value) is not float:
        raise ValueError(f"validation_fraction must be a number between 0 and 1, got {shorten(value)}.")
    elif name == "verbose" and type(value) not in (int, bool):
        raise ValueError(f"verbose must be an integer, got {shorten(value)}.")
    elif name == "device" and value is not None and not (type(value) is str and _DEVICE.fullmatch(value)):
        raise ValueError(f'device must be a word such as "cuda" or "cuda:1" or None, got {shorten(value)}.')
    return value


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


def draw_seed(random_state: Any) -> int:
    """Return the seed of the visiting orders: an integer is taken as it is, None draws one."""
    if random_state is None:
        return secrets.randbits(63)
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return check_integer("random_state", random_state, 0)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is np.random:
        random_state = np.random.mtrand._rand  # as scikit-learn takes it
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ParameterError(
        Setting("random_state"), f" must be an integer, a RandomState, a Generator or None, got {random_state!r}."
    )
