"""Options beside a certificate that says itself how rows are made: they may say the same, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rosenblatt.cli.inputs import target_of
from rosenblatt.cli.row_options import RowOptions
from rosenblatt.messages import ParameterError, Setting


def check_same_preparation(path: str, preparation: Mapping[str, Any], target: str | None, rows: RowOptions) -> None:
    """Raise an error where an option says something else than the certificate, or where that was made of scaled rows.

    >>> made = {"format": "vw", "version": 1, "bits": 18, "n_features": 5}
    >>> check_same_preparation("a.cert", made, None, RowOptions(bits=18))
    >>> check_same_preparation("a.cert", made, None, RowOptions(bits=9))
    Traceback (most recent call last):
    rosenblatt.messages.ParameterError: a.cert is about rows that were made with bits=18, and bits=9 was given: ...
    """
    from rosenblatt.data.preparation import check_preparation

    try:
        check_preparation(preparation)
    except ValueError as fault:
        raise ValueError(f"{path} does not say in a way that can be used how its rows are made: {fault}") from None
    if "scale" in preparation:
        raise ValueError(f"{path} is about rows that were scaled, expected the numbers as they are: make it again.")
    for name, value in (rows.to_rows() | ({} if target is None else {"target": target_of(target)})).items():
        said = _said(preparation, name, value)
        if said != value:
            raise ParameterError(
                f"{path} is about rows that were made ",
                *(("without ", Setting(name)) if said in (None, [], {}) else ("with ", Setting(name, said))),
                ", and ",
                Setting(name, value),
                " was given: leave it out.",
            )


def _said(preparation: Mapping[str, Any], name: str, value: Any) -> Any:
    """Return what a preparation says where an option was given: the same value, or another."""
    columns = {column["name"]: column for column in preparation.get("columns", ())}
    order, target = preparation.get("order", ()), preparation.get("target")
    if name == "target":
        label = target["name"] if isinstance(target, dict) else target
        places = isinstance(value, int) and -len(order) <= value < len(order)
        return value if label == (order[value] if places else value) else label
    if name == "drop":
        return [one for one in value if one in preparation.get("ignored", ())]
    if name == "keep":
        return [one for one in value if one in columns]
    if name == "kinds":
        return {one: columns[one]["kind"] for one in value if one in columns}
    return preparation.get(name)
