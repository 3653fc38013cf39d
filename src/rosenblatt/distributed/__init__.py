"""Perceptrons that train on rows distributed over a Dask or Ray cluster. Either library is imported on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rosenblatt.distributed.dask import DaskAveragedPerceptron, DaskPerceptron
    from rosenblatt.distributed.ray import RayAveragedPerceptron, RayPerceptron

__all__ = ["DaskAveragedPerceptron", "DaskPerceptron", "RayAveragedPerceptron", "RayPerceptron"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{'dask' if name.startswith('Dask') else 'ray'}"), name)


def __dir__() -> list[str]:
    return __all__
