from rosenblatt import AveragedPerceptron, contributions, data


def test_what_a_record_of_a_table_lacks_is_filled_as_in_training(tmp_path):
    file = tmp_path / "t.csv"
    lines = [f"{'' if i % 5 == 0 else 20 + i},{'mf'[i % 2]},{i % 3 > 0}\n" for i in range(30)]
    file.write_text("age,sex,label\n" + "".join(lines))
    stream = data.open(file, "label", missing="mean", scale="standard")
    model = AveragedPerceptron(random_state=0).fit_stream(stream)
    (tmp_path / "new.csv").write_text("age,sex\n,m\n")
    X, _ = data.open(tmp_path / "new.csv", preparation=model.preparation_).read()
    assert contributions(model, {"sex": "m"}).title == contributions(model, X).title
    assert contributions(model, {"sex": "m", "age": 20}).title != contributions(model, X).title
