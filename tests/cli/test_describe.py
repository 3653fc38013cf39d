"""``rosenblatt describe``: a table that fits a terminal, then what to look at and what to answer."""

import json
from pathlib import Path

import pytest

from helpers.commands import THREE, command, ran, refused, written
from helpers.titanic import titanic_like
from rosenblatt import data


@pytest.fixture(autouse=True)
def _short_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def described(*words, input=None):
    result = command("describe", *words, input=input)
    assert (result.exit_code, result.stderr) == (0, "")
    assert all(len(line) <= 80 for line in result.stdout.splitlines())
    return result.stdout


def test_a_table_is_described_with_no_option():
    text = described(written(Path(), "t.csv", titanic_like(200, 0)))
    assert "t.csv, from all 200 rows column kind" in " ".join(text.split())
    lines = [line.split() for line in text.splitlines()]
    assert ["PassengerId", "integer", "left", "out", "0", "200"] in [line[:6] for line in lines]
    assert "- PassengerId: counts the rows: 1, 2, 3, ...; --keep PassengerId uses it" in text
    assert "To answer before training:" in text
    assert "which column is the label? Give --target, one of PassengerId, Name, Sex," in " ".join(text.split())


def test_with_a_target_there_is_nothing_to_answer():
    file = written(Path(), "t.csv", titanic_like(200, 0))
    text = described(file, "--target", "Survived", "--keep", "Booked")
    assert "To answer" not in text
    assert "Booked" not in text.partition("Look at:")[2]
    assert command("describe", file, "-t", "Survived", "--keep", "Name").exit_code == 0


def test_every_question_names_the_options_to_give():
    rows = "".join(f'"1,{234 + k}",{k % 7},{0.5 + k}\n' for k in range(40)) + '"1,999",some,3.5\n'
    file = written(Path(), "t.csv", "price,count,amount\n" + rows)
    text = " ".join(described(file, "--target", "amount").split())
    for words in (
        "column 'price' holds numbers such as '1,234', whose comma may come before decimals or between thousands: "
        "give --kind price=decimal-comma or --kind price=thousands-comma.",
        "column 'count' holds numbers in 40 of its first 41 rows but not in 1, such as 'some'",
        "use --drop count to leave out what is not a feature, or give --kind count=number, or --missing-value some if "
        "that stands for a missing value.",
        "column 'amount', the target, has 40 different numbers in 41 rows, such as 0.5, which looks like a regression "
        "target: choose a column of classes with --target",
    ):
        assert words in text
    answers = ["--kind", "price=decimal-comma", "--kind", "count=category", "-t", "count"]
    assert "To answer" not in described(file, *answers)


def test_a_first_line_of_text_is_mentioned():
    text = described(written(Path(), "t.csv", "red,yes\nblue,no\nred,no\n"), "-t", "-1")
    assert "though 'red' occurs again below; give --no-header if it is a row." in " ".join(text.split())


@pytest.mark.parametrize("cells", [1, 30])
def test_long_cells_are_cut(cells):
    header = ",".join(f"a_very_long_name_for_a_column_{k}" for k in range(cells)) + ",y\n"
    rows = "".join(",".join(["a long value in words " + "x" * (k % 2 * 50)] * cells) + f",{k % 2}\n" for k in range(30))
    assert "…" in described(written(Path(), "t.csv", header + rows), "-t", "y")


def test_svmlight_standard_input_and_json():
    assert "labels                  1: 4, 2: 4, 3: 4" in described(written(Path(), "a.svm", THREE))
    uneven = written(Path(), "b.svm", "1 1:2000 2:0.5\n-1 1:1000 2:0.25\n")
    advice = "Features differ widely in size (feature 2 reaches 0.5, feature 1 2000): for training, --scale standard"
    assert advice in " ".join(described(uneven).split())
    assert json.loads(command("describe", uneven, "--json").stdout)["notes"][0].startswith(advice)
    text = described("-", "--format", "csv", "-t", "y", input="a,y\n1,x\n2,z\n")
    assert "2 columns of -, from all 2 rows" in text
    answer = json.loads(command("describe", written(Path(), "t.csv", "a,y\n1,x\n2,z\n"), "-t", "y", "--json").stdout)
    assert [row["becomes"] for row in answer["rows"]] == ["1 feature", "target"]
    assert (answer["left_out"], answer["questions"]) == ({}, [])


