import json

from helpers.commands import AND, THREE, XOR, command, written
from rosenblatt import Certificate, Verdicts


def test_what_is_separable_is_proved(tmp_path):
    path, proof = written(tmp_path, "and.csv", AND), tmp_path / "c"
    result = command("separate", path, "-t", "label", "-o", proof)
    assert result.exit_code == 0
    assert result.stdout.startswith("Separable: ")
    assert Certificate.load(proof).check([[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"])
    result = command("check", proof, path, "-t", "label")
    assert result.exit_code == 0
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
    assert text.startswith("3 of 3 classes can be separated from the rest")
    assert "\n2 against the rest. Separable" in text
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
