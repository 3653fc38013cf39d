"""Features made from features, as scikit-learn transformers: lifts for circles, combinations, one scale for all."""

from rosenblatt.features.combinations import Combinations, n_combinations
from rosenblatt.features.lifts import SphereLift
from rosenblatt.features.scaling import ExactScaler

__all__ = ["Combinations", "ExactScaler", "SphereLift", "n_combinations"]
