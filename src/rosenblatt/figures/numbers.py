"""The numbers of a drawing as people read them: on the page of figures, and in the gallery of the documentation."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.theory.words import shown_number, true_minus


def number_words(value: Any) -> str:
    """Return a value of a drawing in words: six digits of a number, lists and dictionaries with all that they hold.

    >>> number_words([0.123456789, -2, [1.0, "a"]]), number_words({"least": 1234, "proved": True})
    ('0.123457, −2, (1, a)', 'least: 1,234; proved: yes')
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return "; ".join(f"{name}: {number_words(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(
            f"({number_words(item)})" if isinstance(item, list | tuple) else number_words(item) for item in value
        )
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return true_minus(f"{value:,}")
    return shown_number(value, 6) if isinstance(value, float) else str(value)
