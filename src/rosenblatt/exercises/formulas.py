"""Formulas that students write, such as ``R^2/gamma^2``: read by a small grammar, and never by Python."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

LONGEST = 200
"""The most characters of a formula."""
_DEEPEST = 20
"""The most parentheses inside one another."""
_SPELLINGS = {"×": "*", "·": "*", "−": "-", "²": "^2", "θ": "theta", "γ": "gamma", "**": "^"}
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|([-+*/^()]))", re.ASCII)
Formula = Callable[[Mapping[str, float]], float]
"""A function from the values of the variables to the value of a formula: NaN where it has none."""


class FormulaError(ValueError):
    """Raised for a text that is not a formula; the message says why, as the end of a sentence."""


def parse(text: str, variables: tuple[str, ...] = ()) -> Formula:
    """Return the function that a formula stands for; raise a FormulaError if it is not a formula in ``variables``.

    The grammar has numbers, variables, ``+ - * / ^``, parentheses and ``sqrt(...)``. ``^`` binds more tightly than a
    sign, and to the right. A value that is infinite or undefined is NaN.

    >>> formula = parse("-R^2/gamma^2", ("R", "gamma"))
    >>> formula({"R": 3.0, "gamma": 2.0}), formula({"R": 3.0, "gamma": 0.0})
    (-2.25, nan)
    >>> parse("2k + 1", ("k",))
    Traceback (most recent call last):
    rosenblatt.exercises.formulas.FormulaError: write a sign before 'k', such as * for a product
    """
    if len(text) > LONGEST:
        raise FormulaError(f"write at most {LONGEST} characters")
    tokens = _tokens(text)
    reader = _Reader(tokens, variables)
    formula = reader.sum()
    if reader.next == ")":
        raise FormulaError("a parenthesis is not opened")
    if reader.next != "":
        raise FormulaError(f"write a sign before {reader.next!r}, such as * for a product")

    def value(values: Mapping[str, float]) -> float:
        try:
            found = formula(values)
        except (ArithmeticError, ValueError):
            return math.nan
        return found if isinstance(found, float) and math.isfinite(found) else math.nan

    return value


def _tokens(text: str) -> list[str]:
    for spelling, plain in _SPELLINGS.items():
        text = text.replace(spelling, plain)
    text, tokens, place = text.strip(), [], 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise FormulaError(f"there is no meaning for {text[place]!r}")
        tokens.append(match[0].strip())
        place = match.end()
    return tokens


class _Reader:
    """Recursive descent: each method reads one level of the grammar, and returns what it stands for."""

    def __init__(self, tokens: list[str], variables: tuple[str, ...]) -> None:
        self.tokens, self.variables, self.place, self.depth = tokens, variables, 0, 0

    @property
    def next(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def take(self) -> str:
        token = self.next
        self.place += 1
        return token

    def sum(self) -> Formula:
        value = self.product()
        while self.next in ("+", "-"):
            value = _binary(self.take(), value, self.product())
        return value

    def product(self) -> Formula:
        value = self.signed()
        while self.next in ("*", "/"):
            value = _binary(self.take(), value, self.signed())
        return value

    def signed(self) -> Formula:
        if self.next not in ("+", "-"):
            return self.power()
        return _binary(self.take(), lambda _: 0.0, self.signed())

    def power(self) -> Formula:
        base = self.atom()
        return _binary(self.take(), base, self.signed()) if self.next == "^" else base

    def atom(self) -> Formula:
        token = self.take()
        if token == "(" or token == "sqrt":
            if token == "sqrt" and self.take() != "(":
                raise FormulaError("sqrt needs parentheses, as in sqrt(2)")
            self.depth += 1
            if self.depth > _DEEPEST:
                raise FormulaError(f"write at most {_DEEPEST} parentheses inside one another")
            inner = self.sum()
            if self.take() != ")":
                raise FormulaError("a parenthesis is not closed")
            self.depth -= 1
            return (lambda values: math.sqrt(inner(values))) if token == "sqrt" else inner
        if token[:1].isdigit() or token[:1] == ".":
            number = float(token)
            return lambda _: number
        if token in self.variables:
            return lambda values: float(values[token])
        if token.isidentifier():
            known = f"use {', '.join(self.variables)}" if self.variables else "write numbers alone"
            raise FormulaError(f"there is no {token!r} here: {known}")
        raise FormulaError(
            "a number or a variable is missing" if token in ("", ")") else f"{token!r} has nothing before it"
        )


def _binary(sign: str, left: Formula, right: Formula) -> Formula:
    if sign == "+":
        return lambda values: left(values) + right(values)
    if sign == "-":
        return lambda values: left(values) - right(values)
    if sign == "*":
        return lambda values: left(values) * right(values)
    if sign == "/":
        return lambda values: left(values) / right(values)
    return lambda values: _real(left(values) ** right(values))


def _real(value: float | complex) -> float:
    """Return a power; a root of a negative number, which Python makes complex, is NaN."""
    return value if isinstance(value, float) else math.nan
