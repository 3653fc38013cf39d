"""How answers are found: nearest points of hulls, exact decisions, the rescaled perceptron. Nothing here is trusted."""
