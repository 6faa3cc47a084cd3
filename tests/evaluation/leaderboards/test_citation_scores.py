"""Cited reports on a leaderboard: support of citations by people and by a judge, and what is not judged."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.timezone import now

from annotate.studies.lifecycle import open_study
from collection.banks.versions import NewEntry, make_version
from collection.models import Collection, Judgment, NuggetBank, Rater, RubricElement, Study, User
from evaluation.cited_reports.reading import read_reports
from evaluation.leaderboards.answer_scores import score_answers
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.corrected.item_values import read_item_values
from evaluation.leaderboards.export import leaderboard_as_dict, tables_of_leaderboard
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from stats.ranking.measures.citations import Citations
from tests.annotate.cited_reports import a_cited_report, a_passage, with_cited_reports
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.evaluation.answered import give

MEASURES = {
    # Citations judged: full and partial of the first sentence, contradicted of the second; one of it has no text.
    "citation-precision": (1 + 0.5 + 0) / 3,
    "citation-precision(first)": (1 + 0) / 2,
    # The third sentence cites nothing; the fourth only what has no text: it is left out.
    "citation-recall": (1 + 0 + 0) / 3,
    "citation-recall(first)": (1 + 0 + 0) / 3,
    # The first is supported in part by its second citation; the third needs a citation.
    "sentence-support": 0 / 3,
    "citation-support": 1 / 3,
}
# What the two citations whose document has no text here could make of it.
BOUNDS = {
    "citation-precision": (1.5 / 5, 3.5 / 5),
    "citation-precision(first)": (1 / 3, 2 / 3),
    "citation-recall": (1 / 4, 3 / 4),
    "citation-recall(first)": (1 / 4, 2 / 4),
    "sentence-support": (0 / 4, 1 / 4),
    "citation-support": (1 / 5, 3 / 5),
}


@pytest.fixture
def cited(collection: Collection, ada_as_rater: Rater) -> Study:
    with_cited_reports(collection, "cited-1", "cited-2")
    study = a_study_of(collection, "citation_support")
    open_study(study=study, at=now())
    items = study.items.filter(report__run__name="cited-1").order_by("pk")
    for item, grade in zip(items.filter(task_type="citation_support"), (2, 1, -1), strict=True):
        give(study, "citation_support", ada_as_rater, item, grade)
    give(study, "citation_need", ada_as_rater, items.get(task_type="citation_need"), 1)
    return study


def board_of(study: Study, measure: str) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure))


@pytest.mark.parametrize(("measure", "expected"), MEASURES.items())
def test_a_report_is_scored_by_what_is_judged_of_it(cited: Study, measure: str, expected: float) -> None:
    [people] = board_of(cited, measure).columns

    assert people.means == {"cited-1": pytest.approx(expected)}
    assert measure in offered_measures(cited)


def test_citations_without_a_grade_are_counted_not_zero(cited: Study) -> None:
    scorer, measure = Scorer.of(cited), Citations("citation-precision")
    [people] = scorer.loader.sources(measure)

    table = score_answers(scorer, measure, people)

    # Two documents of five have no text here.
    assert (table.n_ungraded, table.n_asked) == (2, 5)


@pytest.mark.parametrize(("measure", "expected"), BOUNDS.items())
def test_what_is_not_judged_bounds_a_score(cited: Study, measure: str, expected: tuple[float, float]) -> None:
    [people] = board_of(cited, measure).columns

    found = people.bounds["cited-1"]

    assert (found.low, found.high) == pytest.approx(expected)
    assert found.unjudged == (1 if "first" in measure else 2)


# --- ARGUE's figures -------------------------------------------------------------------------------


@pytest.fixture
def argued(collection: Collection, ada_as_rater: Rater) -> Study:
    """A report of 15 sentences, each with a citation, 14 of them right; of 15 nuggets, 5 of them vital, 9 are there."""
    a_passage(collection, "c-1", "The first bridge, of 1380, was of oak.")
    topic = collection.topics.order_by("topic_id")[0]
    a_cited_report(topic, "cited-1", [(f"Sentence {place}.", ["c-1"]) for place in range(15)])
    for place in range(15):
        RubricElement.objects.create(
            topic=topic,
            kind="nugget",
            element_id=f"n{place}",
            position=place,
            text=f"Nugget {place}.",
            importance="vital" if place < 5 else "okay",
        )
    study = a_study_of(collection, "citation_support", "nugget")
    open_study(study=study, at=now())
    for place, item in enumerate(study.items.filter(task_type="citation_support").order_by("sentence__position")):
        give(study, "citation_support", ada_as_rater, item, 2 if place else 1)
    asked = study.items.filter(task_type="nugget", report__run__name="cited-1").order_by("element__position")
    for place, item in enumerate(asked):
        give(study, "support", ada_as_rater, item, 2 if place < 9 else 0)
    return study


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("citation-support", 0.9333),
        ("sentence-support", 0.9333),
        ("argue-nugget-coverage", 0.6),
        ("argue-f1", 0.7304),
        # 5 · 2 + 4 of 5 · 2 + 10, and its harmonic mean with 14/15.
        ("argue-nugget-coverage-weighted", 0.7),
        ("argue-f1-weighted", 0.8),
    ],
)
def test_argue_by_hand_on_a_leaderboard_and_on_cited_reports(argued: Study, measure: str, expected: float) -> None:
    [people] = board_of(argued, measure).columns

    assert people.means == {"cited-1": pytest.approx(expected, abs=5e-5)}
    assert people.micro["cited-1"].value == pytest.approx(expected, abs=5e-5)
    [run] = read_reports(argued).runs
    share = run.share(measure.removeprefix("argue-").replace("-", " "))
    assert share.micro.value == people.micro["cited-1"].value
    assert share.macro.value == people.means["cited-1"]
    assert measure in offered_measures(argued)


def test_a_leaderboard_shows_micro_beside_the_mean(argued: Study, rosa: User, client: Client) -> None:
    client.force_login(rosa)

    page = client.get(f"/studies/{argued.name}/leaderboard/", {"measure": "argue-f1"}).content.decode()
    board = board_of(argued, "argue-f1")

    assert '<th scope="col" class="number">Micro</th>' in page
    assert "0.7304" in tables_of_leaderboard(board)["scores"].text()
    [system] = leaderboard_as_dict(board)["sources"][0]["systems"]
    assert system["micro"]["value"] == pytest.approx(0.7304, abs=5e-5)


def test_parts_of_a_nugget_decide_it(argued: Study) -> None:
    # The last answered nugget and the first that is not are parts of a new one: all of them, or any.
    topic = argued.collection.topics.order_by("topic_id")[0]
    nuggets = list(RubricElement.objects.filter(topic=topic, kind="nugget").order_by("position"))
    whole = RubricElement.objects.create(topic=topic, kind="nugget", element_id="whole", position=15, text="Both.")
    bank = NuggetBank.objects.create(collection=argued.collection, name="b")
    entries = [*(NewEntry(one.pk) for one in nuggets[:8]), NewEntry(whole.pk)]
    entries += [NewEntry(one.pk, parent=8) for one in nuggets[8:10]] + [NewEntry(one.pk) for one in nuggets[10:]]
    make_version(bank=bank, topics={topic.pk: entries}, by=None, at=now())

    def coverage(aggregator: str) -> float:
        RubricElement.objects.filter(pk=whole.pk).update(aggregator=aggregator)
        [people] = board_of(argued, "argue-nugget-coverage").columns
        return people.means["cited-1"]

    assert coverage("and") == pytest.approx(8 / 14)
    assert coverage("or") == pytest.approx(9 / 14)


def test_too_many_unjudged_nuggets_leave_bounds_and_no_score(argued: Study) -> None:
    Judgment.objects.filter(item__element__element_id__in=["n12", "n13", "n14"]).delete()

    [people] = board_of(argued, "argue-nugget-coverage").columns

    assert people.means == {}
    found = people.bounds["cited-1"]
    assert (found.low, found.high) == pytest.approx((9 / 15, 12 / 15))
    assert found.unjudged == 3


@pytest.mark.parametrize("measure", ["citation-support", "citation-precision"])
def test_scores_of_citations_are_sums_over_them(cited: Study, measure: str) -> None:
    scorer = Scorer.of(cited)
    [people] = scorer.loader.sources(parse_measure(measure))

    values = read_item_values(scorer, parse_measure(measure), people, people)

    assert values is not None
    assert values.names == ("cited-1",)
    assert float((values.shares * values.judge).sum()) == pytest.approx(MEASURES[measure])
