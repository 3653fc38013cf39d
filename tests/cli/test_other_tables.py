"""Files that are not quite like those that a model was trained on: the message says what to change."""

import pytest

from helpers.commands import command, written

ROWS = [(f"{k % 9 + 20}.{k % 7}", f"{k % 5}.5", "yn"[k % 2]) for k in range(40)]


def joined(rows, delimiter=","):
    return "".join(delimiter.join(row) + "\n" for row in rows)


@pytest.fixture
def trained(tmp_path):
    """Return what trains on a file with some options."""

    def train(text, *options):
        path = written(tmp_path, "train.csv", text)
        assert command("train", path, "-o", tmp_path / "m", *options).exit_code == 0
        return tmp_path / "m"

    return train


def said(*words):
    result = command("predict", *words)
    assert (result.exit_code, result.stdout) == (2, "")
    return " ".join(result.stderr.split())


def test_a_decimal_comma_is_recognised_and_nobody_is_told_to_leave_rows_out(trained, tmp_path):
    model = trained("Age,Fare,y\n" + joined(ROWS), "-t", "y")
    text = joined([("Age", "Fare", "y"), *ROWS], ";").replace(".", ",")
    message = said(model, written(tmp_path, "new.csv", text))
    assert message.endswith("holds '20,0', expected a number, and it looks like a decimal comma: write 20.0.")
    message = said(model, written(tmp_path, "new.csv", 'Age,Fare\n"1,234",1\n'))
    assert message.endswith("and it has a comma: write 1.234 or 1234.")
    assert "--on-error skip leaves such rows out" in said(model, written(tmp_path, "new.csv", "Age,Fare\nold,1\n"))


def test_names_in_a_first_line_that_no_row_should_have(trained, tmp_path):
    model = trained(joined(ROWS), "-t", "-1")
    new = written(tmp_path, "new.csv", "sl,sw,kind\n" + joined(ROWS))
    message = said(model, new)
    assert "line 1: column 'c1' holds 'sl', expected a number, and this line looks like the names of" in message
    assert message.endswith("give --header if it is.")
    right = command("predict", model, written(tmp_path, "same.csv", joined(ROWS))).stdout
    assert len(right.splitlines()) == len(ROWS)
    assert command("predict", model, new, "--header").stdout == right
    without_labels = written(tmp_path, "less.csv", "sl,sw\n" + joined(row[:2] for row in ROWS))
    assert command("predict", model, without_labels, "--header").stdout == right
    later = command("predict", model, written(tmp_path, "later.csv", joined([*ROWS, ("sl", "sw", "kind")])))
    assert (later.exit_code, "--header" in later.stderr) == (2, False)


def test_a_column_that_is_not_there_may_be_added_empty(trained, tmp_path):
    text = "Age,Fare,y\n" + joined(ROWS)
    fewer = written(tmp_path, "new.csv", "Fare\n1.5\n")
    message = said(trained(text, "-t", "y"), fewer)
    assert message.endswith("no column 'Age', expected Age, Fare; found Fare: add it, empty where it is unknown.")
    assert said(trained(text, "-t", "y", "--missing", "error"), fewer).endswith("found Fare: add it.")


def test_a_renamed_column_is_an_error_without_a_note(trained, tmp_path):
    model = trained("Age,Fare,y\n" + joined(ROWS), "-t", "y")
    message = said(model, written(tmp_path, "new.csv", "Age,fare\n1,2\n"))
    assert "Note" not in message
    assert "(did you mean 'fare'?), expected Age, Fare; found Age, fare: rename that one." in message


def test_one_column_that_is_not_there_is_not_named_twice(trained, tmp_path):
    model = trained("Age,Fare,y\n" + joined(ROWS), "-t", "y")
    message = said(model, written(tmp_path, "new.csv", "Age,Fare\n1,2\n"), "--id", "passengerid")
    assert message.endswith("has no column 'passengerid'; found Age, Fare.")
