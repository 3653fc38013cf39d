"""Model files: `save` writes a complete model or pipeline, and `load` reads it without running any code."""

from __future__ import annotations

import functools
import math
import os
from importlib import import_module
from types import SimpleNamespace
from typing import Annotated, Any, TypeAlias

from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from rosenblatt import __version__
from rosenblatt.data.preparation import check_preparation, is_preparation
from rosenblatt.estimators.base import BasePerceptron
from rosenblatt.estimators.rescaled import RescaledPerceptron
from rosenblatt.inspection.explain import searched
from rosenblatt.messages import check_integer, shorten
from rosenblatt.persistence.pipelines import STEPS, Step, check_chain, check_defaults
from rosenblatt.storage.columns import LEAST_SHARE, MOST_FEATURES
from rosenblatt.storage.container import check_version, read_container, write_container
from rosenblatt.storage.schema import Arrays, Floats, Place, Wide, integer, read_fields, string, write_fields
from rosenblatt.theory.certificates import MOST_ROWS, Certificate
from rosenblatt.theory.verdicts import Inseparable, MarginBracket, Separable, UndecidedSeparability, Verdicts
from rosenblatt.training.model_file import (
    ModelInfo,
    Reader,
    TrainedModel,
    invalid_file,
    model_from_plain,
    model_to_plain,
    read_model,
)
from rosenblatt.training.options import LEARNERS as ENGINE_LEARNERS
from rosenblatt.training.options import RunOptions, parameter_names, parameters_from_plain, parameters_to_plain
from rosenblatt.training.rows import Names

TRAINED: dict[str, type[BasePerceptron]] = {
    name: getattr(import_module(f"rosenblatt.{learner.module}"), name) for name, learner in ENGINE_LEARNERS.items()
}
"""The learners that the training engine (`rosenblatt.training`) trains."""
LEARNERS: dict[str, type[BaseEstimator]] = TRAINED | {"RescaledPerceptron": RescaledPerceptron}
"""The learners that a file may hold. A class name in a file is only ever looked up here."""
Learner: TypeAlias = BasePerceptron | RescaledPerceptron
Header: TypeAlias = dict[str, Any]
NamedArrays: TypeAlias = dict[str, NDArray[Any]]


def save(model: BaseEstimator, path: str | os.PathLike[str]) -> None:
    """Write a trained model or pipeline to a file, which `load` reads to predict or to continue training.

    The file is in the safetensors format. It holds the classes, feature names, parameters and counters, and all weights
    that the model keeps: the last, averaged, pocket or voted weights. It also holds the state of early stopping, the
    version of this library and a checksum. For a KernelPerceptron it holds the support rows, which are training data,
    and every update. Two attributes that the model may have are saved, too, and must be data that JSON can represent.
    ``preparation_`` is a dictionary that describes how features are made from rows, and ``fingerprint_`` identifies the
    data. The file is replaced atomically: on an error, such as a full disk, an OSError is raised and the old file is
    unchanged.

    Parameters
    ----------
    model : any learner of this package, such as AveragedPerceptron or AROW, or a Pipeline
        It must be fitted. A pipeline must end in such a learner. Its other steps may be a StandardScaler, MaxAbsScaler,
        SimpleImputer, OneHotEncoder, ExactScaler, SphereLift, Combinations or TextHasher, or a ColumnTransformer or
        Pipeline of these. Steps are stored as data. If a function selects columns, the columns that it selected are
        stored. Labels must be integers, floats, booleans or strings. A kernel that is a function cannot be saved,
        because files hold no code. A ``random_state`` that is neither None nor an integer is saved as ``seed_``, the
        seed in use. For a parameter search, such as GridSearchCV, ``best_estimator_`` is saved.
    path : str or path
        The file to write, for instance "model.safetensors".

    See Also
    --------
    load : Read a saved model.
    export_onnx : Write a model for other runtimes.

    Examples
    --------
    >>> import tempfile
    >>> from rosenblatt import Perceptron
    >>> model = Perceptron(shuffle=False).fit([[1, 1], [2, 0], [-1, 0], [0, -2]], ["yes", "yes", "no", "no"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, folder + "/model.safetensors")
    ...     again = load(folder + "/model.safetensors")
    >>> again.predict([[3, 1], [-1, -1]]), again.n_updates_
    (array(['yes', 'no'], dtype='<U3'), 2)
    """
    model = searched(model)
    model = model.to_local() if hasattr(model, "to_local") else model
    learner = learner_of(model)
    check_is_fitted(learner)
    _check_attached(getattr(learner, "preparation_", None))
    if isinstance(learner, RescaledPerceptron):
        header, arrays = _rescaled_to_plain(learner)
    else:
        header, arrays = to_trained_model(learner).to_plain()
    if learner is not model:
        header, arrays = _pipeline_to_plain(model, header, arrays)
    write_container(path, header, arrays)


