"""The options of a training run, the named kernels, and `LEARNERS`, the table of learners.

Estimators, the command line and the lab create `RunOptions`; model files and checkpoints store them as plain data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from rosenblatt.kernels.orders import mix
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
from rosenblatt.splits import Split
from rosenblatt.storage.schema import LABEL, Codec, Place, checked, label_to_json, to_canonical_json
from rosenblatt.training.rows import ClassWeight, Entries, Matrix

if TYPE_CHECKING:
    from rosenblatt.training.state import RunState

# The kernel of a run and its parameters.


KERNELS = ("linear", "poly", "rbf", "laplacian", "sigmoid", "precomputed")
"""The named kernels. A function of two matrices may be used as a kernel too."""
PARAMETERS: dict[str, tuple[str, ...]] = {
    "linear": (),
    "poly": ("degree", "gamma", "coef0"),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
}
"""The names of the parameters that each kernel uses. Kernels that are not listed have no parameters."""
SCALED = tuple(name for name, parameters in PARAMETERS.items() if "gamma" in parameters)
"""The kernels that have a ``gamma``."""
MAX_DEGREE = 1000
"""The largest degree of a polynomial kernel. With a higher degree, computing exact signs would take too long."""
FUNCTION = "function"
"""The name in `Kernel` for a kernel that the user gives as a Python function."""
NOT_SAVABLE = (
    'a model whose kernel is a function cannot be saved, as files hold no code: train with kernel="precomputed" on the '
    "values of the function, or keep the function in a module and pickle the model."
)
"""The error message for saving a model whose kernel is a function."""


@dataclass(frozen=True)
class Kernel:
    """A kernel K(x, z) with its parameters. Parameters that the kernel does not use are stored, but have no effect.

    ======================  =====================================================================
    ``linear``              x . z
    ``poly``                (gamma x . z + coef0) ** degree
    ``rbf``                 exp(-gamma |x - z|^2)
    ``laplacian``           exp(-gamma |x - z|_1)
    ``sigmoid``             tanh(gamma x . z + coef0)
    ``precomputed``         each row holds its kernel values with the training rows, one per column
    ``function``            ``function(X, Z)`` returns K(x, z) for all rows x of X and z of Z
    ======================  =====================================================================
    """

    name: str = "poly"
    degree: int = 3
    gamma: float = 1.0
    coef0: float = 1.0
    function: Callable[[Matrix, Matrix], Matrix] | None = None

    @property
    def parameters(self) -> dict[str, float]:
        """The names and values of the parameters that this kernel uses."""
        return {name: getattr(self, name) for name in PARAMETERS.get(self.name, ())}

    @property
    def is_exact(self) -> bool:
        """Whether the sign of every sum of kernel values can be decided exactly."""
        return self.name in ("linear", "poly", "rbf", "laplacian")

    @property
    def is_positive_definite(self) -> bool:
        """Whether the kernel is known to be positive definite, that is, a dot product in some space.

        The convergence theorem holds only for positive definite kernels. ``poly`` is positive definite for
        ``coef0 >= 0``. ``sigmoid`` in general is not positive definite. Nothing is known about precomputed values and
        functions.
        """
        return self.name in ("linear", "rbf", "laplacian") or (self.name == "poly" and self.coef0 >= 0)

    @property
    def polynomial(self) -> tuple[float, float, int] | None:
        """``(gamma, coef0, degree)`` if the kernel is a polynomial of the dot product, or None if it is not."""
        if self.name == "linear":
            return 1.0, 0.0, 1
        return (self.gamma, self.coef0, self.degree) if self.name == "poly" else None


def check_kernel(kernel: object, degree: object, gamma: object, coef0: object) -> None:
    """Raise a ParameterError if a kernel or one of its parameters is not valid."""
    if not callable(kernel):
        if not isinstance(kernel, str):
            raise ParameterError(
                "{kernel} must be one of {names} or a function, got {got}.",
                names=", ".join(KERNELS),
                got=shorten(kernel),
            )
        check_choice("kernel", kernel, KERNELS)
    check_integer("degree", degree, 0, most=MAX_DEGREE)
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    elif not _finite_or_nan(gamma) >= 0:
        raise ParameterError(
            '{gamma} must be "scale", "auto" or a number of at least 0, got {got}.', got=shorten(gamma)
        )
    if math.isnan(_finite_or_nan(coef0)):
        raise ParameterError("{coef0} must be a number, got {got}.", got=shorten(coef0))


def _finite_or_nan(value: object) -> float:
    """Return ``value`` as a finite float, or NaN if it is not a finite real number or overflows float64."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