def test_a_column_that_is_not_there_is_an_error():
    assert "has no column 'why' for the target: its columns are a, y" in refused(
        "describe", written(Path(), "t.csv", "a,y\n1,x\n2,z\n"), "-t", "why"
    )


def test_lists_and_objects_have_no_count_of_missing_values():
    rows = "".join(f'{{"tags": ["a"], "where": {{"x": 1}}, "x": {k % 7}, "y": {k % 2}}}\n' for k in range(30))
    lines = [line.split() for line in described(written(Path(), "t.jsonl", rows), "-t", "y").splitlines()]
    assert ["tags", "nested", "left", "out", "-", "-"] in lines
    assert ["where", "nested", "left", "out", "-", "-"] in lines


def test_rows_without_a_label_are_pointed_out():
    file = written(Path(), "t.csv", "x,y\n" + "".join(f"{k % 9},{'ab'[k % 2] if k % 5 else ''}\n" for k in range(40)))
    text = " ".join(described(file, "-t", "y").split())
    assert "Look at: - y: 8 rows have no label and are left out" in text
    assert "To answer" not in text


def risky():
    """Return a table with an id, a number for missing values, a column that tells the label, and two spellings."""
    lines = []
    for k in range(120):
        yes = k * 37 % 120 < 60
        income, label = -999 if k % 11 == 0 else 20 + 7 * k % 60, ("Yes" if k % 9 == 0 else "yes") if yes else "no"
        lines.append(f"{7919 * k % 100003},{k + 7},{income},{'won' if yes else 'lost'},{k % 5 + yes},{label}\n")
    return "customer,account_id,income,outcome,x,y\n" + "".join(lines)


RISKS = {
    "customer": "customer: different in every row: is it an id? --drop customer leaves it out",
    "income": "income: -999 lies far from all other numbers: does it mark missing values? --missing-value -999 treats "
    "it as missing",
    "outcome": "outcome: alone determines the target: does it leak the label?",
    "y": "y: labels differ in case only: 'Yes' (7) and 'yes' (53): write them alike",
}


@pytest.mark.parametrize("command_of", [["describe"], ["train", "--holdout", "20%"]])
def test_what_can_spoil_a_model_is_said_by_train_too(command_of):
    file = written(Path(), "t.csv", risky())
    result = command(*command_of[:1], file, "-t", "y", *command_of[1:])
    said = " ".join((result.stdout + result.stderr).split())
    for remark in RISKS.values():
        assert remark in said
    assert "account_id" in said
    answer = json.loads(ran(*command_of[:1], file, "-t", "y", *command_of[1:], "--json").stdout)
    assert list(answer["left_out"]) == ["account_id"]
    if "holdout" in answer:
        assert {risk["column"]: risk["remark"] for risk in answer["look_at"]} == RISKS
        assert [risk["risk"] for risk in answer["look_at"]] == ["id", "sentinel", "leak", "spelling"]
        answers = ["--keep", "customer", "--keep", "account_id", "--missing-value", "-999", "--drop", "outcome"]
        answer = json.loads(ran("train", file, "-t", "y", *answers, "--json").stdout)
        assert [risk["column"] for risk in answer["look_at"]] == ["y"]
        assert answer["left_out"] == {}
        piped = ran("train", "-", "-t", "y", "--format", "csv", input=risky())
        assert RISKS["customer"] in " ".join(piped.stderr.split())


def test_integers_that_are_different_in_every_row_may_be_ids():
    rows = "".join(f"{7919 * k % 100003},{k % 7},{0.37 * k % 1},{k % 2}\n" for k in range(40))
    file = written(Path(), "t.csv", "customer,x,share,y\n" + rows)
    found = described(file, "-t", "y").partition("Look at:\n")[2]
    assert found == "- customer: different in every row: is it an id? --drop customer leaves it out\n"
    assert "Look at" not in described(file, "-t", "y", "--drop", "customer")


