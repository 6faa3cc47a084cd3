"""What masking does to figures, and masking by grades: page, command and API."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.judgments.judged_criteria import read_judged
from collection.masking import mask_elements, unmask_elements
from collection.models import Item, Judgment, Masking, Rater, RubricElement, Study, User
from evaluation.data.judgments import load_criterion
from evaluation.formats.zip_files import read_archive
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from evaluation.publishing.audit_bundle import write_bundle
from evaluation.publishing.qrels import compile_qrels
from evaluation.rubrics.masking import MaskingByGrades, mask_unfulfilled, masking_by_grades
from stats.audit_bundle import figures_of
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.evaluation.ranked import three_systems

PAGE = "/studies/bridges-study/masking/"
API = "/api/v1/studies/bridges-study/masking/"


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def third_questions(study: Study) -> list[RubricElement]:
    """Return the third sub-question of each topic: `best` alone answers it."""
    found = RubricElement.objects.filter(topic__collection=study.collection, kind="sub_question", position=2)
    return list(found.order_by("topic__pk"))


def by_hand(study: Study, by: User) -> None:
    mask_elements(elements=third_questions(study), reason="ill-posed", by=by, at=AT)


def unanswered(study: Study, topic: str = "t2") -> RubricElement:
    """Let nobody's grade of a passage reach the threshold on the topic's third sub-question."""
    items = Item.objects.filter(task_type="rating", topic__topic_id=topic, element__position=2)
    Judgment.objects.filter(item__in=items).update(grade=2, ungraded="")
    return RubricElement.objects.get(topic__topic_id=topic, kind="sub_question", position=2)


def by_people(study: Study, **options: str) -> MaskingByGrades:
    return masking_by_grades(study, source="people", **options)


def means(study: Study, measure: str = "coverage") -> dict[str, float]:
    board = measure_leaderboard(Scorer.of(study), parse_measure(measure), sources=["people"])
    return {system: round(mean, 4) for system, mean in board.columns[0].means.items()}


def test_a_masked_question_leaves_the_denominators_and_comes_back(ranked: Study, rosa: User) -> None:
    before = means(ranked)
    n_judgments = Judgment.objects.count()

    by_hand(ranked, rosa)
    masked = means(ranked)
    unmask_elements(elements=third_questions(ranked), reason="fine", by=rosa, at=AT)

    assert masked == {"best": 1.0, "middle": 0.9167, "worst": 0.4167}
    assert before == means(ranked) == {"best": 1.0, "middle": 0.6111, "worst": 0.2778}
    assert Judgment.objects.count() == n_judgments


def test_agreement_and_qrels_leave_out_what_is_masked(ranked: Study, rosa: User) -> None:
    criterion = criterion_of(ranked)
    before = len(load_criterion(criterion).ratings.items)

    by_hand(ranked, rosa)

    assert len(load_criterion(criterion).ratings.items) == before - 18  # 3 reports on 6 topics
    ratings = compile_qrels(criterion_of(ranked, "rating"), at=AT)
    assert not [line for line in ratings.lines if line.endswith("p2 5")]


def test_what_was_masked_by_grades_stays_in_their_own_agreement(ranked: Study, rosa: User) -> None:
    rating, answerability = criterion_of(ranked, "rating"), criterion_of(ranked)
    of_ratings, of_reports = (len(load_criterion(one).ratings.items) for one in (rating, answerability))
    unanswered(ranked)

    mask_unfulfilled(by_people(ranked), by=rosa, at=AT)

    assert len(load_criterion(rating).ratings.items) == of_ratings
    assert len(load_criterion(answerability).ratings.items) == of_reports - 3


def test_a_bundle_gives_the_figures_that_the_pages_show(ranked: Study, rosa: User, tmp_path: Path) -> None:
    by_hand(ranked, rosa)
    path = tmp_path / "bundle.zip"

    with path.open("wb") as out:
        write_bundle(ranked, out, at=AT)

    files = read_archive(path)
    agreement = json.loads(files["figures/agreement.json"])["answerability"]
    assert agreement["n_items"] == len(load_criterion(criterion_of(ranked)).people.items)
    assert figures_of(files)["figures/agreement.json"] == files["figures/agreement.json"]


def test_figures_that_were_kept_are_computed_anew_after_a_masking(ranked: Study, rosa: User) -> None:
    studies = Study.objects.filter(pk=ranked.pk)
    before = read_judged(studies)

    by_hand(ranked, rosa)

    after = read_judged(studies)
    assert after.fingerprint(after.criteria) != before.fingerprint(before.criteria)


def test_what_no_passage_answers_is_masked_with_the_rule_as_its_reason(ranked: Study, rosa: User) -> None:
    element = unanswered(ranked)
    found = by_people(ranked)

    n = mask_unfulfilled(found, by=rosa, at=AT)

    assert (n, found.counts) == (1, {"fulfilled": 17, "unfulfilled": 1, "unknown": 0})
    masking = Masking.objects.get()
    assert masking.element == element
    assert masking.reason == "Not answered by its documents: rating ≥ 3, by people."
    assert masking.basis == {"study": "bridges-study", "criteria": {"rating": 3.0}, "source": "people", "run": ""}


def test_while_a_grade_is_missing_that_may_answer_it_nothing_is_masked(ranked: Study, rosa: User) -> None:
    element = unanswered(ranked)
    Judgment.objects.filter(item__element=element, item__task_type="rating").order_by("pk").first().delete()  # type: ignore[union-attr]

    found = by_people(ranked)

    assert found.counts == {"fulfilled": 17, "unfulfilled": 0, "unknown": 1}
    assert mask_unfulfilled(found, by=rosa, at=AT) == 0


def test_only_the_passages_of_the_chosen_run_count(ranked: Study) -> None:
    # `worst` ranks the third passage alone, which answers the third sub-question.
    found = by_people(ranked, run="worst")

    assert found.counts == {"fulfilled": 6, "unfulfilled": 12, "unknown": 0}
    with pytest.raises(NoLeaderboard, match="No run “none” ranks passages"):
        by_people(ranked, run="none")


def verified(study: Study, rater: Rater) -> dict[str, RubricElement]:
    """Key points of the two topics: grounded and agreed, grounded but neutral, not grounded, unjudged."""
    elements = RubricElement.objects.filter(topic__collection=study.collection, kind="key_point").order_by("pk")
    found: dict[str, RubricElement] = {}
    for element, (name, grounded, utility) in zip(
        elements, [("agreed", 1, 1), ("neutral", 1, 0), ("absent", 0, None), ("unjudged", None, None)], strict=True
    ):
        found[name] = element
        item = Item.objects.create(
            study=study,
            task_type="key_point",
            item_id=f"kp-{element.pk}",
            topic=element.topic,
            element=element,
            passage=element.spans.get().passage,
        )
        for criterion, grade in (("grounded", grounded), ("utility", utility)):
            if grade is not None:
                judge_items(criterion_of(study, criterion), rater, [item], [grade])
    return found


def test_final_key_points_are_the_grounded_and_agreed_ones(study: Study, ada_as_rater: Rater, rosa: User) -> None:
    elements = verified(study, ada_as_rater)

    found = by_people(study)
    mask_unfulfilled(found, by=rosa, at=AT)

    assert found.rule == "grounded ≥ 1 and utility ≥ 1, by people"
    assert {one.element: one.state for one in found.found} == {
        elements["agreed"]: "fulfilled",
        elements["neutral"]: "unfulfilled",
        elements["absent"]: "unfulfilled",
        elements["unjudged"]: "unknown",
    }
    assert set(RubricElement.objects.filter(masked=True)) == {elements["neutral"], elements["absent"]}
    after = by_people(study)
    assert [(one.retained, one.retained_of) for one in (found, after)] == [(2, 4), (2, 4)]


# --- Page, command and API ------------------------------------------------------------------------


def test_rosa_sees_what_is_unfulfilled_masks_it_and_takes_it_back(client: Client, ranked: Study, rosa: User) -> None:
    element = unanswered(ranked)
    client.force_login(rosa)

    shown = client.get(PAGE, {"source": "people"}).content.decode()
    masked = client.post(PAGE, {"source": "people", "run": "", "reason": "beyond the documents"}, follow=True)
    element.refresh_from_db()
    was_masked = element.masked
    client.post(f"{PAGE}unmask/")

    assert "Unfulfilled: 1 of 18" in shown
    assert "Retained: 17 of 18." in " ".join(shown.split())
    assert "1 masked." in masked.content.decode()
    assert "beyond the documents" in masked.content.decode()
    element.refresh_from_db()
    assert (was_masked, element.masked) == (True, False)


def test_the_page_says_that_a_simulation_graded(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    before = client.get(PAGE, {"source": "people"}).content.decode()
    Rater.objects.filter(kind=Rater.Kind.ASSESSOR).update(origin="simulated", source="a coin")

    assert "made by a simulation" not in before
    assert "made by a simulation" in client.get(PAGE, {"source": "people"}).content.decode()


def test_without_grades_of_passages_the_page_says_what_is_missing(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "No grades of passages yet" in client.get(PAGE).content.decode()


def test_grades_that_are_not_there_are_refused(client: Client, ranked: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"source": "nobody"}).status_code == 422
    assert client.get(API, {"source": "nobody"}).status_code == 400


@pytest.mark.parametrize("address", [PAGE, API])
def test_strangers_find_nothing(client: Client, ranked: Study, mallory: User, address: str) -> None:
    unanswered(ranked)
    client.force_login(mallory)

    assert client.get(address).status_code == 404
    assert client.post(address, {}).status_code == 404
    assert not Masking.objects.exists()


def test_the_api_tells_and_masks(client: Client, ranked: Study, rosa: User) -> None:
    unanswered(ranked)
    client.force_login(rosa)

    told = client.get(API, {"source": "people"}).json()
    masked = client.post(API, {"source": "people"}, content_type="application/json").json()

    assert (told["fulfilled"], told["unfulfilled"], told["retained"], told["retained_of"]) == (17, 1, 17, 18)
    assert [one["element_id"] for one in told["elements"] if one["state"] == "unfulfilled"] == ["t2-q2"]
    assert masked["masked"] == 1


def command(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("mask", *arguments, "--json", stdout=out, stderr=StringIO())
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def test_the_command_shows_first_and_masks_when_somebody_decides(ranked: Study, rosa: User) -> None:
    element = unanswered(ranked)

    shown = command("--study", "bridges-study", "--source", "people")
    after_showing = Masking.objects.count()
    masked = command("--study", "bridges-study", "--source", "people", "--by", "rosa")
    named = ("--collection", "bridges", "--topic", "t2", "--element", "t2-q2", "--by", "rosa")
    unmasked = command(*named, "--unmask", "--reason", "fine after all")

    assert (shown["unfulfilled"], after_showing) == (1, 0)
    assert masked["masked"] == 1
    assert unmasked == {"changed": 1}
    assert [one.decided_by for one in element.maskings.all()] == [rosa, rosa]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--study", "bridges-study", "--unmask"), "Name the elements to unmask"),
        (("--study", "bridges-study", "--source", "nobody"), "There are no such grades"),
        (("--collection", "bridges", "--topic", "t2", "--by", "rosa"), "Name the elements"),
        (("--collection", "bridges", "--topic", "t2", "--element", "x", "--by", "rosa", "--reason", "r"), "has no x"),
        (("--collection", "bridges", "--topic", "t2", "--element", "t2-q2", "--by", "rosa"), "Enter a reason"),
        (("--study", "bridges-study", "--by", "nobody"), "There is no user “nobody”"),
    ],
)
def test_the_command_refuses_what_it_cannot_do(
    ranked: Study, rosa: User, arguments: tuple[str, ...], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        command(*arguments)
    assert not Masking.objects.exists()
