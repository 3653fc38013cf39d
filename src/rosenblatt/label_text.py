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
