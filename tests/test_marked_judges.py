"""Unfinished and failing judges are marked and stand last at every door: pages, choices, the API, files, commands."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from io import BytesIO, StringIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.completeness import Part, judges_of_studies
from collection.models import Exclusion, Judgment, Rater, RubricElement, Split, Study, User
from collection.splits import make_split
from evaluation.publishing.audit_bundle import write_bundle
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.qrels import compile_qrels
from judging.judges.ensembles import make_ensemble
from judging.judges.registry import load_shipped, make_judge
from judging.models import Judge, PromptTemplate
from stats.audit_verification import verify
from stats.completeness import UNMARKED
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.factories import a_judge_rater, an_item, rater_of
from tests.judging.world import with_items

pytestmark = pytest.mark.django_db
# In the order of their names the worst comes first.
MARKS = {"judge-a": "failing", "judge-b": "unfinished", "judge-c": None}
Grades = list[float | None]
# Two topics of three reports' or passages' items each: the same is missing and unreadable in either.
GRADES: dict[str, Grades] = {"judge-a": [1, None, None], "judge-b": [1, 0], "judge-c": [1, 0, 1]}


def judge_by_topic(study: Study, name: str, rater: Rater, grades: Grades) -> None:
    """Record the grades of the first items of each topic, the same for each."""
    for topic in study.collection.topics.all():
        items = list(study.items.filter(task_type=criterion_of(study, name).task_type, topic=topic).order_by("pk"))
        given = [grades[place % 3] for place in range(len(items)) if place % 3 < len(grades)]
        judge_items(
            criterion_of(study, name),
            rater,
            [item for place, item in enumerate(items) if place % 3 < len(grades)],
            given,
        )


@pytest.fixture
def world(study: Study, ada: User) -> Study:
    """Ada judged reports and passages; of three judges of either one is complete, one unfinished, one failing."""
    load_shipped()
    with_items(study)
    judge_by_topic(study, "answerability", rater_of(ada), [1, 0, 1])
    judge_by_topic(study, "rating", rater_of(ada), [5, 0, 4])
    criterion = criterion_of(study)
    for name, grades in GRADES.items():
        judge, _ = make_judge(
            engine=Judge.Engine.OPENAI,
            task_type=criterion.task_type,
            criterion_name=criterion.name,
            scale=criterion.scale,
            model=name,
            template=PromptTemplate.objects.filter(name="answerability").latest("version"),
            name=name,
        )
        judge_by_topic(study, "answerability", judge.rater, grades)
        judge_by_topic(study, "rating", judge.rater, grades)
    make_ensemble(list(Judge.objects.filter(name__in=MARKS).select_related("rater")), name="all-three")
    return study


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def text_of(page: str) -> str:
    """The page's text after its heading, with one blank for each gap."""
    main = page[page.index("<h1") :]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", main)))


def marked_and_last(text: str) -> bool:
    """Whether each judge stands with its mark in the text, and they stand in the order of their marks."""
    where = {
        "judge-c": re.search(r"judge-c(?! \(?(?:unfinished|failing))", text),
        "judge-b": re.search(r"judge-b \(?(?:judge, )?unfinished", text),
        "judge-a": re.search(r"judge-a \(?(?:judge, )?failing", text),
    }
    places = [found.start() for found in where.values() if found]
    return len(places) == 3 and places == sorted(places)


STUDY = "/studies/bridges-study"
OF_ANSWERS = "?criterion=answerability"


@pytest.mark.parametrize(
    "path",
    [
        "/judges/",
        "/judges/ensembles/new/",
        "/judges/judge/all-three/",
        "/judges/templates/answerability/{version}/",
        "/judges/templates/answerability/{version}/?study=bridges-study",
        f"{STUDY}/judging/",
        f"{STUDY}/judging/gullibility/",
        f"{STUDY}/agreement/{OF_ANSWERS}",
        f"{STUDY}/trust/{OF_ANSWERS}",
        f"{STUDY}/calibration/{OF_ANSWERS}",
        f"{STUDY}/qrels/{OF_ANSWERS}",
        f"{STUDY}/judge-comparison/{OF_ANSWERS}",
        f"{STUDY}/errors/{OF_ANSWERS}",
        f"{STUDY}/leaderboard/?measure=coverage",
        f"{STUDY}/leaderboard/correlations/",
        f"{STUDY}/masking/",
        f"{STUDY}/redundancy/",
        f"{STUDY}/bank-check/",
        f"{STUDY}/publish/card/",
        f"{STUDY}/families/",
        "/trust-in-judges/",
    ],
)
def test_pages_and_choices_mark_them_and_put_them_last(as_rosa: Client, world: Study, path: str) -> None:
    version = PromptTemplate.objects.filter(name="answerability").latest("version").version

    page = as_rosa.get(path.format(version=version))

    assert page.status_code == 200
    assert marked_and_last(text_of(page.content.decode())), text_of(page.content.decode())


