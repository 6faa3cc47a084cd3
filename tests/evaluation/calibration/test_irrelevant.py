"""What a source does not name is irrelevant where a researcher declares it, for every measure and board."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client

from collection.judgments.declarations import declarations_of, declare
from collection.models import Draw, Item, Judgment, Rater, Study, User
from evaluation.calibration.report import calibrate
from evaluation.data.drawn_labels import NAMED
from evaluation.leaderboards.corrected.plans import corrected_by, plan_measure
from evaluation.leaderboards.corrected.posted_run import score_posted_run
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.hole_filling import fill_qrels
from evaluation.publishing.qrels import compile_qrels
from stats.calibration.pilots import NoPlan
from stats.ranking.filled_qrels import NotFilled
from stats.ranking.measure_names import parse_measure
from tests.evaluation.judged import criterion_of
from tests.evaluation.leaderboards.test_samples import drawn, drawn_once, rosa

__all__ = ["drawn", "drawn_once", "rosa"]  # fixtures

PAGE, API = "/studies/drawn/calibration/declarations/", "/api/v1/studies/drawn/declarations/"
REASON = "Gold passages are all that is relevant."
MEASURES = ["nDCG@10", "P(rel=1)@10", "RR(rel=1)", "AP(rel=1)", "AP(rel=1)@1000", "R(rel=1)@1000", "Success@5"]
TELLING_UNJUDGED = ["Judged@10", "Bpref(rel=1)", "nDCG(judged_only=True)@10", "infAP(rel=1)"]


@pytest.fixture
def gold(drawn: Study) -> Study:
    """People name what is relevant alone: three passages a topic at most."""
    people = Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR)
    people.filter(grade=0).delete()
    return drawn


def board_of(study: Study, measure: str) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure), sources=["people"])


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_has_the_score_that_written_zeros_give(gold: Study, measure: str) -> None:
    before = board_of(gold, measure).columns[0]

    declare(gold, irrelevant={"people": REASON})

    after = board_of(gold, measure).columns[0]
    assert not before.means
    assert len(after.means) == 12
    assert set(map(after.judged, after.means)) == {1.0}
    assert not after.scored.n_ungraded
    assert any(REASON in note for note in board_of(gold, measure).notes)
    write_zeros(gold)
    declare(gold, irrelevant={"people": ""})
    assert after.means == pytest.approx(board_of(gold, measure).columns[0].means)


@pytest.mark.parametrize("measure", TELLING_UNJUDGED)
def test_what_is_ranked_and_no_item_is_irrelevant_to_measures_that_tell_unjudged(gold: Study, measure: str) -> None:
    """The study asks about every second passage alone; with zeros for all of them, nothing changes."""
    outside = [item.pk for place, item in enumerate(gold.items.order_by("pk")) if place % 2]
    Judgment.objects.filter(item__in=outside).delete()
    Draw.objects.all().delete()
    items = list(gold.items.filter(pk__in=outside))
    gold.items.filter(pk__in=outside).delete()
    declare(gold, irrelevant={"people": REASON})

    declared = board_of(gold, measure).columns[0]

    Item.objects.bulk_create(items)
    write_zeros(gold)
    declare(gold, irrelevant={"people": ""})
    assert len(declared.means) == 12
    assert declared.means == pytest.approx(board_of(gold, measure).columns[0].means)


@pytest.mark.parametrize("stored", [True, False])
def test_nothing_is_left_to_correct_to_plan_or_to_draw(gold: Study, stored: bool) -> None:
    if not stored:
        Draw.objects.all().delete()
    declare(gold, irrelevant={"people": REASON})
    criterion, judge = criterion_of(gold, "relevance"), Rater.objects.get(kind=Rater.Kind.JUDGE).name

    corrected = corrected_by(criterion, measure="nDCG@10", judge=judge)
    found = calibrate(criterion)

    assert corrected is not None
    assert (corrected.reason, corrected.undeclared) == (NAMED, False)
    with pytest.raises(NoPlan, match=NAMED):
        plan_measure(criterion, measure="nDCG@10", separate=["run05", "run04"])
    assert (found.population.known, found.how_known) == ("named", NAMED)
    assert not found.population.undrawn.any()
    write_zeros(gold)
    declare(gold, irrelevant={"people": ""})
    assert found.overall.ppi.estimate == calibrate(criterion_of(gold, "relevance")).overall.ppi.estimate


def test_a_topic_of_which_people_name_nothing_has_no_part_in_the_share_of_yes(gold: Study) -> None:
    people = Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR)
    people.filter(item__topic__topic_id="q0").delete()
    one = people.order_by("pk")[0]
    people.filter(pk=one.pk).update(grade=None, ungraded="unreadable")
    declare(gold, irrelevant={"people": REASON})

    labels = calibrate(criterion_of(gold, "relevance")).population.labels

    assert (labels.n_topics, labels.n_items, labels.n_labelled) == (24, 24 * 40, 24 * 40 - 1)


def write_zeros(study: Study) -> None:
    """Write what the declaration says: a 0 for every other item, and no draw."""
    criterion = criterion_of(study, "relevance")
    rater = Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR)[0].rater
    named = Judgment.objects.filter(rater=rater).values("item")
    Draw.objects.all().delete()
    Judgment.objects.bulk_create(
        Judgment(criterion=criterion, item=item, rater=rater, grade=0, judged_at=datetime(2026, 1, 1, tzinfo=UTC))
        for item in study.items.exclude(pk__in=named)
    )


def test_ungraded_replies_stay_unjudged(gold: Study) -> None:
    judge = Rater.objects.get(kind=Rater.Kind.JUDGE)
    replies = Judgment.objects.filter(rater=judge).order_by("pk")
    replies.filter(pk__in=list(replies.values_list("pk", flat=True)[::2])).update(grade=None, ungraded="unreadable")

    declare(gold, irrelevant={judge.name: "It was asked about everything else."})

    board = measure_leaderboard(Scorer.of(gold), parse_measure("nDCG@10"), sources=[judge.name])
    assert not board.columns[0].means


def test_a_topic_of_which_a_source_names_nothing_stays_unjudged(gold: Study) -> None:
    topic = gold.collection.topics.get(topic_id="q0")
    Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR, item__topic=topic).delete()

    declare(gold, irrelevant={"people": REASON})

    assert "q0" not in board_of(gold, "nDCG@10").columns[0].topics


def test_a_posted_run_is_judged_whole(gold: Study) -> None:
    run = "".join(f"q{topic} Q0 {docno} 1 1 x\n" for topic in range(25) for docno in (f"q{topic}-d0", "nowhere"))

    declare(gold, irrelevant={"people": REASON})

    scores = score_posted_run(gold, run=run, measure="P(rel=1)@10").scores
    people = next(one for one in scores if one.source == "people")
    assert people.unjudged == 0
    assert people.mean.value is not None


def test_nothing_is_left_to_fill_and_no_hole_to_list(gold: Study) -> None:
    criterion, at = criterion_of(gold, "relevance"), datetime(2026, 1, 1, tzinfo=UTC)
    before = compile_qrels(criterion, holes_at=10, at=at).holes

    declare(gold, irrelevant={"people": REASON})

    criterion = criterion_of(gold, "relevance")
    with pytest.raises(NotFilled, match="Gold passages"):
        fill_qrels(criterion, at=at)
    assert any(one.unjudged for one in before)
    assert not compile_qrels(criterion, holes_at=10, at=at).holes


def test_provenance_and_data_card_name_it_with_its_reason(gold: Study) -> None:
    declare(gold, irrelevant={"people": REASON})

    made = compile_qrels(criterion_of(gold, "relevance"), at=datetime(2026, 1, 1, tzinfo=UTC))

    assert made.provenance["declared"]["irrelevant"] == {"people": REASON}
    assert REASON.rstrip(".") in compile_data_card(gold)


def test_people_cannot_be_a_sample_and_name_all(gold: Study) -> None:
    declare(gold, irrelevant={"people": REASON})

    with pytest.raises(ValidationError):
        declare(gold, random_sample=True)
    with pytest.raises(ValidationError):
        declare(gold, irrelevant={"nobody": REASON})

    assert declarations_of(Study.objects.get(pk=gold.pk)) == {"random_sample": False, "irrelevant": {"people": REASON}}


def test_page_api_and_command_declare_alike(client: Client, gold: Study, rosa: User) -> None:
    client.force_login(rosa)

    client.post(PAGE, {"source": "people", "reason": REASON})
    shown = client.get(PAGE).content.decode()
    by_page = declarations_of(Study.objects.get(pk=gold.pk))["irrelevant"]
    client.post(API, {"irrelevant": {"people": ""}}, content_type="application/json")
    taken_back = client.get(API).json()["irrelevant"]
    call_command("declare", "--study", "drawn", "--irrelevant", f"people={REASON}", stdout=StringIO())
    refused = client.post(API, {"random_sample": True}, content_type="application/json")
    out = StringIO()
    call_command("leaderboard", study="drawn", measure="nDCG@10", json=True, stdout=out)
    sources: list[dict[str, Any]] = json.loads(out.getvalue())["sources"]

    assert by_page == {"people": REASON}
    assert 'data-irrelevant="people"' in shown
    assert taken_back == {}
    assert refused.status_code == 400
    assert client.post(PAGE, {"random_sample": "on"}).status_code == 422
    assert all(one["value"] is not None for one in sources[0]["systems"])