def load(path: str | os.PathLike[str], *, max_rows: float = MOST_ROWS, max_features: int | None = MOST_FEATURES) -> Any:
    """Return the model or pipeline that `save` wrote to a file.

    It predicts and continues training exactly as the saved model would. No code is run, so files from untrusted sources
    are safe to load. A file that is truncated, altered, invalid, or written by a newer version of this library raises a
    ValueError. A file that cannot be read raises an OSError. Memory and time are proportional to the size of the file
    and the number of features.

    Parameters
    ----------
    path : str or path
        The file to read.
    max_rows : int
        Maximum number of training rows that ``verdict_`` of a RescaledPerceptron may refer to, by default 2^27. The
        verdict takes 8 bytes for each class and training row, and a small file can declare any number of rows.
    max_features : int or None
        Maximum number of columns, by default 2^24. Columns whose weights are zero are not stored, so a small file can
        declare any number of them. More columns than the limit raise a ParameterError. None makes the limit
        proportional to the size of the file. This allows every file that `save` wrote, because it stores at least one
        in 64 columns if there are more than 2^24. For a pipeline, the limit applies to the sum of the columns that its
        steps declare but do not store. In a ColumnTransformer, each unnamed column that is not listed counts as 64.

    See Also
    --------
    save : Write a model to a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from rosenblatt import Perceptron
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.safetensors"
    >>> save(Perceptron(shuffle=False).fit([[1.0], [-1.0]], ["yes", "no"]), path)
    >>> load(path).predict([[2.0]])
    array(['yes'], dtype='<U3')
    >>> _ = path.write_bytes(path.read_bytes()[:-1])
    >>> load(path)
    Traceback (most recent call last):
    ValueError: ... is truncated: 193 bytes of arrays should follow its head, and 192 do.
    """
    if max_features is not None:
        check_integer("max_features", max_features, 1)
    header, arrays = read_container(path)
    read = functools.partial(_from_plain, max_rows=max_rows)
    if header.get("kind") == "pipeline":
        return _read_pipeline(path, header, arrays, read, max_features)
    return read_model(path, header, arrays, read, max_features)


def learner_of(model: BaseEstimator) -> Learner:
    """Return ``model``, or the last step if it is a pipeline; raise a TypeError if this is not one of `LEARNERS`."""
    last = model.steps[-1][1] if type(model) is Pipeline else model
    if LEARNERS.get(type(last).__name__) is type(last):
        return last
    if hasattr(model, "refit") and hasattr(model, "estimator"):
        raise TypeError(
            f"this {type(model).__name__} has no best_estimator_ to use: fit the search first, with refit=True."
        )
    what = "a pipeline must end in one of" if type(model) is Pipeline else "expected one of"
    raise TypeError(
        f"{what} {', '.join(LEARNERS)}{'' if type(model) is Pipeline else ', or a Pipeline that ends in one'}, "
        f"got {type(last).__name__}."
    )


def _from_plain(info: ModelInfo, learned: dict[str, object], place: Place, max_rows: float) -> Learner:
    _check_attached(info.preparation)
    if info.learner == RescaledPerceptron.__name__:
        return rescaled_from_plain(info, learned, place, max_rows)
    if info.learner not in TRAINED:
        raise ValueError(f"'learner' must be one of {', '.join(LEARNERS)}, got {shorten(info.learner)}.")
    return from_trained_model(TrainedModel.from_plain(info, learned, place))


