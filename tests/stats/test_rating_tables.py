from __future__ import annotations

from pathlib import Path

import pytest

from stats.rating_tables import TableBroken, parse_scale, ratings_of_table, read_table
from stats.ratings import LevelDoesNotFit


def table(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def test_reads_csv_with_a_byte_order_mark_crlf_and_more_columns(tmp_path: Path) -> None:
    path = table(tmp_path, "\ufeffitem,note,rater,grade,topic\r\na,x,ada,1,t1\r\n\r\na,y,ben,2,t1\r\nb,z,ada,,t2\r\n")

    ratings = ratings_of_table(read_table(path))

    assert ratings.codes.tolist() == [[0, 1], [-1, -1]]
    assert (ratings.items, ratings.raters, ratings.scale) == (["a", "b"], ["ada", "ben"], (1.0, 2.0))
    assert ratings.level == "ordinal"
    assert ratings.n_ungraded == 1
    assert ratings.topics is not None
    assert ratings.topics.tolist() == [0, 1]


def test_reads_jsonl_with_null_for_ungraded(tmp_path: Path) -> None:
    rows = '{"item": "a", "rater": "ada", "grade": -1}\n\n{"item_id": 7, "rater": "ada", "grade": null}\n'

    ratings = ratings_of_table(read_table(table(tmp_path, rows, "table.jsonl")))

    assert (ratings.items, ratings.scale, ratings.n_ungraded) == (["a", "7"], (-1.0,), 1)


def test_knows_jsonl_without_a_telling_name(tmp_path: Path) -> None:
    path = table(tmp_path, '\n{"item": "a", "rater": "ada", "grade": "2"}\n', "ratings.txt")

    ratings = ratings_of_table(read_table(path))

    assert (ratings.items, ratings.scale) == (["a"], (2.0,))


def test_labels_are_nominal_and_ordinal_where_the_scale_gives_their_order(tmp_path: Path) -> None:
    path = table(tmp_path, "item,rater,grade\na,ada,good\na,ben,bad\n")

    unordered = ratings_of_table(read_table(path))
    ordered = ratings_of_table(read_table(path), scale=parse_scale("bad,fair,good"))

    assert (unordered.level, unordered.scale) == ("nominal", ("bad", "good"))
    assert (ordered.level, ordered.codes.tolist()) == ("ordinal", [[2, 0]])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "contains no ratings"),
        ("item,rater,grade\n", "contains no ratings"),
        ("item,rater\na,ada\n", "line 1: has no column “grade”; its columns are: item, rater"),
        ("item,rater,grade\na,ada\n", "line 2: has 2 columns, but the first line has 3"),
        ("item,rater,grade\na,ada,1,9\n", "line 2: has 4 columns"),
        ("item,rater,grade\n,ada,1\n", "line 2: item is empty"),
        ("item,rater,grade\na,,1\n", "line 2: rater is empty"),
        ("item,rater,grade,grade\na,ada,1,2\n", "two columns for “grade”"),
        ('item,rater,grade\na,ada,"1\n', "is not CSV"),
        ("item,rater,grade\na,ada,1\nb,ada,1\na,ada,2\n", "line 4: ada has already graded item “a” in line 2"),
        ("item,rater,grade\na,ada,1\na,ada,\n", "line 3: ada has already graded item “a” in line 2"),
        ("item,rater,grade\na,ada,nan\n", "line 2: grade “nan” is not a number"),
        ("item,rater,grade\na,ada,inf\n", "line 2: grade “inf” is not a number"),
        ("item,rater,grade,topic\na,ada,1,t\na,ben,1,u\n", "line 3: item “a” is of topic “u”, but of “t” in line 2"),
        ("item,rater,grade,topic\na,ada,1,t\nb,ben,1,\n", "line 3: item “b” has no topic"),
        ("item,rater,grade,criterion\na,ada,1,x\na,ada,1,y\n", "several criteria: x, y"),
    ],
)
def test_a_broken_csv_is_refused_with_line_and_reason(tmp_path: Path, text: str, complaint: str) -> None:
    path = table(tmp_path, text)

    with pytest.raises(TableBroken) as refusal:
        ratings_of_table(read_table(path))

    assert str(path) in str(refusal.value)
    assert complaint in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{\n", "line 1: is not JSON"),
        ("[1]\n", "line 1: is not a JSON object"),
        ('{"item": "a", "grade": 1}\n', "line 1: has no column “rater”"),
        ('{"item": "a", "rater": "b", "grade": [1]}\n', "line 1: grade is not text or a number"),
        ('{"item": "a", "rater": "b", "grade": NaN}\n', "is not a number"),
    ],
)
def test_a_broken_jsonl_is_refused_with_line_and_reason(tmp_path: Path, text: str, complaint: str) -> None:
    path = table(tmp_path, text, "table.jsonl")

    with pytest.raises(TableBroken, match="line 1") as refusal:
        ratings_of_table(read_table(path))

    assert complaint in str(refusal.value)


def test_other_encodings_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes("item,rater,grade\nä,ada,1\n".encode("latin-1"))

    with pytest.raises(TableBroken, match="not UTF-8"):
        read_table(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableBroken, match=r"nothing\.csv: No such file"):
        read_table(tmp_path / "nothing.csv")


def test_a_grade_off_the_scale_is_refused_with_its_line(tmp_path: Path) -> None:
    path = table(tmp_path, "item,rater,grade\na,ada,1\nb,ada,7\n")

    with pytest.raises(TableBroken, match="line 3: grade “7” is not on the scale 0, 1, 2"):
        ratings_of_table(read_table(path), scale=parse_scale("0,1,2"))


def test_words_on_an_ordinal_level_need_an_order(tmp_path: Path) -> None:
    path = table(tmp_path, "item,rater,grade\na,ada,1\nb,ada,good\n")

    with pytest.raises(TableBroken, match="line 3: grade “good” is not a number; give the order"):
        ratings_of_table(read_table(path), level="ordinal")


@pytest.mark.parametrize("text", ["1", "1,,2", "0,2,1", "0,1,1", "a,b,a"])
def test_a_scale_names_each_grade_once_from_low_to_high(text: str) -> None:
    with pytest.raises(LevelDoesNotFit):
        parse_scale(text)


def test_one_criterion_of_several_is_taken(tmp_path: Path) -> None:
    path = table(tmp_path, "item,rater,grade,criterion\na,ada,1,x\na,ada,2,y\nb,ada,3,y\n")

    ratings = ratings_of_table(read_table(path, criterion="y"))

    assert (ratings.items, ratings.scale) == (["a", "b"], (2.0, 3.0))


def test_reads_texts_that_an_export_guarded_from_spreadsheets(tmp_path: Path) -> None:
    path = table(tmp_path, "item,rater,grade\n'=a,'+ada,-1\n'tis,'+ada,0\n")

    ratings = ratings_of_table(read_table(path))

    assert (ratings.items, ratings.raters, ratings.scale) == (["=a", "'tis"], ["+ada"], (-1.0, 0.0))
