"""How many labels tell two systems apart in a measure of rankings has an answer, with a range and its name."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from collection.judgments.declarations import declare
from collection.models import Criterion, Draw, Judgment, Rater, Study, User
from evaluation.leaderboards.corrected.plans import corrected_by, measures_to_plan, plan_measure
from stats.calibration.pilots import NoPlan
from stats.refusals import Refused
from tests.evaluation.judged import criterion_of
from tests.evaluation.leaderboards.test_samples import drawn, drawn_once, rosa

__all__ = ["drawn", "drawn_once", "rosa"]  # fixtures

PAGE, API = "/studies/drawn/calibration/", "/api/v1/studies/drawn/calibration/plan/"


def planned(study: Study, **asked: Any) -> Any:
    return plan_measure(criterion_of(study, "relevance"), **asked)


@pytest.fixture
def erring(drawn: Study) -> Study:
    """The same study, with a judge that is wrong about every third passage."""
    grades = list(Judgment.objects.filter(rater__kind=Rater.Kind.JUDGE).order_by("pk"))
    for judgment in grades[::3]:
        judgment.grade = 3 - (judgment.grade or 0)
    Judgment.objects.bulk_update(grades, ["grade"])
    return drawn


@pytest.mark.parametrize("measure", ["nDCG@10", "P(rel=2)@10", "DCG@10"])
def test_a_smaller_difference_takes_more_labels_within_a_range(erring: Study, measure: str) -> None:
    asked: dict[str, Any] = {"measure": measure, "separate": ["run05", "run04"]}
    least = planned(erring, **asked, difference=1e-9).plan.least

    large, small = (planned(erring, **asked, difference=times * least) for times in (1.5, 1.2))
    hopeless = planned(erring, **asked, difference=0.5 * least)

    assert large.plan.needed < small.plan.needed <= 1_000
    low, high = large.plan.needed_range
    assert low <= large.plan.needed
    assert high is None or large.plan.needed <= high
    assert hopeless.plan.needed is None
    assert hopeless.plan.topics > large.plan.topics
    assert (large.pilot.n_labelled, large.pilot.n_items) == (400, 1_000)
    assert measure.partition("@")[0].partition("(")[0] in large.answer


def test_the_difference_is_the_judges_unless_it_is_given(drawn: Study) -> None:
    found = planned(drawn, measure="nDCG@10", separate=["run11", "random"])

    assert found.wanted > 0.2


def test_an_interval_around_one_system_is_planned_too(drawn: Study) -> None:
    found = planned(drawn, measure="nDCG@10", system="run05", half_width=0.04)

    assert found.plan.least is not None
    assert found.systems == ("run05",)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"measure": "AP(rel=2)", "separate": ["run05", "run04"]}, "square"),
        ({"measure": "coverage", "separate": ["run05", "run04"]}, "does not measure rankings"),
        ({"measure": "nDCG@10", "separate": ["run05", "run05"]}, "two different systems"),
        ({"measure": "nDCG@10", "half_width": 0.1}, "Choose the system"),
        ({"measure": "nDCG@10", "separate": ["run05", "nobody"]}, "No run is called “nobody”"),
        ({"measure": "R@10", "separate": ["run05", "run04"]}, "not a sum over items"),
        ({"measure": "nDCG@10", "separate": ["run05", "run04"], "judge": "nobody"}, "“nobody”"),
    ],
)
def test_says_why_nothing_is_planned(drawn: Study, asked: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        planned(drawn, **asked)


def test_labels_of_unknown_origin_have_no_plan_and_declared_ones_the_same(drawn: Study) -> None:
    asked = {"measure": "nDCG@10", "separate": ["run05", "run04"], "difference": 0.12}
    stored = planned(drawn, **asked)
    Draw.objects.all().delete()

    with pytest.raises(NoPlan, match="are not recorded"):
        planned(drawn, **asked)
    declare(drawn, random_sample=True)

    assert planned(drawn, **asked).plan == stored.plan


def test_the_page_the_command_and_the_api_plan_alike(client: Client, drawn: Study, rosa: User) -> None:
    client.force_login(rosa)
    out = StringIO()

    by_api = client.get(
        f"{API}?criterion=relevance&measure=nDCG@10&separate=run05&separate=run04&difference=0.12"
    ).json()
    page = client.get(
        PAGE,
        {"half_width": "", "measure": "nDCG@10", "first": "run05", "second": "run04", "difference": "0.12"},
    ).content.decode()
    call_command(
        "plan_labels",
        study="drawn",
        measure="nDCG@10",
        separate=["run05", "run04"],
        difference=0.12,
        json=True,
        stdout=out,
    )

    assert by_api["measure"] == "nDCG@10"
    assert by_api["plan"]["needed_range"][0] <= by_api["plan"]["needed"]
    assert json.loads(out.getvalue()) == by_api
    assert by_api["answer"] in page


def test_corrected_scores_of_the_usual_measure_are_shown_first(client: Client, drawn: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()
    found = corrected_by(criterion_of(drawn, "relevance"), measure="nDCG@10", judge="small-judge")

    assert measures_to_plan(criterion_of(drawn, "relevance"))[0].startswith("nDCG@")
    assert found is not None
    assert page.index('id="by-measure"') < page.index('id="overall"')


def test_a_judge_of_two_criteria_is_corrected_and_planned_under_its_own(drawn: Study) -> None:
    """On leaderboards it is called by its name and the criterion, on the calibration page by its name alone."""
    relevance = criterion_of(drawn, "relevance")
    asked = {"measure": "nDCG@10", "separate": ["run05", "run04"], "difference": 0.12}
    alone, scores = planned(drawn, **asked), corrected_by(relevance, measure="nDCG@10", judge="small-judge")
    usefulness = Criterion.objects.create(
        study=drawn, task_type="relevance", name="usefulness", scale=relevance.scale, threshold=1, position=9
    )
    judged = relevance.judgments.filter(rater__name="small-judge")
    Judgment.objects.bulk_create(
        Judgment(item=one.item, criterion=usefulness, rater=one.rater, grade=0, judged_at=one.judged_at)
        for one in judged.select_related("item", "rater")
    )

    found = corrected_by(relevance, measure="nDCG@10", judge="small-judge")

    assert found is not None
    assert scores is not None
    assert found.scores == scores.scores
    assert planned(drawn, **asked, judge="small-judge").plan == alone.plan
    assert planned(drawn, **asked).plan == alone.plan


def test_a_measure_of_rankings_is_of_one_system_and_the_form_says_where_to_choose_it(
    client: Client, drawn: Study, rosa: User
) -> None:
    client.force_login(rosa)
    first = client.get(PAGE).context["plan_form"]
    sent = {"measure": first["measure"].value() or measures_to_plan(criterion_of(drawn, "relevance"))[0]}

    refused = client.get(PAGE, {**sent, "half_width": "0.05"})
    of_one = client.get(PAGE, {**sent, "half_width": "0.05", "system": "run05"})
    of_yes = client.get(PAGE, {"measure": "", "half_width": "0.05"})

    assert (refused.status_code, list(refused.context["plan_form"].errors)) == (422, ["system"])
    assert (of_one.status_code, of_yes.status_code) == (200, 200)


@pytest.mark.parametrize("depth", [5, 10, 0])
def test_measures_are_planned_down_to_the_depth_of_the_pool(drawn: Study, depth: int) -> None:
    Study.objects.filter(pk=drawn.pk).update(depth=depth or None)

    names = measures_to_plan(criterion_of(drawn, "relevance"))

    assert names[0] == f"nDCG@{depth or 10}"
    assert {name.rpartition("@")[2] for name in names} == {str(depth or 10)}