# The types of learners' parameters in files. `RunOptions.check` tests whether their values are in range.


_DEVICE = re.compile("[a-z]{1,20}(:[0-9]{1,4})?")
"""The pattern of device names that a file may contain."""


def _is_scalar(value: object) -> bool:
    return type(value) in (bool, str, float, NoneType) or (type(value) is int and abs(value) < 2**62)


def _is_number(value: object) -> bool:
    return type(value) in (int, float) and _is_scalar(value)


def _float_or_word(value: float | str) -> float | str:
    return value if isinstance(value, str) else float(value)


def _read_possibly_infinite(data: object, place: Place) -> float:
    """Return a number that may be infinite. Infinity is stored as "inf", because JSON has no infinite numbers."""
    return math.inf if data == "inf" else _NUMBER.read(data, place)


def _write_class_weight(value: ClassWeight) -> object:
    if not isinstance(value, Mapping):
        return value
    return [[label_to_json(label), float(weight)] for label, weight in value.items()]


def _read_class_weight(data: object, place: Place) -> object:
    if data is None or data == "balanced":
        return data
    pairs: list[list[object]] = data if type(data) is list else [[]]
    if not all(type(pair) is list and len(pair) == 2 for pair in pairs):
        raise place.error("pairs of a label and a weight", data)
    weights = {LABEL.read(label, place): weight for label, weight in pairs}
    if len(weights) < len(pairs) or any(type(weight) is not float or weight < 0 for weight in weights.values()):
        raise place.error("one weight of at least 0 for each label", data)
    return weights


def _write_kernel(value: object) -> object:
    if callable(value):
        raise ValueError(NOT_SAVABLE)
    return value


_SCALAR = checked("a string, a boolean, None, or a number below 2**62", _is_scalar)
_NUMBER = checked("a number, below 2**62", _is_number, float)
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
    "tol": _NUMBER,
    "margin": _NUMBER,
    "r": checked('a number, below 2**62, or "scale"', lambda v: v == "scale" or _is_number(v), _float_or_word),
    "C": Codec(lambda value, place: "inf" if value == math.inf else float(value), _read_possibly_infinite),
}
"""The codec of each parameter in files. A parameter that is not listed may be any scalar."""
_OMITTED = {"tol"}
"""The parameters that are left out of files if they are None."""


def parameters_to_plain(parameters: Mapping[str, object], seed: int) -> dict[str, object]:
    """Return parameters as data that JSON can represent; a ``random_state`` that is a generator becomes ``seed``."""
    out = {}
    for name, value in parameters.items():
        if name in _OMITTED and value is None:
            continue
        value = value.item() if isinstance(value, np.generic) else value
        if name == "random_state" and (isinstance(value, bool) or not isinstance(value, Integral | None)):
            value = seed
        out[name] = _PARAMETERS.get(name, _SCALAR).write(value, Place("the parameters"))
        to_canonical_json(out[name], name)
    return out


def parameters_from_plain(data: dict[str, object], names: Iterable[str]) -> dict[str, Any]:
    """Return the parameters that `parameters_to_plain` wrote; raise a ValueError unless their names are ``names``."""
    stored = [name for name in names if name in data or name not in _OMITTED]
    if data.keys() != set(stored):
        odd = min(data.keys() ^ set(stored))
        raise ValueError(f"'parameters' has {'no' if odd in stored else 'an unknown'} field {shorten(odd)}.")
    return {name: _PARAMETERS.get(name, _SCALAR).read(data[name], Place(name)) for name in stored}


RandomSource: TypeAlias = int | np.integer[Any] | np.random.RandomState | np.random.Generator | None
"""Types of ``random_state``, which seeds the shuffling of rows; None means a seed from NumPy's global generator."""


