"""The perceptron family as scikit-learn estimators, and what they say of themselves."""