@pytest.mark.parametrize("path", [f"{STUDY}/judging/compare/{OF_ANSWERS}", f"{STUDY}/split/"])
def test_pages_of_a_split_study_mark_them_too(as_rosa: Client, world: Study, path: str) -> None:
    make_split(study=world, test_share=0.5, by=None, at=AT, seed="1")

    page = as_rosa.get(path)

    assert marked_and_last(text_of(page.content.decode())), text_of(page.content.decode())


def test_the_choice_of_holes_to_fill_marks_them(as_rosa: Client, world: Study) -> None:
    item = world.items.filter(task_type="answerability").earliest("pk")
    assert item.report
    element = RubricElement.objects.create(
        topic=item.topic, kind="sub_question", element_id="new", position=9, text="Who?"
    )
    assert item.report
    an_item(world, "answerability", topic=item.topic, element=element, text=item.report)

    page = as_rosa.post(
        f"{STUDY}/judging/estimate/", {"criterion": "answerability", "judge": "judge-c"}
    ).content.decode()

    offered = text_of("<h1>" + page[page.index("no grade by any judge") :])
    assert marked_and_last(offered), offered


def test_the_reason_is_read_out_beside_the_mark(as_rosa: Client, world: Study) -> None:
    page = text_of(as_rosa.get("/judges/").content.decode())

    assert "judge-b unfinished : 4 of 12 items are missing" in page
    assert "judge-a failing : 8 of its 12 replies have no readable grade" in page


@pytest.mark.parametrize("page", ["trust", "calibration"])
def test_the_page_of_one_judge_says_it_in_its_heading(as_rosa: Client, world: Study, page: str) -> None:
    text = text_of(as_rosa.get(f"{STUDY}/{page}/{OF_ANSWERS}&judge=judge-b").content.decode())

    assert "judge-b unfinished : 2 of 6 items are missing" in text


def judges_in(found: Any) -> Iterator[tuple[str, str | None]]:
    """Every judge with its mark, in the order in which they stand."""
    if isinstance(found, list):
        for one in found:
            yield from judges_in(one)
    elif isinstance(found, dict):
        name = next(
            (
                found[key]
                for key in ("judge", "name", "source")
                if isinstance(found.get(key), str) and found[key] in MARKS
            ),
            None,
        )
        if name and "mark" in found:
            yield name, found["mark"]
        for one in found.values():
            yield from judges_in(one)


@pytest.mark.parametrize(
    "path",
    [
        f"{STUDY}/agreement/agreement.json{OF_ANSWERS}",
        f"{STUDY}/judge-comparison/judges.json{OF_ANSWERS}",
        f"{STUDY}/leaderboard/leaderboard.json?measure=coverage",
        "/trust-in-judges/judges.json",
        "/api/v1/studies/bridges-study/comparison/?criterion=answerability",
        "/api/v1/studies/bridges-study/judge-comparison/?criterion=answerability",
        "/api/v1/studies/bridges-study/leaderboard/?measure=coverage",
        "/api/v1/trust-in-judges/",
    ],
)
def test_files_and_the_api_tell_the_mark(as_rosa: Client, world: Study, path: str) -> None:
    response = as_rosa.get(path)

    assert response.status_code == 200, path
    assert list(dict.fromkeys(judges_in(response.json()))) == [
        ("judge-c", None),
        ("judge-b", "unfinished"),
        ("judge-a", "failing"),
    ]


