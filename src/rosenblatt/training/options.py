"""What a run is asked to do, as plain data: estimators, the command and the lab build it, a checkpoint compares it."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from types import NoneType
from typing import Any, ClassVar, TypeAlias

import numpy as np

from rosenblatt.kernels.rules import ArowRule, MarginRule, PassiveAggressiveRule, PerceptronRule, Rule
from rosenblatt.messages import (
    ParameterError,
    Setting,
    check_boolean,
    check_choice,
    check_integer,
    check_positive,
    check_share,
    shorten,
)
from rosenblatt.storage.schema import LABEL, Codec, Place, checked, label_to_json, to_canonical_json
from rosenblatt.training.rows import ClassWeight

# Which kernel a run uses, as plain data.


KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")
"""Kernels that have a name; any function of two matrices is one, too."""
PARAMETERS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "poly": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}
"""The parameters that kernels use; those that are not listed use none."""
SCALED = tuple(name for name, parameters in PARAMETERS.items() if "gamma" in parameters)
"""Kernels that have a gamma."""
MOST_DEGREE = 1000
"""Powers of dot products beyond this would take long to be decided exactly."""
FUNCTION = "function"
"""What a kernel that the user wrote is called."""
NO_FILE = (
    'a model whose kernel is a function cannot be saved, as files hold no code: train with kernel="precomputed" on the '
    "values of the function, or keep the function in a module and pickle the model."
)
"""Why there is no file of such a kernel, and what to do."""


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; those that it does not use are as they were given.

    ======================  =====================================================================
    ``linear``              x . z
    ``poly``                (gamma x . z + coef0) ** degree
    ``rbf``                 exp(-gamma |x - z|^2)
    ``laplacian``           exp(-gamma |x - z|_1)
    ``sigmoid``             tanh(gamma x . z + coef0)
    ``precomputed``         rows are kernel values, a column for each training row
    ``function``            what ``function(X, Z)`` returns, a line for each row of X
    ======================  =====================================================================
    """

    name: str = "poly"
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    function: Callable[[Any, Any], Any] | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """The parameters that it uses."""
        return {name: getattr(self, name) for name in PARAMETERS.get(self.name, ())}

    @property
    def is_exact(self) -> bool:
        """Whether the sign of every sum of its values can be settled exactly."""
        return self.name in ("linear", "poly", "rbf", "laplacian")

    @property
    def has_space(self) -> bool:
        """Whether its values are known to be dot products in some space, so that the convergence theorem holds."""
        return self.name in ("linear", "rbf", "laplacian") or (self.name == "poly" and self.coef0 >= 0)

    @property
    def polynomial(self) -> tuple[float, float, int] | None:
        """``gamma``, ``coef0`` and ``degree`` where it is a polynomial of the dot product."""
        if self.name == "linear":
            return 1.0, 0.0, 1
        return (self.gamma, self.coef0, self.degree) if self.name == "poly" else None


def check_kernel(kernel: Any, degree: Any, gamma: Any, coef0: Any) -> None:
    """Raise a ParameterError where a kernel or a parameter of it is not valid."""
    if not callable(kernel):
        if not isinstance(kernel, str):
            raise ParameterError(
                Setting("kernel"), f" must be one of {', '.join(KERNELS)} or a function, got {shorten(kernel)}."
            )
        check_choice("kernel", kernel, KERNELS)
    check_integer("degree", degree, 0, most=MOST_DEGREE)
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    elif not _is_finite(gamma) or gamma < 0:
        raise ParameterError(Setting("gamma"), f' must be "scale", "auto" or a number from 0 on, got {shorten(gamma)}.')
    if not _is_finite(coef0):
        raise ParameterError(Setting("coef0"), f" must be a number, got {shorten(coef0)}.")


