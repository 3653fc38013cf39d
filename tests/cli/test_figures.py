import json

from helpers.commands import ran, refused


def test_two_figures_end_to_end(tmp_path):
    out = tmp_path / "out"
    result = ran("figures", "--only", "4.5, 30.2", "--only", "4.5", "--format", "png", "--out", out)
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("4.5         A dot product is a projection")
    assert lines[1].startswith("30.2        The perceptron algorithm, run")
    assert all(line.endswith(" s") for line in lines[:2])
    words = " ".join(result.stdout.split())
    assert "2 figures in" in words
    assert f"Open {out / 'index.html'} in a browser." in words
    assert {path.name for path in out.iterdir()} == {"figure-4.5.png", "figure-30.2.png", "index.html", "figures.json"}
    assert list(json.loads((out / "figures.json").read_text())) == ["4.5", "30.2"]


def test_what_cannot_be_drawn_is_said_in_one_sentence(tmp_path):
    out = ["figures", "--out", tmp_path / "out"]
    assert refused(*out, "--only", "4.77") == "Error: there is no figure '4.77': did you mean '4.7'?"
    assert refused(*out, "--format", "gif") == "Error: --format must be one of svg, png, pdf, got 'gif'."
    assert not (tmp_path / "out").exists()
    taken = tmp_path / "file"
    taken.write_text("")
    said = refused("figures", "--only", "4.5", "--out", taken)
    assert said.startswith("Error: expected a folder for the figures, got ")
    assert "is a file" in said
    assert "got an empty path" in refused("figures", "--only", "4.5", "--out", "")
    said = refused(*out, "--only", "xor")
    assert "there is no figure 'xor'" in said
    assert "4.12 XOR, impossible and possible;" in said
    assert "is empty: give the ids of figures" in refused(*out, "--only", " , ")
    assert not (tmp_path / "out").exists()