@pytest.mark.parametrize("name", MARKS)
@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/judges/",
        "/api/v1/judges/{name}/",
        "/api/v1/studies/bridges-study/trust/?criterion=answerability&judge={name}",
        "/api/v1/studies/bridges-study/calibration/?criterion=answerability&judge={name}",
        f"{STUDY}/trust/trust.json{OF_ANSWERS}&judge={{name}}",
        f"{STUDY}/calibration/calibration.json{OF_ANSWERS}&judge={{name}}",
    ],
)
def test_what_is_told_of_one_judge_tells_its_mark(as_rosa: Client, world: Study, path: str, name: str) -> None:
    response = as_rosa.get(path.format(name=name))

    assert response.status_code == 200, path
    assert dict(judges_in(response.json()))[name] == MARKS[name]


def test_the_api_compares_judges_with_their_marks(as_rosa: Client, world: Study) -> None:
    make_split(study=world, test_share=0.5, by=None, at=AT, seed="1")

    rows = as_rosa.get(f"/api/v1/judges/comparison/?study={world}&criterion=answerability").json()

    assert {row["judge"]: row["mark"] for row in rows if row["judge"] in MARKS} == MARKS


def test_imported_judges_are_marked_too(as_rosa: Client, study: Study, ada: User) -> None:
    with_items(study)
    judge_by_topic(study, "answerability", rater_of(ada), [1, 0, 1])
    for name, grades in GRADES.items():
        judge_by_topic(study, "answerability", a_judge_rater(study.collection, name), grades)

    page = text_of(as_rosa.get(f"{STUDY}/judging/").content.decode())
    answer = as_rosa.get(f"/api/v1/imported-judges/?study={study}").json()

    assert marked_and_last(page), page
    assert dict(judges_in(answer)) == MARKS


@pytest.mark.parametrize(
    "command",
    [
        ["judges"],
        ["trust_in_judges"],
        ["compare_judges", "--study", "bridges-study", "--criterion", "answerability"],
        ["leaderboard", "--study", "bridges-study", "--measure", "coverage"],
    ],
    ids=lambda command: command[0],
)
def test_commands_mark_them_and_print_them_last(world: Study, command: list[str]) -> None:
    out, as_json = StringIO(), StringIO()

    call_command(*command, stdout=out, stderr=StringIO())
    call_command(*command, "--json", stdout=as_json, stderr=StringIO())

    printed = re.sub(r"\s+", " ", out.getvalue())
    places = [re.search(name, printed) for name in reversed(MARKS)]
    assert re.search(r"judge-b[^.]*?\(unfinished", printed)
    assert re.search(r"judge-a[^.]*?\(failing", printed)
    assert [found.start() for found in places if found] == sorted(found.start() for found in places if found)
    lines = as_json.getvalue()
    found = [json.loads(line) for line in lines.splitlines()] if command == ["judges"] else json.loads(lines)
    assert dict(judges_in(found)) == MARKS


@pytest.mark.parametrize("command", ["calibrate", "compare"])
def test_commands_about_one_judge_tell_its_mark(world: Study, command: str) -> None:
    out, err = StringIO(), StringIO()

    call_command(command, study="bridges-study", criterion="answerability", judge="judge-b", stdout=out, stderr=err)

    assert "unfinished" in out.getvalue() + err.getvalue()


def test_the_data_card_marks_them(world: Study) -> None:
    card = compile_data_card(world).replace("\\", "")

    assert "judge-b (unfinished: " in card
    assert card.index("| judge-c") < card.index("| judge-b") < card.index("| judge-a")


def test_the_api_lists_them_last(as_rosa: Client, world: Study) -> None:
    told = as_rosa.get("/api/v1/judges/").json()["results"]

    assert [one["name"] for one in told][-2:] == ["judge-b", "judge-a"]
    assert [one["mark"] for one in told] == [*[None] * (len(told) - 2), "unfinished", "failing"]


def test_qrels_of_a_judge_tell_its_mark(world: Study) -> None:
    for name, mark in MARKS.items():
        [about] = compile_qrels(criterion_of(world), raters=[name], at=AT).provenance["raters"]
        assert about["mark"] == mark


def test_a_bundle_tells_the_marks_and_its_figures_still_come_out(world: Study) -> None:
    out = BytesIO()
    write_bundle(world, out, at=AT)
    with ZipFile(out) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}

    compared = json.loads(files["figures/comparisons.json"])["answerability"]

    assert [(one["judge"], one["mark"]) for one in compared if one["judge"] in MARKS] == [
        ("judge-c", None),
        ("judge-b", "unfinished"),
        ("judge-a", "failing"),
    ]
    assert verify(files).problems == []


