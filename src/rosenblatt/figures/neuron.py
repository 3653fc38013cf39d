"""A perceptron as a neuron, and the sum that it makes (CIML figures 4.1 and 4.2)."""

from __future__ import annotations

from rosenblatt.estimators.perceptron import Perceptron
from rosenblatt.figures.drawing import Shown, blank
from rosenblatt.figures.real_data import flowers
from rosenblatt.plots.activation import plot_activation
from rosenblatt.plots.neuron import plot_neuron


def figure_4_1() -> Shown:
    """Learn two kinds of iris by three inputs, and draw what becomes of one flower."""
    measures = ["sepal width", "petal length", "petal width"]
    X, y = flowers("setosa", "versicolor", *measures)
    model = Perceptron(random_state=0).fit(X, y)
    x = X[-1]
    picture = blank(5.2, 3.4)
    plot_neuron(model, x, picture.subplots(), feature_names=[f"{measure} (cm)" for measure in measures])
    activation = float(model.decision_function([x])[0])
    numbers = {
        "x": x.tolist(),
        "w": model.coef_[0].tolist(),
        "b": float(model.intercept_[0]),
        "activation": activation,
        "answer": model.predict([x])[0],
    }
    caption = (
        "A perceptron that has learned setosa from versicolor, as a neuron with three inputs. It is shown a flower "
        "with sepals {x[0]} cm wide and petals {x[1]} cm long and {x[2]} cm wide. Each connection multiplies its input "
        "by its weight ({w[0]:.1f}, {w[1]:.1f} and {w[2]:.1f}), that of the bias is {b:g}, and the neuron adds up: "
        "{activation:.2f}. This is above 0, so it fires, and the answer is {answer}."
    )
    return Shown(picture, caption, numbers)


def figure_4_2() -> Shown:
    """Learn two kinds of iris by all four measures, and draw how the activation of one flower is added up."""
    measures = ["sepal length", "sepal width", "petal length", "petal width"]
    X, y = flowers("versicolor", "virginica", *measures)
    model = Perceptron("average", random_state=0).fit(X, y)
    x, w, b = X[0], model.coef_[0], float(model.intercept_[0])
    picture = blank(5.2, 3.4)
    plot_activation(model, x, picture.subplots(), feature_names=[f"{measure} (cm)" for measure in measures])
    numbers = {
        "x": x.tolist(),
        "w": w.tolist(),
        "products": (w * x).tolist(),
        "b": b,
        "activation": float(model.decision_function([x])[0]),
        "answer": model.predict([x])[0],
        "right": float(100 * model.score(X, y)),
    }
    caption = (
        "The activation of one flower, by averaged weights that tell {right:.0f}% of 100 versicolor and virginica "
        "right: each measure times its weight, added up from above to below, and the bias. Sepals add "
        "{products[0]:.1f} and {products[1]:.1f}, petals {products[2]:.1f} and {products[3]:.1f}, the bias {b:.1f}: in "
        "all {activation:.1f}. This is below 0, so the answer is {answer}, which is right."
    )
    return Shown(picture, caption, numbers)
