"""Pipelines of steps that files and graphs know, and tables that they take."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from rosenblatt import (
    AROW,
    AveragedPerceptron,
    Combinations,
    ExactScaler,
    MarginPerceptron,
    PassiveAggressive,
    Perceptron,
    SphereLift,
)


def numbers(n=60, d=4, seed=0):
    """Return rows of decimals, some of which sit on ties once they are scaled, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.choice([-0.3, -0.1, 0.0, 0.1, 0.2, 0.7], (n, d)) * 10.0 ** rng.integers(-2, 3, d)
    return X, rng.integers(0, 2, n)


def with_gaps(n=60, d=4, seed=0):
    """Return such rows with some numbers missing."""
    X, y = numbers(n, d, seed)
    X[np.random.default_rng(seed + 1).random(X.shape) < 0.1] = np.nan
    return X, y


def table(n=80, seed=0):
    """Return a data frame of numbers and words, some of both missing, and labels that are words."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(1, 80, n).astype(float),
            "fare": rng.exponential(30.0, n).round(2),
            "sex": rng.choice(["male", "female"], n).astype(object),
            "port": rng.choice(["S", "C", "Q"], n).astype(object),
            "class": rng.integers(1, 4, n),
            "label": rng.choice([0.5, 1.5], n),
        }
    )
    frame.loc[rng.random(n) < 0.1, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "port"] = np.nan
    score = frame["sex"].eq("female") * 2.0 + frame["fare"] / 60 - frame["class"] / 2 + rng.standard_normal(n) / 4
    return frame, np.where(score > 0.3, "yes", "no")


def learner(**options):
    return AveragedPerceptron(**{"random_state": 0, "max_iter": 3, **options})


def mixed(remainder="drop", **options):
    """Return the pipeline that people make for tables of numbers and words."""
    number = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    word = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore"))
    parts = [("number", number, ["age", "fare"]), ("word", word, ["sex", "port"])]
    return Pipeline([("prepare", ColumnTransformer(parts, remainder=remainder, **options)), ("learn", learner())])


OF_NUMBERS = {
    "learner": lambda: make_pipeline(learner()),
    "standard": lambda: make_pipeline(StandardScaler(), learner()),
    "no mean": lambda: make_pipeline(StandardScaler(with_mean=False), learner()),
    "no spread": lambda: make_pipeline(StandardScaler(with_std=False), learner()),
    "neither": lambda: make_pipeline(StandardScaler(with_std=False, with_mean=False), learner()),
    "maxabs": lambda: make_pipeline(MaxAbsScaler(), Perceptron(max_iter=4, random_state=0)),
    "exact": lambda: make_pipeline(ExactScaler(), Perceptron("pocket", max_iter=4, random_state=0)),
    "exact maxabs": lambda: make_pipeline(ExactScaler("maxabs"), learner()),
    "pairs": lambda: make_pipeline(ExactScaler(), Combinations(2), learner()),
    "triples alone": lambda: make_pipeline(MaxAbsScaler(), Combinations((2, 3)), learner()),
    "passthrough": lambda: Pipeline([("a", "passthrough"), ("b", StandardScaler()), ("c", learner())]),
    "one-hot": lambda: make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()),
    "one-hot dense": lambda: make_pipeline(OneHotEncoder(sparse_output=False, drop="if_binary"), learner()),
    "one-hot, scaled": lambda: make_pipeline(
        OneHotEncoder(), MaxAbsScaler(), StandardScaler(with_mean=False), learner()
    ),
    "by index": lambda: make_pipeline(
        ColumnTransformer(
            [("a", StandardScaler(), [0, -1]), ("b", "passthrough", slice(1, 2))], remainder=MaxAbsScaler()
        ),
        learner(),
    ),
    "by mask": lambda: make_pipeline(
        ColumnTransformer(
            [("a", ExactScaler(), [True, False, True, False]), ("b", "drop", [1])], remainder="passthrough"
        ),
        learner(),
    ),
}
FAMILY = [
    MarginPerceptron(margin=0.5, random_state=0),
    PassiveAggressive(C=math.inf, random_state=0),
    PassiveAggressive(C=0.1, loss="squared_hinge", multi_class="ovr", hypothesis="average", random_state=0),
    AROW(r=0.5, random_state=0),
    AROW(multi_class="ovr", fit_intercept=False, random_state=0),
    AROW(hypothesis="average", decay=0.01, random_state=0),
    AveragedPerceptron(decay=0.1, random_state=0),
]
"""Learners with margins, sized steps and variances."""
OF_GAPS = {
    "mean": lambda: make_pipeline(SimpleImputer(), StandardScaler(), learner()),
    "median": lambda: make_pipeline(StandardScaler(), SimpleImputer(strategy="median"), learner()),
    "most frequent": lambda: make_pipeline(SimpleImputer(strategy="most_frequent"), learner()),
    "constant": lambda: make_pipeline(SimpleImputer(strategy="constant", fill_value=-1.5), learner()),
    "one-hot of gaps": lambda: make_pipeline(OneHotEncoder(handle_unknown="ignore"), learner()),
}
LIFTED = {"sphere": lambda: make_pipeline(StandardScaler(), SphereLift(), learner())}
OF_TABLES = {
    "mixed": mixed,
    "rest passes": lambda: mixed("passthrough"),
    "rest scaled": lambda: mixed(StandardScaler()),
    "dense": lambda: mixed(sparse_threshold=0.0),
    "sparse": lambda: mixed(sparse_threshold=1.0),
    "short names": lambda: mixed("passthrough", verbose_feature_names_out=False),
    "words filled": lambda: make_pipeline(
        ColumnTransformer(
            [
                (
                    "a",
                    make_pipeline(
                        SimpleImputer(strategy="constant", fill_value="none"),
                        OneHotEncoder(categories=[["S", "C", "Q", "none"]], drop=["none"]),
                    ),
                    ["port"],
                ),
                ("b", OneHotEncoder(drop="first", handle_unknown="ignore"), ["sex", "class"]),
            ]
        ),
        learner(),
    ),
    "by slice": lambda: make_pipeline(
        ColumnTransformer(
            [("a", SimpleImputer(), slice("age", "fare")), ("b", OneHotEncoder(), [2, 4]), ("c", "drop", ["port"])],
            remainder="passthrough",
        ),
        learner(),
    ),
    "by type": lambda: make_pipeline(
        ColumnTransformer(
            [
                ("a", make_pipeline(SimpleImputer(), ExactScaler()), make_column_selector(dtype_include="number")),
                ("b", OneHotEncoder(handle_unknown="ignore"), ["sex"]),
                ("c", OneHotEncoder(), make_column_selector(dtype_include="datetime")),
            ],
            transformer_weights={"a": 0.5},
        ),
        learner(),
    ),
}


EXAMPLES = {
    name: (make, rows)
    for made, rows in ((OF_NUMBERS, numbers), (OF_GAPS, with_gaps), (LIFTED, numbers), (OF_TABLES, table))
    for name, make in made.items()
}


def example(name):
    """Return a pipeline after fit, its rows and their labels."""
    make, rows = EXAMPLES[name]
    X, y = rows()
    return make().fit(X, y), X, y
