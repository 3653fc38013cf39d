"""The report in a model file: what it says that counters do not, and whether the rest agrees with them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.storage.json_fields import StrictFields
from rosenblatt.training.pass_state import CutPass
from rosenblatt.training.report import OPTIONAL
from rosenblatt.training.run_state import RunState
from rosenblatt.training.state import LinearState
from rosenblatt.training.zero_weights import came_to_zero


def restore_facts(state: RunState, told: Any) -> None:
    """Give a state from a file what only its report says; a ValueError where that is not valid.

    These are how many rows were held out, how many shards were mixed, how far the last pass came, and whether weights
    came back to zero by updates without rounding. Files of older versions say none of them.
    """
    if type(told) is not dict:
        return  # a fault that the comparison with the counters finds
    cut, stopped = told.get("last_pass_cut"), told.get("early_stopping")
    if told.get("mixed_shards") is not None:
        state.mixed_shards = StrictFields(told, "the report").whole("mixed_shards", 1)
    if cut is not None:
        fields = StrictFields(cut, "the report: 'last_pass_cut'")
        share = fields.optional("share", lambda name: fields.number(name, 0.0, 1.0))
        state.cut = CutPass(fields.whole("rows"), share, fields.flag("interrupted"))
        fields.end()
    if type(stopped) is dict and stopped.get("held_out_rows") is not None:
        state.held_out_rows = StrictFields(stopped, "the report: 'early_stopping'").whole("held_out_rows")
    parts = told.get("by_class") if len(state.counters) > 1 else [told]
    if type(parts) is list and len(parts) == len(state.counters) and all(type(part) is dict for part in parts):
        proved = np.array([part.get("proved_inseparable") is True for part in parts])
        if proved.any():
            if not (isinstance(state, LinearState) and bool((came_to_zero(state) | ~proved).all())):
                raise ValueError("the report says that weights came back to zero, which they did not.")
            state.inseparable = proved


def same_report(stored: Any, computed: Any) -> bool:
    """Return whether two reports have the same fields and counts; another version may round a margin otherwise.

    A report of an older version lacks some fields.
    """
    if type(computed) is float or computed in ("inf", "-inf"):
        return type(stored) is float or stored in ("inf", "-inf")
    if type(stored) is not type(computed):
        return False
    if type(computed) is dict:
        lacking = computed.keys() - stored.keys()
        if lacking - set(OPTIONAL) or stored.keys() - computed.keys():
            return False
        return all(same_report(stored[name], computed[name]) for name in computed if name in stored)
    if type(computed) is list:
        return len(stored) == len(computed) and all(map(same_report, stored, computed))
    return bool(stored == computed)