def _is_finite(value: Any) -> bool:
    """Return whether a value is a number that a float can hold."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


# The parameters of learners in files. `check` says whether their values are in range; here are their types.


_DEVICE = re.compile("[a-z]{1,20}(:[0-9]{1,4})?")
"""What a file may call a device."""


def _is_scalar(value: Any) -> bool:
    return type(value) in (bool, str, float, NoneType) or (type(value) is int and abs(value) < 2**62)


def _read_size(data: Any, place: Place) -> float:
    """Return a number that may be infinite, which JSON has no number for."""
    return math.inf if data == "inf" else _NUMBER.read(data, place)


def _write_class_weight(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return [[label_to_json(label), float(weight)] for label, weight in value.items()]


def _read_class_weight(data: Any, place: Place) -> Any:
    if data is None or data == "balanced":
        return data
    pairs: list[Any] = data if type(data) is list else [None]
    if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
        raise place.error("pairs of a label and a weight", data)
    weights = {LABEL.read(label, place): weight for label, weight in pairs}
    if len(weights) < len(pairs) or any(type(weight) is not float or weight < 0 for weight in weights.values()):
        raise place.error("one weight from 0 on for each label", data)
    return weights


def _write_kernel(value: Any) -> Any:
    if callable(value):
        raise ValueError(NO_FILE)
    return value


_SCALAR = checked("a string, a boolean, None, or a number below 2**62", _is_scalar)
_NUMBER = checked("a number, below 2**62", lambda v: type(v) in (int, float) and _is_scalar(v), float)
_PARAMETERS = {
    "random_state": checked("an integer or None", lambda v: v is None or (type(v) is int and v >= 0)),
    "n_jobs": checked("an integer or None", lambda v: v is None or (type(v) is int and 0 < abs(v) < 2**62)),
    "verbose": checked("an integer", lambda v: type(v) in (int, bool) and abs(v) < 2**62),
    "validation_fraction": checked("a number between 0 and 1", lambda v: type(v) is float),
    "class_weight": Codec(lambda value, place: _write_class_weight(value), _read_class_weight),
    "kernel": checked("a string", lambda v: type(v) is str, _write_kernel),
    "device": checked(
        'a word such as "cuda" or "cuda:1" or None',
        lambda v: v is None or (type(v) is str and _DEVICE.fullmatch(v) is not None),
    ),
    "decay": _NUMBER,
    "margin": _NUMBER,
    "r": _NUMBER,
    "C": Codec(lambda value, place: "inf" if value == math.inf else float(value), _read_size),
}
"""How parameters are written that not every scalar will do for."""


def parameters_to_plain(parameters: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return any parameters as data that JSON holds; a source of randomness becomes ``seed``."""
    out = {}
    for name, value in parameters.items():
        value = value.item() if isinstance(value, np.generic) else value
        if name == "random_state" and (isinstance(value, bool) or not isinstance(value, Integral | None)):
            value = seed
        out[name] = _PARAMETERS.get(name, _SCALAR).write(value, Place("the parameters"))
        to_canonical_json(out[name], name)
    return out