@dataclass(frozen=True)
class RunOptions:
    """The parameters of a learner, named as in its constructor."""

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
    tol: float | None = None

    hypotheses: ClassVar[tuple[str, ...]] = ("last", "average", "pocket", "vote")
    """The values of ``hypothesis`` that the learner accepts."""
    is_linear: ClassVar[bool] = True
    """Whether the learner has a weight for each feature, rather than a coefficient for each support vector."""
    expects_no_mistakes: ClassVar[bool] = True
    """Whether the learner separates linearly separable classes without mistakes, given enough passes."""

    @staticmethod
    def for_learner(learner: str, **changed: Any) -> RunOptions:
        """Return the options of a learner, given its name. Options that are not given have the learner's defaults."""
        return LEARNERS[learner].options(**{**LEARNERS[learner].defaults, **changed})

    @property
    def direct(self) -> bool:
        """Whether more than two classes are trained together (``multi_class="direct"``), instead of one-vs-rest."""
        return self.multi_class == "direct"

    @property
    def entries(self) -> Entries:
        """What has to hold for the entries of sparse rows in memory. Stored rows and kernel values need an order."""
        return "distinct" if self.is_linear and self.hypothesis != "vote" else "sorted"

    @property
    def rule(self) -> Rule:
        """The update rule."""
        return PerceptronRule()

    def as_trained(self, state: RunState) -> RunOptions:
        """Return these options with the update rule and the decay that a state was trained with.

        The result differs from these options if parameters were changed after training. A parameter that is computed
        from the rows, such as ``gamma="scale"``, is not changed, since the state stores the computed number.
        """
        changed: dict[str, Any] = {}
        if not self.needs_data and getattr(state, "rule", self.rule) != self.rule:
            changed = _parameters_of(getattr(state, "rule", self.rule))
        decay = getattr(state, "decay", self.decay)
        return replace(self, decay=decay, **changed) if changed or decay != self.decay else self

    def check(self) -> RunOptions:
        """Return these options; raise a ParameterError that names the first option out of range."""
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
            raise ParameterError("{decay} must be below 1, got {got}.", got=shorten(self.decay))
        if 0 < float(self.decay) < _LEAST_DECAY:
            raise ParameterError(
                "{decay} must be 0 or at least {least:g}, since a smaller decay has no effect, got {got}.",
                least=_LEAST_DECAY,
                got=shorten(self.decay),
            )
        if self.tol is not None:
            check_positive("tol", self.tol, or_zero=True)
        if self.decay and self.hypothesis == "vote":
            raise ParameterError("{decay} is for averages and does not apply to votes: use {hypothesis='average'}.")
        for name in ("fit_intercept", "warm_start", "early_stopping"):
            check_boolean(name, getattr(self, name))
        return self

    def validation_split(self, seed: int) -> Split | None:
        """Return the split that selects the held-out rows of early stopping; None without early stopping.

        ``seed`` is the seed of the run. The rows are not those of a test set that is drawn with the same seed.
        """
        if not self.early_stopping:
            return None
        return Split.of_share(float(self.validation_fraction), int(mix(np.array([seed % 2**64], np.uint64))[0]))

    @property
    def needs_data(self) -> bool:
        """Whether a parameter is computed from the rows, which are then read before the first pass."""
        return False

    def check_may_widen(self) -> None:
        """Raise a ParameterError if a parameter depends on the number of columns; called if later rows have more."""

    def check_shape(self, n: int, d: int) -> None:
        """Raise a ValueError if the learner cannot train on n rows of d columns."""

    def check_for_blocks(self, source: str) -> None:
        """Raise a ParameterError if the learner needs all rows at once.

        ``source`` completes the error message "..., which {source} not have", for example "a stream does".
        """

    def check_for_stream(self, caller: str) -> None:
        """Raise a ParameterError if an option needs all rows at once, because a stream provides them in blocks.

        ``caller`` is the name of the method that reads the stream; the error message mentions it.
        """
        if self.hypothesis == "pocket":
            raise ParameterError(
                "{hypothesis='pocket'} compares weights on all rows at once, which are not available in {caller}: "
                "use fit, or {hypothesis='average'}.",
                caller=caller,
            )
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise ParameterError(
                "{class_weight='balanced'} needs the counts of all classes in advance, which are not available in "
                "{caller}: pass the weights as a dictionary, or sample_weight.",
                caller=caller,
            )

    def check_read_once(self, checkpoint: bool) -> None:
        """Raise a ParameterError if an option, or ``checkpoint``, needs blocks that can be read more than once."""
        if checkpoint:
            raise ParameterError(
                "these blocks can be read only once, so a run on them cannot be resumed after a crash: leave out "
                "{checkpoint}, or give blocks that can be read again, such as those that data.open returns."
            )
        for name, given, needed in (("max_iter", self.max_iter, 1), ("early_stopping", self.early_stopping, False)):
            if given != needed:
                raise ParameterError(
                    "these blocks can be read only once, but {given} reads them again: set {needed}, or give blocks "
                    "that can be read again, such as a list or what data.open returns for a file on disk.",
                    given=Setting(name, given),
                    needed=Setting(name, needed),
                )

    # as plain data

    def to_plain(self, learner: str, seed: int) -> dict[str, object]:
        """Return the parameters of a learner as data that JSON can represent; see `parameters_to_plain`."""
        return parameters_to_plain({name: getattr(self, name) for name in parameter_names(learner)}, seed)

    @staticmethod
    def from_plain(data: dict[str, object], learner: str) -> RunOptions:
        """Return the options that ``to_plain`` wrote; raise a ValueError for anything else."""
        return RunOptions.for_learner(learner, **parameters_from_plain(data, parameter_names(learner))).check()


