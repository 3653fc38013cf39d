"""Features made from features, as scikit-learn transformers: the lift for circles, and combinations."""

from rosenblatt.features.combinations import Combinations, n_combinations
from rosenblatt.features.lifts import SphereLift

__all__ = ["Combinations", "SphereLift", "n_combinations"]
