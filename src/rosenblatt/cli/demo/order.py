"""Why rows are shuffled: all positives first, against the same rows in random order."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from rosenblatt.cli.demo.telling import draw, end, heading, say, show_lines
from rosenblatt.data.generators import make_sorted
from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.tables import Table
from rosenblatt.theory.convergence.bounds import mistake_bound
from rosenblatt.theory.inputs import bound_text

_SEEDS = 10
_CODE = (
    "from rosenblatt import Perceptron, data\n"
    "X, y = data.make_sorted(1000, random_state=0)\n"
    "Perceptron(shuffle=False, max_iter=10_000).fit(X, y).n_iter_"
)


def show(out: Path) -> None:
    """Train on sorted rows as they come, shuffled once and shuffled for each pass; compare passes and mistakes."""
    heading("Why rows are shuffled")
    X, y = make_sorted(1000, random_state=0)
    say(
        f"{len(X):,} points that a hyperplane separates: first 500 positives, then 500 negatives. A perceptron that "
        "visits them in this order learns within a few rows to say yes, is right on the rest of the positives and "
        "learns nothing from them; then it learns within a few rows to say no. So a pass over a thousand rows makes "
        "but a handful of updates."
    )
    orders: dict[str, Any] = {"as sorted": False, "shuffled once": "once", "anew each pass": True}
    models = {name: _models(X, y, shuffle) for name, shuffle in orders.items()}
    show_lines(_table(models).to_text())
    sorted_run, anew = models["as sorted"][0], models["anew each pass"]
    passes = sum(model.n_iter_ for model in anew) / len(anew)
    say(
        f"All of them end with every point right, as the data is separable. As sorted it took "
        f"{sorted_run.n_iter_ / passes:.3g} times the passes of new orders (means over {_SEEDS} seeds). The mistakes "
        f"differ less: the bound on them, {bound_text(mistake_bound(X, y))} here, holds for every order, and says "
        "nothing of how many passes they are spread over."
    )
    say("So Perceptron shuffles anew for each pass unless told otherwise, and warns of sorted rows in a fixed order.")
    picture = draw(out / "demo-order.png", (7, 4.6), lambda figure: _draw(figure, models))
    end(picture, _CODE, "500 of one class, then 500 of the other")


def _models(X: Any, y: Any, shuffle: bool | str) -> list[Perceptron]:
    """Return a model for each seed, or the one that there is where nothing is drawn."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the first .* one label")  # it is what the demo shows
        return [
            Perceptron(shuffle=shuffle, max_iter=10_000, random_state=seed).fit(X, y)
            for seed in range(_SEEDS if shuffle else 1)
        ]


def _table(models: dict[str, list[Perceptron]]) -> Table:
    runs = models.values()
    return Table(
        {
            "order": list(models),
            "runs": [len(some) for some in runs],
            "passes": [sum(model.n_iter_ for model in some) / len(some) for some in runs],
            "mistakes": [sum(model.n_updates_ for model in some) / len(some) for some in runs],
            "mistakes in a pass": [
                sum(model.n_updates_ for model in some) / sum(model.n_iter_ for model in some) for some in runs
            ],
        }
    )


def _draw(figure: Any, models: dict[str, list[Perceptron]]) -> None:
    from rosenblatt.plots import plot_orders

    plot_orders(models, figure.subplots())
