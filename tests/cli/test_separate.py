import json
import signal

import pandas

from helpers.commands import AND, THREE, XOR, command, ran, refused, written
from helpers.separable_sets import planted
from rosenblatt import Certificate, Verdicts, detect_separation, fewest_mistakes, separability
from rosenblatt import progress as limits
from rosenblatt.theory.search import wolfe


def test_what_is_separable_is_proved(tmp_path):
    path, proof = written(tmp_path, "and.csv", AND), tmp_path / "c"
    result = ran("separate", path, "-t", "label", "-o", proof)
    assert result.stdout.startswith("Separable: ")
    assert Certificate.load(proof).check([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"])
    result = ran("check", proof, path, "-t", "label")
    assert result.stdout.startswith("The certificate holds")


def test_a_certificate_is_refused_for_other_data(tmp_path):
    path, proof = written(tmp_path, "xor.csv", XOR), tmp_path / "c"
    assert command("separate", path, "-t", "label", "-o", proof).stdout.startswith("Not separable: ")
    assert command("check", proof, path, "-t", "label").exit_code == 0
    other = written(tmp_path, "and.csv", AND)
    result = command("check", proof, other, "-t", "label")
    assert result.exit_code == 1
    assert "does not hold" in result.stdout
    result = command("check", proof, other, "-t", "label", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["holds"] is False


def test_each_of_three_classes_against_the_rest(tmp_path):
    path, proof = written(tmp_path, "three.svm", THREE), tmp_path / "c"
    text = command("separate", path, "-o", proof).stdout
    assert text.startswith("3 of 3 classes are linearly separable from the rest")
    assert "\nClass 2 against the rest. Separable" in text
    assert list(Verdicts.load(proof)) == [1, 2, 3]
    assert command("check", proof, path).exit_code == 0


def test_json(tmp_path):
    path = written(tmp_path, "and.csv", AND)
    answer = json.loads(command("separate", path, "-t", "label", "--json").stdout)
    assert answer["verdict"] == "separable"
    assert 0 < answer["margin_low"] <= answer["margin_high"]
    assert (answer["rows"], answer["features"], answer["certificate"]) == (4, 2, None)


def test_an_altered_certificate_is_no_certificate(tmp_path):
    path, proof = written(tmp_path, "and.csv", AND), tmp_path / "c"
    command("separate", path, "-t", "label", "-o", proof)
    record = json.loads(proof.read_text())
    proof.write_text(json.dumps(record | {"surprise": 1}))
    assert command("check", proof, path, "-t", "label").exit_code == 2
    proof.write_text("[1]")
    assert command("check", proof, path, "-t", "label").exit_code == 2


GROUPED = "a,b,label\n" + "".join(f"{a},{b},{label}\n" for a, b, label in [
    (0, 1, "no"), (0, 2, "yes"), (0, 3, "no"), (0, 4, "yes"), (1, 2, "yes"), (1, 3, "yes")
])  # fmt: skip


def test_it_says_what_a_logistic_regression_would_do(tmp_path):
    path = written(tmp_path, "grouped.csv", GROUPED)
    text = " ".join(command("separate", path, "-t", "label").stdout.split())
    assert "Logistic regression on these rows. Quasi-complete separation: a tends to +infinity; intercept, b " in text
    answer = json.loads(command("separate", path, "-t", "label", "--json").stdout)
    assert answer["logistic_regression"]["kind"] == "quasi-complete"
    assert answer["logistic_regression"]["coefficients"] == {"intercept": "finite", "a": "+inf", "b": "finite"}
    several = json.loads(command("separate", written(tmp_path, "three.svm", THREE), "--json").stdout)
    assert set(several["logistic_regression"]["coefficients"]) == {"2", "3"}
    assert several["logistic_regression"]["baseline"] == "1"
    wide = written(tmp_path, "wide.svm", "1 1:1 200:1\n2 3:1\n")
    assert json.loads(command("separate", wide, "--json").stdout)["logistic_regression"] is None


def test_the_verdict_comes_before_the_margin(tmp_path):
    path = written(tmp_path, "and.csv", AND)
    loose = json.loads(command("separate", path, "-t", "label", "--no-margin", "--json").stdout)
    close = json.loads(command("separate", path, "-t", "label", "--json").stdout)
    assert loose["verdict"] == close["verdict"] == "separable"
    assert loose["margin_low"] <= close["margin_low"] <= close["margin_high"] <= loose["margin_high"]
    assert command("separate", path, "-t", "label", "--max-seconds", "0").exit_code == 2


def test_ctrl_c_keeps_the_bracket_that_was_reached(tmp_path, monkeypatch):
    """It comes while the margin is computed: the verdict is printed, the certificate is written and holds."""

    def interrupt(self, steps, low, high):
        signal.raise_signal(signal.SIGINT)
        return self.expired()

    monkeypatch.setattr(limits.Limits, "bracket", interrupt)
    monkeypatch.setattr(wolfe, "BATCH", 1)
    X, y = planted(400, 70, 1e-3)
    rows = "".join(
        f"{int(label)} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(x)) + "\n"
        for x, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    path, proof = written(tmp_path, "thin.svm", rows), tmp_path / "c"
    result = command("separate", path, "-o", proof)
    assert result.exit_code == 130
    assert result.stdout.startswith("Separable: a hyperplane strictly separates the two classes of the 400 points.")
    assert "lies between" in " ".join(result.stdout.split())
    assert Certificate.load(proof).check(X, y)


FACTORS = "ward,age,ill\n" + "".join(f"{ward},{age},{ill}\n" for ward, age, ill in [
    ("a", 1, "no"), ("a", 2, "yes"), ("a", 3, "no"), ("b", 1, "yes"), ("b", 2, "no"), ("b", 4, "yes"), ("c", 2, "yes")
])  # fmt: skip


def test_the_first_level_of_a_factor_is_left_out_as_separation_does(tmp_path):
    path = written(tmp_path, "factors.csv", FACTORS)
    answer = json.loads(command("separate", path, "-t", "ill", "--json").stdout)["logistic_regression"]
    assert answer["coefficients"] == {"intercept": "finite", "ward=b": "finite", "ward=c": "+inf", "age": "finite"}
    frame = pandas.read_csv(path)
    found = detect_separation(frame[["ward", "age"]], frame["ill"])
    assert found.coefficients == answer["coefficients"]
    found.save(tmp_path / "s")
    assert command("check", tmp_path / "s", path, "-t", "ill").stdout.startswith("The certificate holds")
    other = written(tmp_path, "other.csv", FACTORS.replace("c,2,yes", "c,2,no"))
    assert command("check", tmp_path / "s", other, "-t", "ill").exit_code == 1


def test_a_certificate_for_other_labels_says_so(tmp_path):
    separability([[0, 0], [0, 1], [1, 0], [1, 1]], [False, False, False, True]).save(tmp_path / "c")
    result = command("check", tmp_path / "c", written(tmp_path, "and.csv", AND), "-t", "label")
    assert result.exit_code == 1
    text = " ".join(result.stdout.split())
    assert "Its positive label is True, and the labels here are 'no', 'yes'." in text


def test_a_bracket_of_mistakes_is_checked_too(tmp_path):
    fewest_mistakes([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]).save(tmp_path / "c")
    answer = json.loads(
        command("check", tmp_path / "c", written(tmp_path, "x.csv", XOR), "-t", "label", "--json").stdout
    )
    assert (answer["holds"], answer["low"], answer["high"]) == (True, 1, 1)


def test_rows_that_are_left_out_are_counted(tmp_path):
    path = written(tmp_path, "bad.csv", AND + "x,1,no\n")
    result = ran("separate", path, "-t", "label", "--on-error", "skip", "--kind", "a=number")
    assert "rows skipped: 1, such as" in " ".join(result.stderr.split())


def test_many_coefficients_are_left_to_python(tmp_path):
    wide = written(tmp_path, "wide.svm", "1 1:1 200:1\n2 3:1\n")
    assert "A logistic regression on these rows has 201 coefficients" in command("separate", wide).stdout


def test_a_certificate_says_how_its_rows_are_made(tmp_path):
    rows = written(tmp_path, "rows.csv", "id,a,b,label\n1,0,0,no\n2,0,1,no\n3,1,,no\n4,1,1,yes\n")
    proof = tmp_path / "c"
    given = ["-t", "label", "--drop", "id", "--missing", "zero"]
    assert command("separate", rows, *given, "-o", proof).exit_code == 0
    assert command("check", proof, rows).stdout.startswith("The certificate holds")
    assert command("check", proof, rows, *given).exit_code == 0
    assert command("check", proof, rows, "-t", "-1").exit_code == 0
    for words, part in (
        (["-t", "a"], "--target a contradicts {proof}, whose rows were read with --target label: leave it out."),
        (["--missing", "mean"], "--missing mean contradicts {proof}, whose rows were read with --missing zero"),
        (["--drop", "b"], "--drop b contradicts {proof}, whose rows were read without it: leave it out."),
        (["--kind", "a=category"], "--kind a=category contradicts {proof}, whose rows were read with --kind a=number"),
    ):
        assert part.format(proof=proof) in refused("check", proof, rows, *words)
    other = written(tmp_path, "other.csv", "a;b;label\n0;0;no\n0;1;no\n1;0;no\n1;1;yes\n")
    assert command("check", proof, other).exit_code == 0


def test_a_certificate_without_a_preparation_is_checked_by_the_options(tmp_path):
    path, proof = written(tmp_path, "and.csv", AND), tmp_path / "c"
    separability([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]).save(proof)
    assert "preparation" not in json.loads(proof.read_text())
    assert command("check", proof, path, "-t", "label").exit_code == 0
    assert "--target" in refused("check", proof, path)


def test_values_that_a_certificate_does_not_know_are_not_left_out_silently(tmp_path):
    path, proof = written(tmp_path, "c.csv", "c,label\nred,1\nblue,0\n" * 3), tmp_path / "c"
    assert command("separate", path, "-t", "label", "-o", proof).exit_code == 0
    other = written(tmp_path, "d.csv", "c,label\nred,1\nblue,0\n" * 2 + "green,1\nblue,0\n")
    result = command("check", proof, other)
    assert result.exit_code == 1
    assert "has values that do not occur in the rows of" in " ".join(result.stdout.split())


def test_a_certificate_about_scaled_rows_is_refused(tmp_path):
    path, proof = written(tmp_path, "and.csv", AND), tmp_path / "c"
    assert command("separate", path, "-t", "label", "-o", proof).exit_code == 0
    record = json.loads(proof.read_text())
    scale = {"method": "standard", "features": [0], "centre": [0.5], "spread": [0.5]}
    proof.write_text(json.dumps(record | {"preparation": record["preparation"] | {"scale": scale}}))
    assert "certifies scaled rows" in refused("check", proof, path)
    proof.write_text(json.dumps(record | {"preparation": {"format": "csv"}}))
    assert command("check", proof, path).exit_code == 2
    proof.write_text(json.dumps(record | {"preparation": 3}))
    assert command("check", proof, path).exit_code == 2
