"""Methods that a model has only under some parameters, or not at all, and that say why."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, cast


class AvailableUnless:
    """A method that is there unless ``reason(model)`` returns a sentence, which is then the AttributeError's.

    scikit-learn's ``available_if`` says only that there is no such attribute.

    >>> class Door:
    ...     locked = True
    ...     @AvailableUnless.decorator(lambda door: "the door is locked: unlock it." if door.locked else "")
    ...     def open(self):
    ...         return "open"
    >>> hasattr(Door(), "open")
    False
    >>> Door().open()
    Traceback (most recent call last):
    AttributeError: the door is locked: unlock it.
    """

    def __init__(self, method: Callable[..., Any], reason: Callable[[Any], str]) -> None:
        self.method, self.reason = method, reason
        update_wrapper(cast(Any, self), method)

    @classmethod
    def decorator(cls, reason: Callable[[Any], str]) -> Callable[[Callable[..., Any]], Any]:
        """Return what makes a method such a one."""
        return lambda method: cls(method, reason)

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        """Return the method of a model, or the function of the class."""
        if model is None:
            return self.method
        sentence = self.reason(model)
        if sentence:
            raise AttributeError(sentence)
        return MethodType(self.method, model)


def never(sentence: str) -> AvailableUnless:
    """Return a method that no model of a class has, for the sentence ``sentence``."""

    def method(self: Any, *arguments: Any) -> Any:
        """Raise an AttributeError that says what to use instead."""
        raise AttributeError(sentence)

    return AvailableUnless(method, lambda model: sentence)
