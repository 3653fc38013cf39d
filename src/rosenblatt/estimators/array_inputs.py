"""Arrays of PyTorch as input and output, under scikit-learn's array API dispatch."""

from __future__ import annotations

import sys
from typing import Any

from sklearn import get_config


def tensor_device(X: Any) -> str | None:
    """Return the device of a tensor of PyTorch, None for anything else, or where scikit-learn's dispatch is off.

    >>> tensor_device([[1.0]])
    """
    torch = sys.modules.get("torch")  # whoever has a tensor has imported it
    if torch is None or not isinstance(X, torch.Tensor) or not get_config()["array_api_dispatch"]:
        return None
    return str(X.device)


def as_numpy(X: Any) -> Any:
    """Return a tensor as an array of NumPy; anything else as it is.

    >>> as_numpy([[1.0]])
    [[1.0]]
    """
    return X if tensor_device(X) is None else X.detach().cpu().numpy()


def like_input(found: Any, X: Any) -> Any:
    """Return an array of NumPy as a tensor on the device of ``X``, if that is one; words stay as they are.

    >>> like_input(5, [[1.0]])
    5
    """
    device = tensor_device(X)
    if device is None or found.dtype.kind not in "biuf":
        return found
    return sys.modules["torch"].asarray(found, device=device)