def _check_attached(preparation: object) -> None:
    """Raise a ValueError if ``preparation`` has the form that streams write but is invalid; other data are allowed."""
    if is_preparation(preparation):
        check_preparation(preparation)


# Learners of the training engine.


def to_trained_model(model: BasePerceptron) -> TrainedModel:
    """Convert a learner of the training engine to a `TrainedModel`, which contains plain data only."""
    learner = type(model).__name__
    options = RunOptions.for_learner(learner, **{name: getattr(model, name) for name in parameter_names(learner)})
    return TrainedModel(
        learner=learner,
        options=options.as_trained(model.state_),
        classes=model.classes_,
        state=model.state_,
        early_stopping_state=model._early_stopping_state,
        feature_names=getattr(model, "feature_names_in_", None),
        preparation=getattr(model, "preparation_", None),
        fingerprint=getattr(model, "fingerprint_", None),
        calibration=getattr(model, "calibration_", None),
    )


def from_trained_model(found: TrainedModel) -> BasePerceptron:
    """Return the learner that a `TrainedModel` describes."""
    parameters = {name: getattr(found.options, name) for name in parameter_names(found.learner)}
    model = TRAINED[found.learner](**parameters)
    model.state_, model.classes_, model._early_stopping_state = found.state, found.classes, found.early_stopping_state
    _attach(model, found.state.n_features, found.feature_names, found)
    return model


def _attach(model: Learner, n_features: int, names: Names | None, info: ModelInfo | TrainedModel) -> None:
    """Set the attributes that files hold for every learner: features, their names, preparation and fingerprint."""
    model.n_features_in_ = n_features
    given = {name: getattr(info, name[:-1]) for name in ("preparation_", "fingerprint_", "calibration_")}
    given["feature_names_in_"] = names
    model.__dict__.update({name: value for name, value in given.items() if value is not None})


# The rescaled perceptron.


class _RescaledFields:
    """The fitted attributes of a rescaled perceptron."""

    coef: Wide
    intercept: Floats
    converged: bool
    seed: Annotated[int, integer(0, 2**4096)]
    n_iter: Annotated[int, integer(0, 2**62)]
    n_updates: Annotated[int, integer(0, 2**62)]
    n_rescalings: Annotated[int, integer(0, 2**62)]
    verdict: str


def _rescaled_to_plain(model: RescaledPerceptron) -> tuple[Header, NamedArrays]:
    """Return the header and the arrays of the file for a rescaled perceptron."""
    names = getattr(model, "feature_names_in_", None)
    info = ModelInfo(
        learner=type(model).__name__,
        parameters=parameters_to_plain(model.get_params(deep=False), model.seed_),
        classes=model.classes_,
        feature_names=None if names is None else [str(name) for name in names],
        preparation=getattr(model, "preparation_", None),
        fingerprint=getattr(model, "fingerprint_", None),
        calibration=getattr(model, "calibration_", None),
    )
    learned = {name.removesuffix("_"): value for name, value in vars(model).items() if name.endswith("_")}
    place = Place("the header", path="learned")
    said = write_fields(_RescaledFields, SimpleNamespace(**learned | {"verdict": model.verdict_.to_json()}), place)
    return model_to_plain(info, said, place.arrays.arrays, functools.partial(_from_plain, max_rows=math.inf))


