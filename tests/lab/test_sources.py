"""Tables, arrays, states and addresses become states of the lab, or one sentence."""

import numpy as np
import pytest

from helpers.lab_engine import ask, needs_node
from helpers.lab_state import LARGEST, MOST_POINTS, LabState
from rosenblatt.lab.sources import read_source, state_points

pytestmark = needs_node


def read(text):
    """Read a table with the page's engine."""
    return ask("csv", {"text": text})


TWO = [[1.0, 2.0, 1], [0.0, -3.5, -1]]


@pytest.mark.parametrize(
    "text",
    [
        "x,y,label\n1,2,yes\n0,-3.5,no\n",
        "\ufeffx,y,label\n1,2,yes\n0,-3.5,no",
        "label,x,y\r\nyes,1,2\r\nno,0,-3.5\r\n",
        "1,2,1\n0,-3.5,-1\n",
        "1,2,+1\n0,-3.5,-1\n",
        "1,2,1.0\n0,-3.5,0\n",
        "x;y;class\n1;2;b\n0;-3,5;a\n",
        "x\ty\tSpecies\n1\t2\tb\n0\t-3.5\ta\n",
        "x1,x2,y\n1,2,1\n0,-3.5,0\n",
        "X0,X1,Y\n1,2,1\n0,-3.5,0\n",
        "target,length,width\n10,1,2\n9,0,-3.5\n",
        "id,length,name,width,kind\n7,1,ann,2,b\n8,0,bob,-3.5,a\n",
        ",x,y,kind\n0,1,2,b\n1,0,-3.5,a\n",
        "kind,x,y\nb,1,2\na,0,-3.5\n",
        'x,y,label\n"1","2","a, b"\n\n0,-3.5,"a"\n',
        " x , y , label \n 1 , 2 , b \n 0 , \u22123.5 , a \n",
        "0,1,label\n1,2,b\n0,-3.5,a\n",
    ],
)
def test_tables_of_many_shapes_are_the_same_points(text):
    assert read(text)["points"] == TWO


def test_points_may_be_held_out():
    for name, yes, no in (("held_out", "1", "0"), ("Test", "True", "false"), ("split", "test", "train")):
        found = read(f"x,y,label,{name}\n1,2,b,{no}\n0,0,a,{yes}\n")
        assert found["points"] == [[1.0, 2.0, 1], [0.0, 0.0, -1, True]]


def test_numbers_as_labels_are_ordered_as_numbers():
    assert [point[2] for point in read("1,2,10\n0,0,9\n")["points"]] == [1, -1]


def test_more_than_two_classes_are_the_first_against_the_rest():
    answer = read("1,2,c\n0,0,a\n5,5,b\n")
    assert [point[2] for point in answer["points"]] == [1, -1, 1]
    assert answer["note"] == "Class a is drawn as orange triangles, the other 2 classes as blue discs."


def test_rows_with_missing_values_are_left_out():
    answer = read("x,y,z,label\n1,2,,b\nNA,2,3,a\n0,0,,a\n1,,2,b\n5\n")
    assert answer["points"] == [[1.0, 2.0, 1], [0.0, 0.0, -1]]
    marks = "Class a is drawn as orange triangles, class b as blue discs."
    assert answer["note"] == f"3 rows with missing values were left out. {marks}"


def test_too_many_rows_are_drawn_from_with_a_seed():
    text = "".join(f"{i},0,{2 * (i % 2) - 1}\n" for i in range(3000))
    answer = read(text)
    assert len(answer["points"]) == MOST_POINTS
    assert answer["points"] == sorted(answer["points"])
    assert answer == read(text)
    assert answer["note"] == "1,000 of 3,000 rows were drawn, as the lab shows no more."


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "empty"),
        ("\n \n", "empty"),
        ("x,y,label\n", "two"),
        ("hello", "two columns of numbers"),
        ("1,2\n3,4\n", "two columns of numbers"),
        ("a,b,c\n", "two columns of numbers"),
        ("x,y,label\n1,2,a\n3,4,a\n", "there is only a"),
        ("x,y,label\n1,2,a\n3,red,b\n", "expected a number in line 3, got red"),
        ("x,y,label\n1,2,a\n3,2e6,b\n", "coordinates go to 1,000,000"),
        ("x,y,label\n1,2,a\n3,-inf,b\n", "coordinates go to 1,000,000"),
        ("x,y,label,split\n1,2,a,train\n3,2,b,later\n", "expected test or train, or 1 or 0, in line 3"),
        ("x,y,label\n1,2,a,5\n3,2,b\n", "line 2 has 4 cells where the first has 3"),
        ("".join(f"{i},0,{i}\n" for i in range(60)), "60 values"),
    ],
)
def test_what_is_no_table_is_one_sentence(text, part):
    with pytest.raises(ValueError, match=f"(?i){part}") as fault:
        read(text)
    assert str(fault.value).endswith(".")


