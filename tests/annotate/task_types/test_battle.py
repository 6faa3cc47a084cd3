"""Battles of two reports: which pairs are asked, what the page shows and hides, and what is stored."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from django.test import Client
from django.utils.timezone import now

from annotate.assignments.design import Design
from annotate.studies.lifecycle import open_study
from annotate.studies.task_counts import forecast_of
from annotate.task_types import NothingToJudge
from annotate.task_types.battle import battles_of
from collection.exporting.judgments import exported_judgments
from collection.models import Collection, Draw, Judgment, PairOrder, Report, User
from collection.models.studies import TaskType
from tests.annotate.battles import RUNS, a_collection_with_reports, a_study_of_battles, prefer
from tests.annotate.evaluated_answers import in_hands, rows_of, say
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.factories import a_user


def test_asks_every_pair_of_reports_on_a_topic_once(rosa: User) -> None:
    study = a_study_of_battles(a_collection_with_reports(rosa))

    pairs = study.items.values_list("topic__topic_id", "report__run__name", "other_report__run__name")

    asked = Counter((topic, frozenset(runs)) for topic, *runs in pairs)
    assert len(asked) == study.tasks.count() == 6
    assert set(asked.values()) == {1}
    assert not study.tasks.exclude(report=None, passage=None).exists()


def test_a_share_of_the_pairs_is_drawn_with_its_probability_each_pair_of_runs_alike(rosa: User) -> None:
    collection = a_collection_with_reports(rosa, topics=8)
    design = Design(sampling="stratified", strata="system")
    study = a_study_of(collection, "battle", sample_sizes={"battle": 12}, work=design)

    open_study(study=study, at=now())

    draws = Draw.objects.filter(item__study=study)
    assert set(draws.values_list("inclusion_probability", flat=True)) == {0.5}
    assert Counter(draws.values_list("stratum", flat=True)) == {
        "alder-1 – birch-1": 4,
        "alder-1 – cedar-1": 4,
        "birch-1 – cedar-1": 4,
    }


def test_without_two_reports_on_a_topic_it_says_what_to_import(collection: Collection) -> None:
    Report.objects.exclude(pk=Report.objects.order_by("pk")[0].pk).delete()
    study = a_study_of(collection, "battle")

    with pytest.raises(NothingToJudge, match="Import two runs with reports on the same topics"):
        battles_of(study)

    assert "two runs" in forecast_of(study)[0].problem


def test_no_system_or_run_is_named_anywhere(client: Client, rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_battles(a_collection_with_reports(rosa)))
    client.force_login(ada)

    page = client.get(f"/work/{assignment.pk}/").content.decode()
    api = client.get(f"/api/v1/assignments/{assignment.pk}/").content.decode()

    for answer in (page, api, client.get("/work/").content.decode()):
        assert not any(name.partition("-")[0] in answer for name in RUNS)
    assert page.count("<strong>oak</strong>") == 2 or page.count("oak") == 2
    sides = json.loads(api)["extras"]["sides"]
    assert [side["side"] for side in sides] == ["left", "right"]


@pytest.mark.parametrize("swapped", [False, True])
def test_grades_stand_from_left_to_right_whichever_report_is_first(
    client: Client, rosa: User, ada: User, swapped: bool
) -> None:
    assignment = in_hands(ada, a_study_of_battles(a_collection_with_reports(rosa)))
    assignment.asked.update(swapped=swapped)
    [row] = rows_of(assignment, TaskType.BATTLE)
    client.force_login(ada)

    page = client.get(f"/work/{assignment.pk}/").content.decode()

    values = ["-1", "0", "1"] if swapped else ["1", "0", "-1"]
    asked = page[page.index("<fieldset") :]
    places = [asked.index(f'value="{value}"') for value in values]
    assert places == sorted(places)
    names = [page.index(f">{name}</span>") for name in ("Left", "Tie", "Right")]
    assert names == sorted(names)
    left, right = (row.item.other_report, row.item.report) if swapped else (row.item.report, row.item.other_report)
    assert left is not None
    assert right is not None
    assert page.index(left.text[12:21]) < page.index(right.text[12:21])


def test_remembers_which_report_stood_on_the_left(rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_battles(a_collection_with_reports(rosa)))
    assignment.asked.update(swapped=True)

    say(assignment, rows_of(assignment, TaskType.BATTLE)[0], better=1)

    judgment = Judgment.objects.get()
    assert judgment.grade == 1  # the item's first report, which stood on the right
    assert list(PairOrder.objects.values_list("judgment", "swapped", "grade")) == [(judgment.pk, True, 1)]


def test_sides_are_drawn_for_each_assessor(rosa: User) -> None:
    people = [a_user(f"person{number}") for number in range(8)]
    study = a_study_of_battles(a_collection_with_reports(rosa, topics=1), *people, overlap=8)

    sides = {rows_of(in_hands(person, study), TaskType.BATTLE)[0].swapped for person in people}

    assert sides == {False, True}


def test_the_export_tells_the_sides(rosa: User, ada: User) -> None:
    study = a_study_of_battles(a_collection_with_reports(rosa), ada)
    prefer(ada, study, "alder-1")

    [line] = [json.loads(line) for line in "".join(exported_judgments(study, table="jsonl")).splitlines()]

    assert line["criterion"] == "better"
    assert {line["run"], line["other_run"]} <= set(RUNS)
    assert line["orders"][0]["grade"] == line["grade"]


def test_reviewers_read_which_side_was_preferred(client: Client, rosa: User, ada: User) -> None:
    ben = a_user("ben")
    study = a_study_of_battles(a_collection_with_reports(rosa, topics=1, runs=RUNS[:2]), ada, ben, overlap=2)
    prefer(ada, study, "alder-1")
    prefer(ben, study, "birch-1")
    [item] = study.items.all()
    client.force_login(rosa)

    page = client.get(f"/studies/{study.name}/review/disagreements/{item.pk}/better/").content.decode()

    assert "The first report" in page
    assert "The second report" in page