@dataclass(frozen=True)
class KernelOptions(RunOptions):
    """The parameters of a kernel perceptron, which has no ``fit_intercept``."""

    fit_intercept: bool = False
    kernel: str | Callable[[Matrix, Matrix], Matrix] = "poly"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 1.0
    cache_size: float = 1000.0
    max_support: int | None = None
    device: str | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)
    """Values for fields of `Computing` that differ from its defaults; not a parameter of the learner."""

    is_linear = False

    @property
    def needs_data(self) -> bool:
        """Whether gamma is computed from the rows or from their number of columns."""
        return isinstance(self.gamma, str) and isinstance(self.kernel, str) and self.kernel in SCALED

    def check_may_widen(self) -> None:
        """Raise a ParameterError if gamma depends on the number of columns; called if later rows have more."""
        if self.needs_data:
            raise ParameterError(
                "{gamma=auto} is 1 / the number of features, and a later block has more features than the first: give "
                "{gamma} as a number.",
                auto=self.gamma,
            )

    def check_shape(self, n: int, d: int) -> None:
        """Raise a ValueError if the kernel perceptron cannot train on n rows of d columns."""
        if self.kernel == "precomputed" and n != d:
            raise ValueError(
                'kernel="precomputed" expects a square matrix of kernel values between all training rows, got '
                f"a matrix of shape {(n, d)}: give kernel values, or choose a kernel."
            )
        if self.kernel not in ("precomputed", "linear") and self.cache_size * 1e6 < 8 * n:
            raise ParameterError(
                "{cache_size=given} megabytes cannot hold one row of kernel values, which takes {bytes:,} bytes for "
                "{n:,} rows: give at least {least:.6g}.",
                given=self.cache_size,
                bytes=8 * n,
                n=n,
                least=8 * n / 1e6,
            )

    def check_for_blocks(self, source: str) -> None:
        """Raise a ParameterError if the kernel is precomputed, because it needs the kernel values of all rows."""
        if self.kernel == "precomputed":
            raise ParameterError(
                "{kernel='precomputed'} needs values between all rows, which {source} not have: use fit, or choose a "
                "kernel.",
                source=source,
            )

    def check(self) -> KernelOptions:
        """Return these options; raise a ParameterError that names the first option out of range."""
        super().check()
        if self.tol is not None and not self.early_stopping:
            raise ParameterError(
                "{tol} must be None for kernels, whose loss is not summed exactly, got {got}: leave it out, or set "
                "{early_stopping=True}.",
                got=shorten(self.tol),
            )
        check_kernel(self.kernel, self.degree, self.gamma, self.coef0)
        if isinstance(self.cache_size, bool) or not isinstance(self.cache_size, Real) or not 0 < self.cache_size < 1e15:
            raise ParameterError(
                "{cache_size} must be a number of megabytes above 0, got {got}.", got=shorten(self.cache_size)
            )
        if self.max_support is not None:
            check_integer("max_support", self.max_support, 1, or_none=True)
            if self.hypothesis == "pocket":
                raise ParameterError(
                    "{max_support} drops rows that the pocket may need: leave it out, or use {hypothesis='average'}."
                )
        if not isinstance(self.device, str | None):
            raise ParameterError('{device} must be a string such as "cuda" or None, got {got}.', got=repr(self.device))
        return self


