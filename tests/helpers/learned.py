"""Whether two models learned the same, to the last bit."""

import numpy as np


def learned_differently(one, other) -> list[str]:
    """Return the names of what two linear models learned differently.

    Bounds among the counters are not compared: their last digits depend on how rows are divided into batches, and on
    when kernels are compiled.
    """
    states = one.state_, other.state_
    names = [name for name in ("w", "b", "u", "beta", "s", "s_b") if getattr(states[0], name) is not None]
    pairs = {name: [getattr(state, name) for state in states] for name in names}
    pairs |= {name: [state.counters[name] for state in states] for name in ("visits", "updates")}
    pairs |= {"preparation": [np.array(repr(getattr(model, "preparation_", None))) for model in (one, other)]}
    return [name for name, (a, b) in pairs.items() if a.tobytes() != b.tobytes()]