def test_the_number_of_queries_does_not_grow(world: Study, django_assert_max_num_queries: Any) -> None:
    for number in range(12):
        judge_by_topic(world, "answerability", a_judge_rater(world.collection, f"more-{number}"), [1, 0])

    with CaptureQueriesContext(connection) as before:
        judges_of_studies(Study.objects.all())
    other = Study.objects.create(collection=world.collection, name="other", created_by=world.created_by)
    for criterion in world.criteria.all():
        other.criteria.create(
            task_type=criterion.task_type, name=criterion.name, question="?", scale=criterion.scale, threshold=1
        )
    with_items(other)
    judge_by_topic(other, "answerability", a_judge_rater(world.collection, "one-more"), [1])

    with django_assert_max_num_queries(10):
        found = judges_of_studies(Study.objects.all())

    assert len(before) <= 10
    assert len(found.found) == 19


def completeness(study: Study, name: str, criterion: str = "answerability", **options: Any) -> tuple[int, int]:
    found = judges_of_studies([study], **options).of(
        criterion_of(study, criterion).pk, Rater.objects.get(name=name, kind="judge").pk
    )
    return found.expected, found.missing


def test_a_judge_is_expected_to_judge_what_people_judged(world: Study) -> None:
    gone = world.items.filter(task_type="answerability").order_by("pk").last()
    Judgment.objects.filter(item=gone, rater__kind="assessor").delete()

    assert completeness(world, "judge-b") == (5, 1)


def test_labels_of_excluded_people_and_labels_without_a_grade_are_expected_of_nobody(world: Study, ben: User) -> None:
    first = world.items.filter(task_type="answerability").order_by("pk").first()
    Judgment.objects.filter(rater__kind="assessor").exclude(item=first).delete()
    judge_by_topic(world, "answerability", rater_of(ben), [1, 0, 1])
    assert completeness(world, "judge-b") == (6, 2)

    Judgment.objects.filter(rater=rater_of(ben), item=first).update(grade=None, ungraded="undecided")
    Exclusion.objects.create(study=world, rater=rater_of(ben), reason="too fast", excluded_at=AT)

    assert completeness(world, "judge-b") == (1, 0)


def test_where_people_judged_another_criterion_of_the_same_items_those_are_expected(world: Study) -> None:
    rating, answers = criterion_of(world, "rating"), criterion_of(world)
    graded = world.criteria.create(
        task_type="answerability", name="report_rating", question="How well?", scale=rating.scale, threshold=3
    )
    first, *others = world.items.filter(task_type="answerability").order_by("pk")
    judge_items(graded, Rater.objects.get(name="judge-c", kind="judge"), [first], [5])
    Judgment.objects.filter(criterion=answers, rater__kind="assessor", item__in=others[1:]).delete()

    assert completeness(world, "judge-c", "report_rating") == (2, 1)


def test_where_nobody_judged_every_item_with_a_text_is_expected(world: Study) -> None:
    Judgment.objects.filter(rater__kind="assessor").delete()
    textless = world.items.filter(task_type="rating").order_by("pk").last()
    assert textless is not None
    assert textless.passage is not None
    n_without = textless.passage.items.filter(study=world, task_type="rating").count()
    type(textless.passage).objects.filter(pk=textless.passage.pk).update(text=None, text_sha256="")

    assert completeness(world, "judge-b") == (6, 2)
    assert completeness(world, "judge-c", "rating") == (12 - n_without, 0)


def test_what_is_masked_is_expected_of_nobody(world: Study) -> None:
    RubricElement.objects.filter(items__task_type="answerability", position=2).update(masked=True)

    assert completeness(world, "judge-b") == (4, 0)


def test_each_part_of_a_split_study_is_looked_at_alone(world: Study) -> None:
    make_split(study=world, test_share=0.5, by=None, at=AT, seed="1")
    test_topics = Split.objects.get(study=world).topics.filter(part=Part.TEST).values("topic")
    Judgment.objects.filter(rater__name="judge-c", item__topic__in=test_topics).delete()

    assert completeness(world, "judge-c") == (3, 0)
    assert completeness(world, "judge-b") == completeness(world, "judge-b", part=Part.TEST) == (3, 1)
    assert (
        judges_of_studies([world], part=Part.TEST).of(
            criterion_of(world).pk, Rater.objects.get(name="judge-c", kind="judge").pk
        )
        == UNMARKED
    )
