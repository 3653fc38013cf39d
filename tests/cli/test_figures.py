import json

from helpers.commands import command, ran, refused


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
    assert f"Look at {out / 'index.html'} in a browser." in words
    assert {path.name for path in out.iterdir()} == {
        "figure-4.5.png",
        "figure-30.2.png",
        "index.html",
        "figures.json",
    }
    assert list(json.loads((out / "figures.json").read_text())) == ["4.5", "30.2"]


def test_what_cannot_be_drawn_is_said_in_one_sentence(tmp_path):
    result = command("figures", "--only", "4.77", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == "Error: there is no figure '4.77': did you mean '4.7'?\n"
    result = command("figures", "--format", "gif", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == "Error: --format must be one of svg, png, pdf, got 'gif'.\n"
    assert not (tmp_path / "out").exists()
    taken = tmp_path / "file"
    taken.write_text("")
    result = command("figures", "--only", "4.5", "--out", taken)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: expected a folder for the figures, got ")
    assert "is a file" in " ".join(result.stderr.split())
    assert "got no name" in refused("figures", "--only", "4.5", "--out", "")
    result = command("figures", "--only", "xor", "--out", tmp_path / "out")
    assert "there is no figure 'xor'" in result.stderr
    assert "4.12 XOR, impossible and possible;" in " ".join(result.stderr.split())


def test_only_commas_name_no_figure(tmp_path):
    assert "names no figure" in refused("figures", "--only", " , ", "--out", tmp_path / "none")
    assert not (tmp_path / "none").exists()
