"""Plot of the reliability curve, which compares predicted probabilities with the observed fractions of a class."""

from __future__ import annotations

from typing import Any

import numpy as np

from rosenblatt.messages import count_of
from rosenblatt.plots import axes
from rosenblatt.plots.axes import BLUE, Axes, axes_for, check_labels, closes_on_error, ink, shown_name
from rosenblatt.training.calibration import Reliability, rate_rows
from rosenblatt.training.rows import known_class_numbers


@closes_on_error
def plot_reliability(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw the reliability curve of a calibrated model on test rows.

    With two classes, the curve is about the probability of the second class. With more classes, it is about the largest
    probability of each row, which is that of the most probable class.

    The rows are sorted by probability and divided into ten groups of equal size. Rows of equal probability stay in the
    same group. A mark shows the mean probability of a group against the fraction of its rows that are of the class. On
    the diagonal the two are equal. The bar of a mark spans two standard deviations of this fraction on either side,
    computed from the mean probability. If the probabilities are perfect, the diagonal crosses about 95 % of the bars.

    Parameters
    ----------
    model : classifier with ``predict_proba``
        A model that `rosenblatt.calibrated` returned, or any other fitted classifier with probabilities.
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Test rows, on which the model was neither trained nor calibrated.
    y : array-like of shape (n,)
        Labels of the test rows.
    ax : matplotlib Axes, default=None
        Axes to draw on. None creates a new figure.

    Returns
    -------
    ax : matplotlib Axes
        The axes with the plot. The title gives the calibration error, and the error expected of perfect probabilities
        on the same number of rows.

    See Also
    --------
    rosenblatt.calibrated : Fit probabilities to the scores of a model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rosenblatt import AveragedPerceptron, ExactScaler, calibrated
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = ExactScaler().fit_transform(X)
    >>> model = AveragedPerceptron(random_state=0).fit(X[:200], y[:200])
    >>> model = calibrated(model, X[200:350], y[200:350])
    >>> ax = plot_reliability(model, X[350:], y[350:])
    >>> print(ax.get_title())
    Calibration error 6.3% on 219 rows
    (3.7% expected of perfect probabilities)
    """
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"plot_reliability needs a model with probabilities, got {type(model).__name__}, which has none: use "
            "rosenblatt.calibrated(model, X, y) first."
        )
    probabilities = np.asarray(model.predict_proba(X), dtype=np.float64)
    classes = np.asarray(model.classes_)
    labels = check_labels(y, len(probabilities), classes)
    n_classes = len(classes)
    found = Reliability.of(rate_rows(probabilities, known_class_numbers(labels, classes)), n_classes)
    ax = axes_for(ax)
    ax.plot([0, 1], [0, 1], "--", color=ink(), linewidth=1, zorder=0)
    p, share, counts = np.array(found.probability), np.array(found.share), np.array(found.rows)
    bars = 2 * np.sqrt(p * (1 - p) / counts)
    ax.errorbar(p, share, yerr=bars, fmt="o-", color=BLUE, ecolor=BLUE, elinewidth=1, capsize=3)
    of = f"probability of {shown_name(classes[1])}" if n_classes == 2 else "largest probability"
    hits = f"share of {shown_name(classes[1])}" if n_classes == 2 else "share of correct rows"
    ax.set(xlabel=f"{of} (mean of a group)", ylabel=f"{hits} in the group", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    ax.set_aspect("equal")
    ax.set_title(
        f"Calibration error {100 * found.error:.1f}% on {count_of(len(labels), 'row')}\n"
        f"({100 * found.chance:.1f}% expected of perfect probabilities)",
        fontsize="medium",
    )
    axes.tidy(ax)
    return ax