def test_damaged_tables_are_points_or_a_value_error():
    rng = np.random.default_rng(0)
    letters = list('0123456789.,;\t\n\n,,ab-+e"\ufeff\x00\x85 ')
    good = "x,y,label,split\n1,2,a,test\n-3,4e1,b,train\n0,0,a,train\n"
    made = 0
    for _ in range(3000):
        text = list(good)
        for place in rng.integers(0, len(text), rng.integers(1, 6)):
            text[place] = rng.choice(letters)
        try:
            points = read("".join(text))["points"]
        except ValueError:
            continue
        assert {point[2] for point in points} <= {1, -1}
        assert all(abs(value) <= LARGEST for point in points for value in point[:2])
        made += 1
    assert 100 < made < 2900


def test_arrays_become_points_or_one_sentence():
    assert state_points([[1, -0.0], [0.5, 2]], np.array([True, False])) == [[1.0, 0.0, 1], [0.5, 2.0, -1]]
    assert state_points([[1, 2], [3, 4]], [-1, -1]) == [[1.0, 2.0, -1], [3.0, 4.0, -1]]
    for X, y, part in (
        ([[1, 2, 3]], [1], "two columns"),
        (np.zeros((1001, 2)), np.ones(1001), "at most 1,000 rows"),
        ([[1, 2]], [1, 2], "an entry for each"),
        ([[np.nan, 0]], [1], "coordinates from"),
        ([[1, 2e6]], [1], "coordinates from"),
        ([[1, 2], [3, 4]], ["a", "a"], "two classes"),
    ):
        with pytest.raises(ValueError, match=part):
            state_points(X, y)


def test_files_and_addresses_become_states(tmp_path):
    state = LabState(points=((1.0, 2.0, 1, False), (0.0, 0.0, -1, True)), seed=3)
    (tmp_path / "state.json").write_text(state.to_json())
    assert read_source(str(tmp_path / "state.json")) == {"state": state.to_plain()}
    for page in ("http://localhost:8080/abc/", "file:///home/me/perceptron-lab.html"):
        assert read_source(f"{page}#{state.to_fragment()}") == {"state": state.to_plain()}
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        text = "x,y,label\n1,2,é\n0,-3.5,a\n"
        (tmp_path / "points.CSV").write_text(text, encoding=encoding)
        assert read_source(str(tmp_path / "points.CSV"))["table"].removeprefix("\ufeff") == text


def test_bad_sources_are_one_sentence(tmp_path):
    (tmp_path / "a.json").write_text("{")
    (tmp_path / "b.json").write_text('{"version": 2}')
    (tmp_path / "latin.csv").write_bytes("x,y,label\n1,2,\xe9\n".encode("latin-1"))
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    for name, part in (("a.json", "must be JSON"), ("b.json", "'version': 1"), ("latin.csv", "not UTF-8")):
        with pytest.raises(ValueError, match=f"{name}: .*{part}"):
            read_source(str(tmp_path / name))
    with pytest.raises(ValueError, match="must end in"):
        read_source(str(tmp_path / "rows.parquet"))
    for address in ("http://127.0.0.1:1/x/", "http://127.0.0.1:1/x/#", "https://a.example/#%%%", "http://[/#AA"):
        with pytest.raises(ValueError, match=r"\.$"):
            read_source(address)
    with pytest.raises(FileNotFoundError):
        read_source(str(tmp_path / "none.csv"))