def rescaled_from_plain(
    info: ModelInfo, learned: object, place: Place, max_rows: float = math.inf
) -> RescaledPerceptron:
    """Return the rescaled perceptron that a file describes; raise a ValueError if it is not valid."""
    defaults = RescaledPerceptron().get_params(deep=False)
    parameters = parameters_from_plain(info.parameters, defaults)
    for name, default in defaults.items():
        if name != "random_state" and type(parameters[name]) is not type(default):
            raise ValueError(f"{name} must be of type {type(default).__name__}, got {shorten(parameters[name])}.")
    labels = info.classes.tolist()
    if len(labels) < 2:
        raise ValueError("there are fewer than two classes.")
    several = len(labels) > 2
    found = read_fields(_RescaledFields, learned, place.alone(scores=len(labels) if several else 1))
    text = found.pop("verdict")
    model = RescaledPerceptron(**parameters)
    model.classes_ = info.classes
    model.__dict__.update({f"{name}_": value for name, value in found.items()})
    if not model.coef_.shape[1]:
        raise ValueError("there are no weights.")
    verdict: Any = (Verdicts if several else Certificate).from_json(text, max_rows=max_rows)
    model.verdict_ = verdict
    verdicts = verdict if isinstance(verdict, Verdicts) else {labels[1]: verdict}
    kinds = (Separable, Inseparable, UndecidedSeparability, MarginBracket)
    if list(verdicts) != (labels if several else labels[1:]) or any(
        not isinstance(verdict, kinds) or verdict.positive != label for label, verdict in verdicts.items()
    ):
        raise ValueError("its verdict is about other classes.")
    n_features = model.coef_.shape[1]
    _attach(model, n_features, info.names(n_features), info)
    return model


# Pipelines.


_PIPELINE_FORMAT = 2


class _PipelineFields:
    """The header of the file for a pipeline: its steps, and the header of the file for its learner."""

    kind: Annotated[str, string("pipeline")]
    version: Annotated[int, integer(_PIPELINE_FORMAT, _PIPELINE_FORMAT)]
    library: str
    verbose: bool
    steps: Annotated[list[tuple[str, Step]], STEPS]
    name: str
    learner: dict[str, Any]


def _pipeline_to_plain(pipeline: Pipeline, header: Header, arrays: NamedArrays) -> tuple[Header, NamedArrays]:
    """Return the header and the arrays of the file for a pipeline, given the header and the arrays for its learner."""
    check_defaults(pipeline, _PipelineFields)
    place = Place("the header")
    said = {
        "kind": "pipeline",
        "version": _PIPELINE_FORMAT,
        "library": __version__,
        "verbose": pipeline.verbose,
        "steps": pipeline.steps[:-1],
        "name": pipeline.steps[-1][0],
        "learner": header,
    }
    out = write_fields(_PipelineFields, SimpleNamespace(**said), place)
    arrays = arrays | place.arrays.arrays
    try:  # reading the result back ensures that the file can be loaded
        _pipeline_from_plain(out, arrays, functools.partial(_from_plain, max_rows=math.inf), 2**62)
    except ValueError as fault:
        raise ValueError(f"this pipeline cannot be saved: {fault}") from fault
    return out, arrays


def _read_pipeline(
    path: str | os.PathLike[str],
    header: Header,
    arrays: NamedArrays,
    read: Reader[BaseEstimator],
    max_features: int | None,
) -> Pipeline:
    """Return the pipeline described by the header and the arrays of a file; raise a ValueError if they are invalid."""
    check_version(path, header.get("version"), _PIPELINE_FORMAT)
    try:
        return _pipeline_from_plain(header, arrays, read, max_features)
    except ValueError as fault:
        raise invalid_file(path, "pipeline", fault) from fault
    except TypeError as fault:  # raised by scikit-learn
        raise invalid_file(path, "pipeline", ValueError(shorten(str(fault), 300))) from fault


def _pipeline_from_plain(
    header: Header, arrays: NamedArrays, read: Reader[BaseEstimator], max_features: int | None
) -> Pipeline:
    of_steps = {name: array for name, array in arrays.items() if name.startswith("steps.")}
    of_learner = {name: array for name, array in arrays.items() if name not in of_steps}
    vouched = LEAST_SHARE * sum(array.size for array in arrays.values())
    most_columns = max(MOST_FEATURES, vouched) if max_features is None else max_features
    place = Place("the header", Arrays(of_steps, most_columns))
    found = read_fields(_PipelineFields, header, place)
    place.arrays.finish()
    steps = [*found["steps"], (found["name"], model_from_plain(found["learner"], of_learner, read, max_features))]
    check_chain(steps)
    return Pipeline(steps, verbose=found["verbose"])
