"""Training on arrays."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from helpers.examples import small_set
from helpers.naive import activation, run
from rosenblatt import AveragedPerceptron, Perceptron, VotedPerceptron, data
from rosenblatt.training.linear import PassRunner

# What fit promises: stopping, warnings, the pocket, early stopping, history, interrupts, progress.


quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_stops_after_a_clean_pass_and_scores_one():
    X, y = data.make_separable(200, 10, 0.05, random_state=0)
    model = Perceptron(max_iter=10_000, random_state=0).fit(X, y)
    assert model.converged_
    assert model.score(X, y) == 1.0
    assert model.history_["mistakes"][-1] == 0
    assert (model.history_["mistakes"][:-1] > 0).all()
    assert model.n_iter_ == len(model.history_)
    assert model.n_updates_ == model.history_["mistakes"].sum()


@pytest.mark.parametrize(
    "model", [AveragedPerceptron(), VotedPerceptron(), Perceptron("pocket"), Perceptron("average")]
)
def test_hypotheses_for_noisy_data_do_not_warn(model):
    model.fit(*data.make_xor())
    assert not model.converged_


@quiet
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
@pytest.mark.parametrize("seed", range(5))
def test_pocket_is_the_best_of_the_pass_ends_and_the_longest_survivors(multi_class, seed):
    X, labels = small_set("gauss", n=60, seed=seed)
    signs = np.where(labels == 1, 1, -1)

    def mistakes(w, b):
        return sum(s * activation(w, b, x) <= 0 for s, x in zip(signs.tolist(), X.tolist(), strict=True))

    candidates = []
    for passes in range(1, 7):
        naive = run(X, signs, passes)
        candidates.append(mistakes(naive.w.tolist(), naive.b))
        done = sum(count for *_, count in run(X, signs, passes - 1).voters)
        best, start = (0, None), 0
        for w, b, count in naive.voters[:-1]:  # the last one is the end of the pass
            survived = start + count - max(done, start + 1) if start + count > done else 0
            if survived > best[0]:
                best = (survived, (w, b))
            start += count
        if best[1] is not None:
            candidates.append(mistakes(*best[1]))
    model = Perceptron("pocket", max_iter=6, shuffle=False, multi_class=multi_class).fit(X, signs)
    assert model.state_.pocket.mistakes.tolist() == [min(candidates)]
    assert mistakes(model.coef_[0].tolist(), model.intercept_[0]) == min(candidates)


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_pocket_is_never_worse_than_any_pass_end(multi_class):
    X, y = small_set("gauss", n=150, classes=3, seed=1)
    pocket = Perceptron("pocket", max_iter=12, random_state=0, multi_class=multi_class).fit(X, y)
    machines = pocket.state_
    table = Perceptron(max_iter=12, random_state=0, multi_class=multi_class).score_by_pass(X, y)
    if multi_class == "direct":
        least = round(150 * min(table["training_error"]))
        assert machines.pocket.mistakes[0] <= least
        assert (pocket.predict(X) != y).sum() == machines.pocket.mistakes[0]
    assert (machines.pocket.mistakes < 150).all()


def test_sorted_data_gets_a_warning():
    X, y = data.make_sorted(1000, 5, 0.1, random_state=0)
    for learn in (Perceptron(shuffle=False, max_iter=1000).fit, Perceptron().partial_fit):
        with pytest.warns(UserWarning, match="the first 500 rows all have one label") as seen:
            learn(X, y)
        assert seen[0].filename == __file__
    Perceptron(shuffle="once", max_iter=1000).fit(X, y)
    short = np.r_[0:99, 500:599]
    Perceptron(shuffle=False, max_iter=10_000).fit(X[short], y[short])


@quiet
def test_orders_differ_as_they_should():
    X, y = small_set("gauss", n=80, seed=5)
    fixed, once, anew = (
        Perceptron(max_iter=3, shuffle=shuffle, random_state=0).fit(X, y).coef_.tobytes()
        for shuffle in (np.False_, "once", np.True_)
    )
    assert len({fixed, once, anew}) == 3
    assert fixed == Perceptron(max_iter=3, shuffle=False).fit(X, y).coef_.tobytes()
    assert anew == Perceptron(max_iter=3, random_state=0).fit(X, y).coef_.tobytes()
    for seed in (np.int64(0), np.random.RandomState(7), np.random.default_rng(7), None):
        model = Perceptron(max_iter=1, random_state=seed).fit(X, y)
        replayed = Perceptron(max_iter=1, random_state=model.seed_).fit(X, y)
        assert model.coef_.tobytes() == replayed.coef_.tobytes()


def test_votes_have_no_weights():
    model = VotedPerceptron().fit([[1.0], [-1.0]], [1, 0])
    assert not hasattr(model, "coef_")
    with pytest.raises(AttributeError, match="no single coef_"):
        _ = model.coef_
    assert model.average_coef_.shape == (1, 1)


def test_not_fitted():
    for call in ("predict", "decision_function", "on_boundary"):
        with pytest.raises(NotFittedError):
            getattr(Perceptron(), call)([[1.0]])
    for name in ("coef_", "report_", "history_", "n_iter_", "converged_", "seed_"):
        assert not hasattr(Perceptron(), name)
        with pytest.raises(NotFittedError):
            getattr(Perceptron(), name)


@quiet
def test_an_interrupt_leaves_a_usable_model():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200_000, 60)), rng.integers(0, 2, 200_000)
    model = Perceptron(max_iter=100_000)
    model.fit(X[:100], y[:100])  # compiled

    def interrupt():
        time.sleep(0.4)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background start without it
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    assert model.predict(X[:5]).shape == (5,)
    assert model.n_updates_ == model.history_["mistakes"].sum() > 0
    assert not model.converged_
    model.set_params(warm_start=True, max_iter=1).fit(X, y)  # and it can go on


@quiet
def test_progress_in_plain_lines(capsys):
    Perceptron(max_iter=3, shuffle=False, verbose=1).fit(*data.make_xor())
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("pass 1: ")
    assert "mistakes" in lines[0]
    assert lines[3].startswith("stopped after 3 passes, with mistakes left")


def test_overflowing_weights_are_refused():
    with pytest.raises(ValueError, match="overflowed float64"):
        Perceptron(max_iter=50).fit([[1.7e308, 0.0], [1.6e308, 1.0], [1.5e308, -1.0]], [1, 0, 1])


@quiet
@pytest.mark.parametrize("chunk", [1, 30, 100, 400])
def test_a_sorted_stream_gets_one_warning(chunk):
    X, y = data.make_sorted(400, random_state=0)

    def stream(order):
        model = Perceptron()
        for start in range(0, 400, chunk):
            some = order[start : start + chunk]
            model.partial_fit(X[some], y[some])

    with pytest.warns(UserWarning, match="all have one label") as seen:
        stream(np.arange(400))
    assert len(seen) == 1
    stream(np.random.default_rng(0).permutation(400))


@quiet
def test_counters_are_totals_whatever_weights_are_kept():
    X, y = small_set("gauss", n=300, seed=2)
    model = Perceptron(early_stopping=True, random_state=0, max_iter=50).fit(X, y)
    assert model.n_updates_ == model.report_.updates == model.history_["mistakes"].sum()
    assert model.n_iter_ == len(model.history_)


def test_the_warning_of_all_runs_has_one_text():
    X, y = small_set("gauss", n=60, classes=3, seed=1)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ConvergenceWarning)
        made = [
            Perceptron(random_state=seed, max_iter=2 + seed).fit(X, y).history_["mistakes"][-1] for seed in range(4)
        ]
    assert len(set(made)) > 1
    assert len(seen) == 4
    assert len({str(warning.message) for warning in seen}) == 1


def test_without_a_seed_runs_follow_numpys_global_generator():
    X, y = small_set("gauss", n=60, seed=1)
    seeds = []
    for seed in (7, 7, 8):
        np.random.seed(seed)  # noqa: NPY002 - the generator that scikit-learn's None stands for
        rows = data.make_separable(5, 2, 0.1)[0]
        seeds.append((AveragedPerceptron().fit(X, y).seed_, AveragedPerceptron().fit(X, y).seed_, rows.tobytes()))
    assert seeds[0] == seeds[1]
    assert not {*seeds[0]} & {*seeds[2]}
    assert seeds[0][0] != seeds[0][1], "each fit draws"


def test_an_interrupted_run_is_not_separated(monkeypatch):
    X, y = data.make_separable(200, 5, 0.1, random_state=0)
    model = Perceptron(warm_start=True, max_iter=1000, shuffle=False).fit(X, y)
    assert model.converged_
    visit = PassRunner._visit_slice

    def interrupted(self, *arguments):
        visit(self, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(PassRunner, "_visit_slice", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, -y)
    assert not model.converged_
    assert model.n_updates_ == model.history_["mistakes"].sum()


def test_a_pocket_is_judged_anew_on_other_data():
    X, y = data.make_separable(100, 5, 0.1, random_state=0)
    model = Perceptron("pocket", warm_start=True, max_iter=100, random_state=0).fit(X, y)
    model.fit(X, -y)
    assert model.score(X, -y) == 1.0
    three = np.where(np.arange(100) % 5 == 0, 7, y)
    assert model.fit(X, three).predict(X).shape == (100,)


def test_reports_of_extreme_numbers():
    points, labels = np.array([[1.0, 2.0], [-2.0, 1.0], [-1.0, -1.0]]), [1, 1, -1]
    plain = Perceptron(shuffle=False, fit_intercept=False).fit(points, labels).report_
    for power in (-700, -300, 300, 600):
        report = Perceptron(shuffle=False, fit_intercept=False).fit(points * 2.0**power, labels).report_
        assert report.converged
        assert report.updates == plain.updates <= report.bound
        assert report.radius == pytest.approx(plain.radius * 2.0**power)
        assert report.margin_low <= plain.margin_low * 2.0**power * (1 + 1e-9)
        assert report.margin_high >= plain.margin_low * 2.0**power
    weighted = Perceptron(shuffle=False).fit([[1.0], [-1.0]], [1, -1], sample_weight=[1e200, 1e200]).report_
    assert weighted.bound >= weighted.updates
    skipped = Perceptron(fit_intercept=False).fit([[1e-150], [-1e-150], [5.0]], [1, -1, 1], sample_weight=[1, 1, 0])
    assert skipped.report_.radius == pytest.approx(1e-150)


# Training and test error after each pass of a run.


@quiet
@pytest.mark.parametrize("names", [[-1, 1], ["no", "yes"]])
def test_score_by_pass_checks_labels_once_and_counts_as_score_does(names, monkeypatch):
    X, y = small_set("gauss", n=90, seed=3)
    labels = np.array(names)[(y > 0).astype(int)]
    calls = []
    score = Perceptron.score
    monkeypatch.setattr(Perceptron, "score", lambda self, *pair: calls.append(1) or score(self, *pair))
    learner = Perceptron(max_iter=6, random_state=2)
    table = learner.score_by_pass(X.tolist(), labels.tolist(), X[::2], labels[::2])
    assert len(table) == 6
    assert not hasattr(learner, "classes_")
    assert len(calls) == 2  # of training rows, and of test rows
    monkeypatch.undo()
    for p in range(6):
        model = Perceptron(max_iter=p + 1, random_state=2).fit(X, labels)
        assert table["training_error"][p] == 1 - model.score(X, labels)
        assert table["mistakes"][p] == model.history_["mistakes"][-1]
        assert table["test_error"][p] == 1 - model.score(X[::2], labels[::2])
    for wrong in (labels[:5], ["maybe"] * 90 if names == [-1, 1] else [0] * 90):
        with pytest.raises(ValueError, match=r"inconsistent numbers of samples|[Mm]ix of label"):
            Perceptron(max_iter=6).score_by_pass(X, labels, X, wrong)


def test_score_by_pass_knows_every_way_to_stop():
    X, y = small_set("gauss", n=90, seed=3)
    limited = Perceptron(max_updates=20, random_state=0)
    with pytest.warns(ConvergenceWarning):
        fitted = Perceptron(max_updates=20, random_state=0).fit(X, y)
    assert limited.score_by_pass(X, y)["mistakes"] == fitted.history_["mistakes"].tolist()
    early = AveragedPerceptron(early_stopping=True, random_state=0, max_iter=50)
    assert (
        len(early.score_by_pass(X, y))
        == AveragedPerceptron(early_stopping=True, random_state=0, max_iter=50).fit(X, y).n_iter_
    )
    with pytest.raises(ValueError, match="X_test and y_test must be given together"):
        early.score_by_pass(X, y, X)