@dataclass(frozen=True)
class MarginOptions(RunOptions):
    """The parameters of a margin perceptron."""

    margin: float = 10.0

    hypotheses = ("last", "average")

    @property
    def rule(self) -> Rule:
        """The update rule."""
        return MarginRule(float(self.margin))

    def check(self) -> RunOptions:
        """Return these options; raise a ParameterError that names the first option out of range."""
        check_positive("margin", self.margin, or_zero=True)
        return super().check()


@dataclass(frozen=True)
class PassiveAggressiveOptions(RunOptions):
    """The parameters of a passive-aggressive learner."""

    hypothesis: str = "average"
    multi_class: str = "direct"
    C: float = 1.0
    loss: str = "hinge"

    hypotheses = ("last", "average")
    expects_no_mistakes = False

    @property
    def rule(self) -> Rule:
        """The update rule: PA-I for the hinge loss, PA-II for the squared hinge loss (Crammer et al. 2006)."""
        try:
            most = float(self.C)
        except OverflowError:  # a huge integer
            most = math.inf
        if self.loss == "hinge":
            return PassiveAggressiveRule(1.0, most, 0.0)
        return PassiveAggressiveRule(1.0, math.inf, 0.5 / most)

    def check(self) -> RunOptions:
        """Return these options; raise a ParameterError that names the first option out of range."""
        check_positive("C", self.C, or_infinite=True)
        check_choice("loss", self.loss, ("hinge", "squared_hinge"))
        return super().check()


@dataclass(frozen=True)
class ArowOptions(RunOptions):
    """The parameters of AROW, adaptive regularisation of weights (Crammer, Kulesza and Dredze 2009)."""

    multi_class: str = "direct"
    r: float | str = 10.0

    hypotheses = ("last", "average")
    expects_no_mistakes = False

    @property
    def needs_data(self) -> bool:
        """Whether r depends on the rows."""
        return isinstance(self.r, str)

    @property
    def rule(self) -> Rule:
        """The update rule; ``r`` must be a number."""
        return ArowRule(1.0, float(self.r))

    def check(self) -> RunOptions:
        """Return these options; raise a ParameterError that names the first option out of range."""
        if isinstance(self.r, str) and self.r != "scale":
            raise ParameterError('{r} must be "scale" or a number above 0, got {got}.', got=shorten(self.r))
        if not isinstance(self.r, str):
            check_positive("r", self.r)
        return super().check()


def _parameters_of(rule: Rule) -> dict[str, Any]:
    """Return the learner parameters that give this update rule."""
    match rule:
        case MarginRule():
            return {"margin": rule.threshold}
        case PassiveAggressiveRule():
            return {"C": 0.5 / rule.ridge, "loss": "squared_hinge"} if rule.ridge else {"C": rule.cap, "loss": "hinge"}
        case ArowRule():
            return {"r": rule.r}
    return {}


@dataclass(frozen=True)
class Learner:
    """An entry of `LEARNERS`: where the estimator is defined, and which options it has."""

    module: str
    """The name of the module that defines the estimator, without the leading "rosenblatt."."""
    words: str
    """The learner's name as error messages write it, such as "the perceptron"."""
    options: type[RunOptions] = RunOptions
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """The defaults of this learner that differ from those of ``options``."""
    fixed: tuple[str, ...] = ()
    """Fields of ``options`` that are not parameters of the learner."""


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
"""All learners that the engine trains, by the name of their estimator."""
_LEAST_DECAY = 1e-30
"""The smallest decay above 0. With a smaller decay, the decayed average equals the plain mean to 14 digits."""


def parameter_names(learner: str) -> list[str]:
    """Return the sorted names of the parameters that a model file stores for a learner."""
    known = LEARNERS[learner]
    return sorted({field.name for field in fields(known.options)} - set(known.fixed))


def draw_seed(random_state: RandomSource) -> int:
    """Return the seed with which rows are shuffled.

    An integer ``random_state`` is the seed itself. From a generator, a seed is drawn. None means NumPy's global
    generator, which ``np.random.seed`` seeds, as in scikit-learn. Any other value raises a ParameterError.
    """
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        return check_integer("random_state", random_state, 0)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None or random_state is np.random:
        random_state = np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    raise ParameterError(
        "{random_state} must be an integer, a RandomState, a Generator or None, got {got}.", got=repr(random_state)
    )