def parameters_from_plain(data: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the parameters of these names that `parameters_to_plain` wrote; a ValueError for anything else."""
    if data.keys() != set(names):
        odd = min(data.keys() ^ set(names))
        raise ValueError(f"'parameters' has {'no' if odd in names else 'an unknown'} field {shorten(odd)}.")
    return {name: _PARAMETERS.get(name, _SCALAR).read(data[name], Place(name)) for name in names}


RandomSource: TypeAlias = int | np.integer[Any] | np.random.RandomState | np.random.Generator | None
"""Where visiting orders come from; None draws a seed."""


@dataclass(frozen=True)
class RunOptions:
    """The parameters of a learner, under the names that they have in its constructor."""

    hypothesis: str = "last"
    max_iter: int = 100
    fit_intercept: bool = True
    shuffle: bool | str = True
    random_state: RandomSource = None
    max_updates: int | None = None
    warm_start: bool = False
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    class_weight: ClassWeight = None
    multi_class: str = "ovr"
    n_jobs: int | None = None
    verbose: int = 0
    decay: float = 0.0

    hypotheses: ClassVar[tuple[str, ...]] = ("last", "average", "pocket", "vote")
    """What may predict."""
    is_linear: ClassVar[bool] = True
    """Whether weights are learned, and not counts of support rows."""
    expects_no_mistakes: ClassVar[bool] = True
    """Whether the last weights are meant for data that separates."""

    @staticmethod
    def for_learner(learner: str, **changed: Any) -> RunOptions:
        """Return the options of a learner, with its defaults for those that are not given."""
        return LEARNERS[learner].options(**{**LEARNERS[learner].defaults, **changed})

    @property
    def direct(self) -> bool:
        """Whether more than two classes compete in one update."""
        return self.multi_class == "direct"

    @property
    def rule(self) -> Rule:
        """Which rows make an update, and by how much."""
        return PerceptronRule()

    def as_trained(self, state: Any) -> RunOptions:
        """Return these options with what decided the state of a run as it was then."""
        if getattr(state, "rule", self.rule) == self.rule and getattr(state, "decay", self.decay) == self.decay:
            return self
        return replace(self, decay=state.decay, **self.parameters_of(state.rule))

    def parameters_of(self, rule: Any) -> dict[str, Any]:
        """Return the parameters that this rule comes from."""
        return {}

    def check(self) -> RunOptions:
        """Return these options; a ParameterError names the first that is out of its range."""
        check_choice("hypothesis", self.hypothesis, self.hypotheses)
        check_integer("max_iter", self.max_iter, 1)
        if self.max_updates is not None:
            check_integer("max_updates", self.max_updates, 1, or_none=True)
        check_choice("shuffle", self.shuffle, (True, False, "once"))
        check_choice("multi_class", self.multi_class, ("ovr", "direct"))
        check_integer("n_iter_no_change", self.n_iter_no_change, 1)
        check_share("validation_fraction", self.validation_fraction)
        check_positive("decay", self.decay, or_zero=True)
        if float(self.decay) >= 1:
            raise ParameterError(Setting("decay"), f" must be below 1, got {shorten(self.decay)}.")
        if 0 < float(self.decay) < _LEAST_DECAY:
            raise ParameterError(
                Setting("decay"),
                f" must be 0, or at least {_LEAST_DECAY:g}, as less forgets nothing, got {shorten(self.decay)}.",
            )
        if self.decay and self.hypothesis == "vote":
            raise ParameterError(
                Setting("decay"),
                " is for averages, and votes forget nothing: use ",
                Setting("hypothesis", "average"),
                ".",
            )
        for name in ("fit_intercept", "warm_start", "early_stopping"):
            check_boolean(name, getattr(self, name))
        return self

    @property
    def needs_data(self) -> bool:
        """Whether the state to begin with depends on the data."""
        return False

    def check_shape(self, n: int, d: int) -> None:
        """Raise a ValueError where n rows of d columns cannot be learned from in this way."""

    def check_parts(self, source: str) -> None:
        """Raise a ParameterError where all rows are needed at once, of which the ``source`` has only parts."""

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
    def from_plain(data: dict[str, Any], learner: str) -> RunOptions:
        """Return the options that ``to_plain`` wrote, or raise a ValueError."""
        return RunOptions.for_learner(learner, **parameters_from_plain(data, parameter_names(learner))).check()


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

    is_linear = False

    @property
    def needs_data(self) -> bool:
        """Whether the kernel depends on the data."""
        return isinstance(self.gamma, str) and isinstance(self.kernel, str) and self.kernel in SCALED

    def check_shape(self, n: int, d: int) -> None:
        """Raise a ValueError where n rows of d columns cannot be learned from in this way."""
        if self.kernel == "precomputed" and n != d:
            raise ValueError(
                'kernel="precomputed" expects a square matrix of kernel values, one for each two training rows, got '
                f"one of shape {(n, d)}: give kernel values, or name a kernel."
            )
        if self.kernel not in ("precomputed", "linear") and self.cache_size * 1e6 < 8 * n:
            raise ParameterError(
                Setting("cache_size", self.cache_size),
                f" megabytes are too few for one row of kernel values, which takes {8 * n:,} bytes for {n:,} rows: "
                f"give at least {8 * n / 1e6:.6g}.",
            )

    def check_parts(self, source: str) -> None:
        """Raise a ParameterError for a precomputed kernel, which needs values between all rows."""
        if self.kernel == "precomputed":
            raise ParameterError(
                Setting("kernel", "precomputed"),
                f" needs values between all rows, which {source} not have: use fit, or name a kernel.",
            )

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


@dataclass(frozen=True)
class MarginOptions(RunOptions):
    """The parameters of a margin perceptron."""

    margin: float = 10.0

    hypotheses = ("last", "average")

    @property
    def rule(self) -> Rule:
        """Which rows make an update, and by how much."""
        return MarginRule(float(self.margin))

    def parameters_of(self, rule: Any) -> dict[str, Any]:
        """Return the parameters that this rule comes from."""
        return {"margin": rule.threshold}

    def check(self) -> RunOptions:
        """Return these options; a ParameterError names the first that is out of its range."""
        check_positive("margin", self.margin, or_zero=True)
        return super().check()


@dataclass(frozen=True)
class PassiveAggressiveOptions(RunOptions):
    """The parameters of a passive-aggressive learner."""

    multi_class: str = "direct"
    C: float = 1.0
    loss: str = "hinge"

    hypotheses = ("last", "average")
    expects_no_mistakes = False

    @property
    def rule(self) -> Rule:
        """Which rows make an update, and by how much."""
        try:
            most = float(self.C)
        except OverflowError:  # a huge integer
            most = math.inf
        if self.loss == "hinge":
            return PassiveAggressiveRule(1.0, most, 0.0)
        return PassiveAggressiveRule(1.0, math.inf, 0.5 / most)

    def parameters_of(self, rule: Any) -> dict[str, Any]:
        """Return the parameters that this rule comes from."""
        if rule == self.rule:
            return {}
        return {"C": 0.5 / rule.ridge, "loss": "squared_hinge"} if rule.ridge else {"C": rule.cap, "loss": "hinge"}

    def check(self) -> RunOptions:
        """Return these options; a ParameterError names the first that is out of its range."""
        check_positive("C", self.C, or_infinite=True)
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        return super().check()


@dataclass(frozen=True)
class ArowOptions(RunOptions):
    """The parameters of adaptive regularisation of weights."""

    multi_class: str = "direct"
    r: float = 10.0

    hypotheses = ("last", "average")
    expects_no_mistakes = False

    @property
    def rule(self) -> Rule:
        """Which rows make an update, and by how much."""
        return ArowRule(1.0, float(self.r))

    def parameters_of(self, rule: Any) -> dict[str, Any]:
        """Return the parameters that this rule comes from."""
        return {"r": rule.r}

    def check(self) -> RunOptions:
        """Return these options; a ParameterError names the first that is out of its range."""
        check_positive("r", self.r)
        return super().check()


@dataclass(frozen=True)
class Learner:
    """A learner that the engine trains, as the table `LEARNERS` has it."""

    module: str
    """Where its estimator is, inside the package."""
    words: str
    """What a sentence calls it."""
    options: type[RunOptions] = RunOptions
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Defaults that differ from those of its options."""
    fixed: tuple[str, ...] = ()
    """Fields of its options that are not parameters."""


_PERCEPTRON, _MARGIN = "estimators.perceptron", "estimators.margin_learners"
_NO_HYPOTHESIS = ("hypothesis",)
LEARNERS: dict[str, Learner] = {
    "Perceptron": Learner(_PERCEPTRON, "the perceptron"),
    "AveragedPerceptron": Learner(
        _PERCEPTRON,
        "the averaged perceptron",
        defaults={"hypothesis": "average", "max_iter": 10},
        fixed=_NO_HYPOTHESIS,
    ),
    "VotedPerceptron": Learner(
        _PERCEPTRON, "the voted perceptron", defaults={"hypothesis": "vote", "max_iter": 10}, fixed=_NO_HYPOTHESIS
    ),
    "KernelPerceptron": Learner(
        "estimators.kernel",
        "the kernel perceptron",
        KernelOptions,
        {"hypothesis": "average", "max_iter": 10},
        ("fit_intercept", "overrides", "decay"),
    ),
    "MarginPerceptron": Learner(_MARGIN, "the margin perceptron", MarginOptions),
    "PassiveAggressive": Learner(_MARGIN, "passive-aggressive steps", PassiveAggressiveOptions, {"max_iter": 10}),
    "AROW": Learner(_MARGIN, "AROW", ArowOptions, {"max_iter": 5}),
}
"""Every learner that the engine trains, by the name of its estimator."""
_LEAST_DECAY = 1e-30


def parameter_names(learner: str) -> list[str]:
    """Return the names of a learner's parameters, in the order in which model files have them."""
    known = LEARNERS[learner]
    return sorted({field.name for field in fields(known.options)} - set(known.fixed))


def draw_seed(random_state: RandomSource) -> int:
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
