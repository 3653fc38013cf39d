"""What notebooks show of estimators, reports and answers: text, a small picture, and nothing that acts."""

import math
import re
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from helpers.family_cases import LEARNERS
from rosenblatt import (
    Circle,
    HalfSpace,
    Outside,
    Perceptron,
    dataset_margin,
    detect_separation,
    fewest_mistakes,
    fit_circle,
    proof,
    separability,
    trace,
)
from rosenblatt.theory.verdicts import UndecidedSeparability

SVG = "{http://www.w3.org/2000/svg}"
CORNERS, XOR = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
LINE, SIDES = [[1.0], [0.0]], [1, -1]


def fitted(kind, y=SIDES):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return kind(random_state=0).fit(CORNERS if len(y) == 4 else LINE, y)


def parsed(html):
    assert len(html.encode()) < 10_000
    assert not re.search(r"\bid=|<script|<style|href|url\(", html)
    return ElementTree.fromstring(html)


def pictures(html):
    return list(parsed(html).iter(f"{SVG}svg"))


def of_estimator(model):
    """Return what we add to scikit-learn's HTML, which may be no XML."""
    shown = model._repr_mimebundle_()["text/html"]
    added = model._html_card()
    assert shown.endswith(added)
    assert model._repr_html_().endswith(added)
    assert type(model).__name__ in shown
    return added


@pytest.mark.parametrize("kind", LEARNERS)
def test_an_estimator_shows_scikit_learns_diagram_and_what_it_found_or_text(kind):
    model = fitted(kind)
    assert len(pictures(of_estimator(model))) == 1
    assert of_estimator(kind()) == ""
    with config_context(display="text"):
        assert list(model._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(model, "_repr_html_")


def test_chunks_and_one_class_are_shown_too():
    model = Perceptron().partial_fit([[1.0]], ["a"], classes=["a", "b"])
    assert "1 pass" in of_estimator(model)
    assert of_estimator(Perceptron().partial_fit([[1.0]], ["a"])).startswith("<div>")


def test_a_report_draws_the_mistakes_of_each_pass():
    report = fitted(Perceptron).report_
    (picture,) = pictures(report._repr_html_())
    line = [tuple(map(float, place.split(","))) for place in picture.find(f"{SVG}polyline").get("points").split()]
    assert len(line) == report.passes
    top, bottom = min(y for _, y in line), max(y for _, y in line)
    heights = [(bottom - y) / (bottom - top) * max(report.mistakes_by_pass) for _, y in line]
    np.testing.assert_allclose(heights, report.mistakes_by_pass, atol=0.05)
    named = ", ".join(map(str, report.mistakes_by_pass))
    assert picture.get("aria-label") == f"Mistakes by pass: {named}."


def test_a_trace_draws_its_mistakes_and_lists_a_few_updates():
    X = np.random.default_rng(0).normal(size=(50, 2))
    run = trace(X, X[:, 0] * X[:, 1] > 0, max_iter=5)
    html = run._repr_html_()
    (picture,) = pictures(html)
    assert len(picture.find(f"{SVG}polyline").get("points").split()) == run.passes
    assert len(parsed(html).findall(".//tbody/tr")) == 12 < run.updates
    assert f"12 of {run.updates} updates" in html
    assert html.count(str(run).splitlines()[0]) == 1


def test_labels_of_a_report_are_escaped_and_counted():
    names = np.array([f"<b>&{i}" for i in range(40)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        report = Perceptron(max_iter=2).fit(np.eye(40), names).report_
    root = parsed(report._repr_html_())
    assert root.findall(".//td")[0].text == "<b>&0"
    assert "12 of 40 classes" in "".join(root.itertext())


def test_a_proof_draws_its_squeeze():
    run = proof(LINE, SIDES)
    (picture,) = pictures(run._repr_html_())
    upper, norm, projection, lower = (
        [tuple(map(float, place.split(","))) for place in line.get("points").split()]
        for line in picture.findall(f"{SVG}polyline")
    )
    assert upper[-1] == lower[-1]  # where the bounds meet
    assert len(norm) == len(projection) == run.updates
    bottom, top = lower[0][1], lower[-1][1]
    per_pixel = math.sqrt(run.bound) * run.R / (bottom - top)
    np.testing.assert_allclose([(bottom - y) * per_pixel for _, y in norm], run.norm, atol=0.06 * per_pixel)
    np.testing.assert_allclose([(bottom - y) * per_pixel for _, y in projection], run.projection, atol=0.06 * per_pixel)


@pytest.mark.parametrize(
    "answer",
    [
        separability(LINE, SIDES),
        separability(CORNERS, XOR),
        separability(CORNERS, [0, 1, 2, 3]),
        dataset_margin(LINE, SIDES),
        dataset_margin(CORNERS, XOR),
        fewest_mistakes(CORNERS, XOR),
        detect_separation(LINE, SIDES),
        UndecidedSeparability(-0.3, 0.8, np.array([1.0]), 0.0, np.array([0.5, 0.5]), 1),
        UndecidedSeparability(1e-300, 1e300, np.array([1.0]), 0.0, np.array([0.5, 0.5]), 1),
        Circle([1, 2], 3),
        Outside([1e300, -1e-300], 1e-300),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_an_answer_is_words_and_a_picture(answer):
    html = answer._repr_html_()
    (picture,) = pictures(html)
    assert picture.get("aria-label")
    assert parsed(html).find("p").text


def test_the_weights_of_a_proof_are_drawn():
    verdict = separability(CORNERS, XOR)
    root = parsed(verdict._repr_html_())
    widths = [float(rect.get("width")) for rect in root.iter(f"{SVG}rect")]
    np.testing.assert_allclose(widths, 160.0 * verdict.alpha / verdict.alpha.max(), atol=0.1)


def test_classes_that_look_alike_have_a_line_each():
    long = "x" * 40
    verdicts = separability([[0.0], [1.0], [2.0]], [f"{long}1", f"{long}2", f"{long}3"])
    assert len(parsed(verdicts._repr_html_()).findall(".//tbody/tr")) == 3


def test_one_label_and_no_mistakes_have_no_picture():
    for answer in (separability([[1.0]], ["a"]), fewest_mistakes(LINE, SIDES), Circle([1, 2, 3], 4)):
        assert pictures(answer._repr_html_()) == []


@pytest.mark.parametrize(
    "shape", [HalfSpace([1, 0], -2), fit_circle(CORNERS, XOR)], ids=lambda shape: type(shape).__name__
)
def test_a_shape_without_a_picture_is_its_words(shape):
    assert "".join(parsed(shape._repr_html_()).itertext()) == str(shape)
