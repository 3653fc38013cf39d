"""Labels as people write them, the same in tables, titles and at the command."""

from __future__ import annotations

from typing import Any


def label_text(label: Any) -> str:
    """Return a label as people write it: 1.0 is 1.

    >>> label_text(-1.0), label_text("spam"), label_text(0.5)
    ('-1', 'spam', '0.5')
    """
    if hasattr(label, "item"):
        label = label.item()
    return str(int(label)) if isinstance(label, float) and label.is_integer() and abs(label) < 1e15 else str(label)


def plain_label(label: Any) -> Any:
    """Return a label as JSON should have it: 7 for 7.0, all others as they are.

    >>> plain_label(7.0), plain_label("7.0"), plain_label(0.5)
    (7, '7.0', 0.5)
    """
    if hasattr(label, "item"):
        label = label.item()
    return int(label) if isinstance(label, float) and label.is_integer() and abs(label) < 1e15 else label
