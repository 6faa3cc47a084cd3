"""One stray grade does not make a scale: whatever the order of the files, in one import and in a later one."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import permutations
from pathlib import Path

import pytest
from django.core.management import call_command
from django.utils.timezone import now
from hypothesis import given
from hypothesis import strategies as st

from collection.importing.files import FilesOptions, import_files
from collection.importing.stray_grades import FileGrades, OffTheScale, SharedScale, shared_scale
from collection.models import Collection, Judgment, Study, User
from tests.collection.files import refused


def grades_of(name: str, grades: Iterable[float], *, of_people: bool = False) -> FileGrades:
    file = FileGrades(name, of_people)
    for number, grade in enumerate(grades, start=1):
        file.add(number, grade)
    return file


def shared(*files: FileGrades, stored: list[float] | None = None) -> SharedScale:
    return shared_scale(files, stored=stored, choice="ungraded")


PEOPLE = grades_of("people", [0, 1, 2, 3] * 50, of_people=True)
STRAY = grades_of("opal", [*([0, 1, 2, 3] * 50), 10])


def test_a_single_ten_does_not_extend_the_scale() -> None:
    found = shared(PEOPLE, STRAY)

    assert found.grades == (0, 1, 2, 3)
    assert found.stray == {"opal": [10]}
    assert len(found.remarks) == 1
    assert "opal, line 201" in found.remarks[0]


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, 3, 4, 5, 10]), min_size=1, max_size=300), min_size=1, max_size=4))
def test_the_order_of_files_decides_nothing(several: list[list[int]]) -> None:
    files = [grades_of(f"f{number}", grades, of_people=number == 1) for number, grades in enumerate(several)]

    outcomes = []
    for order in permutations(files):
        try:
            outcomes.append(repr(shared(*order)))
        except OffTheScale as off:
            outcomes.append(str(off))

    assert len(set(outcomes)) == 1


def test_people_keep_their_rare_grades_and_a_judge_alone_the_next_one() -> None:
    rare = [*([0, 1, 2, 3, 4] * 50), 5]

    assert shared(grades_of("people", [*rare, 9], of_people=True)).grades == (0, 1, 2, 3, 4, 5, 9)
    assert shared(grades_of("opal", [*rare, 9])).grades == (0, 1, 2, 3, 4, 5)


def test_what_is_often_used_is_refused_with_its_line() -> None:
    with pytest.raises(OffTheScale) as off:
        shared(PEOPLE, grades_of("opal", [0, 5, 10] * 50))

    assert (off.value.name, off.value.problems[0].line) == ("opal", 2)


@pytest.mark.django_db
@pytest.mark.parametrize("at_once", [True, False])
def test_files_come_in_on_peoples_scale(rosa: User, tmp_path: Path, at_once: bool) -> None:
    lines = [(f"q{n // 50}", f"d{n % 50}", n % 4) for n in range(200)]
    (tmp_path / "people.qrels").write_text("".join(f"{q} 0 {d} {grade}\n" for q, d, grade in lines))
    strays = [(q, d, 10 if (q, d) == ("q0", "d7") else grade) for q, d, grade in lines]
    (tmp_path / "opal.qrels").write_text("".join(f"{q} 0 {d} {grade}\n" for q, d, grade in strays))
    said = {"owner": "rosa", "with_topics": True, "without_texts": True, "quiet": True}
    people, judge = str(tmp_path / "people.qrels"), str(tmp_path / "opal.qrels")

    if at_once:
        call_command("import", judge, people, collection="mills", people=["people.qrels"], **said)
    else:
        call_command("import", people, collection="mills", **said)
        call_command("import", judge, collection="mills", judges=True, **said)

    criterion = Study.objects.get(name="mills-qrels").criteria.get()
    assert criterion.scale.values == [0, 1, 2, 3]
    [ungraded] = Judgment.objects.filter(grade=None)
    assert (ungraded.rater.name, ungraded.item.passage and ungraded.item.passage.passage_id) == ("opal", "d7")


@pytest.mark.django_db
def test_a_stray_grade_is_refused_or_widens_where_that_is_chosen(rosa: User, tmp_path: Path) -> None:
    lines = "".join(f"q{n // 50} 0 d{n % 50} {n % 4}\n" for n in range(200))
    (tmp_path / "people.qrels").write_text(lines)
    (tmp_path / "opal.qrels").write_text(lines + "q9 0 d9 10\n")
    said = ["--collection", "mills", "--owner", "rosa", "--with-topics", "--without-texts", "--quiet"]
    files = [str(tmp_path / "people.qrels"), str(tmp_path / "opal.qrels")]

    message = refused("import", *files, *said, "--people", "people.qrels", "--stray-grades", "refuse")
    call_command("import", files[0], *said)
    call_command("import", files[1], *said, "--judges", "--stray-grades", "widen")

    assert "opal.qrels, line 201" in message
    assert Study.objects.get().criteria.get().scale.values == [0, 1, 2, 3, 10]
    assert not Judgment.objects.filter(grade=None).exists()


@pytest.mark.django_db
def test_a_preview_that_knows_nobody_shows_the_stray_grade_too(
    rosa: User, collection: Collection, tmp_path: Path
) -> None:
    lines = "".join(f"q{n // 50} 0 d{n % 50} {n % 4}\n" for n in range(200))
    files = {"a.qrels": lines, "b.qrels": lines, "c.qrels": lines + "q9 0 d9 10\n"}
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    options = FilesOptions(raters=None, with_topics=True, without_texts=True)

    outcome = import_files(
        files=[(name, tmp_path / name) for name in files], collection=collection, options=options, at=now()
    )

    assert outcome.details["has_strays"]
    assert any("c.qrels, line 201" in remark for remark in outcome.remarks)