def test_words_beside_numbers_and_codes_are_pointed_out():
    answers = ["1", "2", "3", "4", "5", "-", "prefer not to say"]
    rows = "".join(f"{answers[k % 7]},{k % 4:02}001,{k % 3}.5,{k * k % 5 % 2}\n" for k in range(70))
    file = written(Path(), "t.csv", "happy,plz,x,y\n" + rows)
    found = " ".join(described(file, "-t", "y").partition("Look at:\n")[2].split())
    assert found == (
        "- happy: holds numbers mixed with '-', 'prefer not to say', so each value is a category; --missing-value - "
        "--missing-value 'prefer not to say' treats these words as missing - plz: treated as codes, because '00001' "
        "begins with 0 and all are equally long; --kind plz=number treats them as numbers"
    )
    answered = described(
        *(file, "-t", "y", "--missing-value", "-", "--missing-value", "prefer not to say", "--kind", "plz=number")
    )
    lines = [line.split() for line in answered.splitlines()]
    assert ["happy", "integer", "1", "feature", "20", "5"] in [line[:6] for line in lines]
    assert "Look at" not in answered
    words = ("--missing-value", "-", "--missing-value", "prefer not to say")
    trained = json.loads(command("train", file, "-t", "y", *words, "--json").stdout)
    assert trained["features"] == 6


def test_python_prints_what_the_command_prints():
    file = written(Path(), "t.csv", titanic_like(200, 0))
    text = described(file, "-t", "Survived").replace("--keep PassengerId", "keep=['PassengerId']")
    table = data.open(file, "Survived", on_ambiguous="drop").describe()
    printed = str(table)
    assert max(map(len, printed.splitlines())) <= 80
    assert printed.splitlines()[:14] == text.splitlines()[:14]
    assert "- PassengerId: counts the rows: 1, 2, 3, ...; keep=['PassengerId'] uses it" in printed
    assert "looks" in table.to_dict()
    assert "looks</th>" in table._repr_html_()


def test_words_beside_decimal_commas_are_pointed_out_in_training_too(tmp_path):
    rows = "".join(
        f"{'-' if k % 8 == 0 else f'{90 + k % 9},{k % 10}'};{k % 5};{'ab'[k * k % 7 % 2]}\n" for k in range(400)
    )
    file = written(tmp_path, "t.csv", "score;x;y\n" + rows)
    found = "score: holds numbers mixed with '-', so each value is a category; --missing-value - treats this word as"
    assert f"- {found} missing" in " ".join(described(file, "-t", "y").split())
    said = " ".join(ran("train", file, "-t", "y", "-o", tmp_path / "m").stderr.split())
    assert f"Note: look at {found} missing." in said
    answer = json.loads(ran("train", file, "-t", "y", "-o", tmp_path / "m", "--json").stdout)
    assert [risk["column"] for risk in answer["look_at"]] == ["score"]
    said = ran("train", file, "-t", "y", "--missing-value", "-", "-o", tmp_path / "m").stderr
    assert "look at" not in said


def test_the_label_of_a_totals_row_is_pointed_out(tmp_path):
    rows = "".join(f"{k % 9};{k % 7};{'ja' if k * k % 11 < 5 else 'nein'}\n" for k in range(60))
    file = written(tmp_path, "t.csv", "amount;x;y\n" + rows + "999999;77;gesamt\n")
    found = "y: labels of only one of the first 61 rows: 'gesamt': a total, or a typing error?"
    said = " ".join(ran("train", file, "-t", "y", "-o", tmp_path / "m").stderr.split())
    assert f"Note: look at {found} --missing-value gesamt leaves such rows out." in said
    answer = json.loads(
        ran("train", file, "-t", "y", "--missing-value", "gesamt", "-o", tmp_path / "m", "--json").stdout
    )
    assert (answer["rows"], answer["classes"], answer["look_at"]) == (60, ["ja", "nein"], [])
    numbers = written(tmp_path, "n.csv", "amount;x;y\n" + rows.replace("ja", "0").replace("nein", "1") + "9;7;2\n")
    assert described(numbers, "-t", "y").rstrip().endswith("a total, or a typing error?")


def test_values_that_differ_in_case_only_are_pointed_out(tmp_path):
    rows = "".join(f"{('Ja', 'ja', 'nein')[k % 3]};{k % 7};{'ab'[k * k % 11 < 5]}\n" for k in range(60))
    file = written(tmp_path, "t.csv", "smokes;x;y\n" + rows)
    said = " ".join(ran("train", file, "-t", "y", "-o", tmp_path / "m").stderr.split())
    assert "look at smokes: values differ in case only: 'Ja' (20) and 'ja' (20): write them alike." in said


@pytest.mark.parametrize("times", [1, 3])
def test_many_copies_of_rows_are_pointed_out(tmp_path, times):
    rows = [f"{k * 37 % 1009},{k * 101 % 997}.5,{k * k % 7},{'ab'[k * k % 11 < 5]}\n" for k in range(80)]
    copies = "".join(f"{i},{row}" for i, row in enumerate(rows * times))
    file = written(tmp_path, "t.csv", "id,x,z,v,y\n" + copies)
    said = " ".join(ran("train", file, "-t", "y", "--holdout", "20%", "-o", tmp_path / "m").stderr.split())
    found = "the rows: 160 of the first 240 repeat an earlier row, so rows held out may have copies in training"
    assert (f"Note: look at {found}: leave copies out of the file." in said) == (times > 1)
    assert (found in " ".join(described(file, "-t", "y").split())) == (times > 1)


def test_rows_of_few_values_may_be_alike(tmp_path):
    rows = "".join(f"{k % 5},{k % 3},{'ab'[k * k % 11 < 5]}\n" for k in range(300))
    assert "repeat an earlier row" not in described(written(tmp_path, "t.csv", "x,z,y\n" + rows), "-t", "y")


def test_notes_are_not_questions(tmp_path):
    rows = "".join(f"{37 * k % 900};{k % 9},5;{k % 7};{'ab'[k * k % 7 < 3]}\n" for k in range(60))
    file = written(tmp_path, "t.csv", "a;b;a;y\n" + rows)
    text = described(file, "-t", "y")
    assert "To answer" not in text
    notes = " ".join(text.partition("Notes:\n")[2].partition("Look at")[0].split())
    assert "some column names occur more than once; the later columns are renamed to a.1" in notes
    answer = json.loads(ran("describe", file, "-t", "y", "--json").stdout)
    assert answer["questions"] == []
    assert any("the later columns are renamed to a.1" in note for note in answer["notes"])
    text = described(file)
    assert "which column is the label?" in " ".join(text.partition("To answer before training:\n")[2].split())
    assert "renamed" not in text.partition("To answer")[2]


def test_numbers_with_too_many_words_are_left_out_for_that_reason(tmp_path):
    """Every 8th age is a word, and hardly two ages are alike."""
    rows = [f"{'unknown' if k % 8 == 0 else 20 + k * 37 % 1000 / 10},{k * 7 % 11},{'ab'[k % 2]}" for k in range(300)]
    path = written(tmp_path, "ages.csv", "\n".join(["age,x,y", *rows]) + "\n")
    for command_ in ("train", "describe"):
        said = ran(command_, path, "-t", "y")
        said = " ".join((said.stderr if command_ == "train" else said.stdout).split())
        assert said.count("unknown'") == 1
        assert "different values" not in said
        assert "--keep" not in said
        what = (
            "age (holds numbers mixed with 'unknown')"
            if command_ == "train"
            else "age: holds numbers mixed with 'unknown'"
        )
        assert f"{what}; --missing-value unknown treats this word as missing" in said
    found = json.loads(ran("train", path, "-t", "y", "--missing-value", "unknown", "--json").stdout)
    assert (found["features"], found["left_out"]) == (2, {})
    with pytest.raises(data.DataError, match="column 'age' holds numbers mixed with 'unknown'"):
        data.open(path, "y")
