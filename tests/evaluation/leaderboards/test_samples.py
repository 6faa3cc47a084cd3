"""A leaderboard of labels that were drawn, or of runs that are hardly judged, ranks nothing by chance."""

from __future__ import annotations

import csv
import io
import json
import random

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client

from collection.models import Collection, Draw, Item, Judgment, Passage, Rater, Study, Topic, User
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.measures.grades import GradeTable
from stats.ranking.measure_names import parse_measure
from stats.ranking.qrels_scoring import parse_qrels_measure, score_qrels
from stats.ranking.sampled_labels import LabelDraw
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.evaluation.tied import a_run_of
from tests.factories import a_collection, a_judge_rater, a_study, a_user, rater_of

PAGE = "/studies/drawn/leaderboard/"
N_TOPICS, N_PASSAGES, N_DRAWN = 25, 40, 400


@pytest.fixture(scope="module")
def drawn_once(for_the_whole_file: None) -> Study:
    rosa = a_user("rosa", is_researcher=True)
    return a_drawn_study(a_collection(owner=rosa), rater_of(a_user("ada")))


@pytest.fixture
def drawn(drawn_once: Study, db: None) -> Study:
    return Study.objects.get(pk=drawn_once.pk)


@pytest.fixture
def rosa(drawn: Study) -> User:
    return User.objects.get(username="rosa")


def a_drawn_study(collection: Collection, ada_as_rater: Rater) -> Study:
    """Twelve runs over a pool of a thousand passages, of which Ada labelled 400 that were drawn; a judge graded all.

    `random` puts the passages in any order; the others are the better, the higher their number.
    """
    chance = random.Random(11)
    study = a_study(collection, name="drawn", task_types=("relevance",))
    collection.runs.all().delete()
    topics = Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=f"q{number}", request="Why?") for number in range(N_TOPICS)
    )
    names = {topic: [f"{topic.topic_id}-d{place}" for place in range(N_PASSAGES)] for topic in topics}
    passages = Passage.objects.bulk_create(
        Passage(collection=collection, passage_id=name, text="So it is.") for of in names.values() for name in of
    )
    by_name = {passage.passage_id: passage for passage in passages}
    items = Item.objects.bulk_create(
        Item(study=study, task_type="relevance", item_id=f"r/{name}", topic=topic, passage=by_name[name])
        for topic, of in names.items()
        for name in of
    )
    truth = [float(chance.choice([0, 0, 0, 1, 2, 3])) for _ in items]
    grade_of = {item.item_id.removeprefix("r/"): grade for item, grade in zip(items, truth, strict=True)}
    picked = chance.sample(range(len(items)), N_DRAWN)
    Draw.objects.bulk_create(
        Draw(item=items[row], inclusion_probability=N_DRAWN / len(items), design="simple", drawn_at=AT)
        for row in picked
    )
    criterion = criterion_of(study, "relevance")
    judge_items(criterion, ada_as_rater, [items[row] for row in picked], [truth[row] for row in picked])
    judge_items(criterion, a_judge_rater(collection, "small-judge"), items, list(truth))
    for number, name in enumerate(["random", *(f"run{number:02}" for number in range(1, 12))]):
        ranking = {
            topic: sorted(of, key=lambda one: -(grade_of[one] * number / 6 + chance.random() * 3))
            for topic, of in names.items()
        }
        scored = {
            topic: [(docno, rank, 100.0 - rank) for rank, docno in enumerate(of, start=1)]
            for topic, of in ranking.items()
        }
        a_run_of(collection, name, scored)
    return study


def board_of(study: Study, measure: str, **options: object) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("measure", ["nDCG@10", "AP(rel=2)", "P(rel=2)@10", "DCG@10", "RR", "R@10"])
def test_a_drawn_sample_ranks_no_system_and_no_judge_is_held_against_it(drawn: Study, measure: str) -> None:
    board = board_of(drawn, measure)

    people, judge = board.columns
    assert {one.rank for one in people.standings} == {None}
    assert {people.at_most(one.system, 1) for one in people.standings} == {None}
    assert {people.percentile(one.system) for one in people.standings} == {None}
    assert board.agreements[0].kendall.value is None
    assert board.agreements[0].divergent == ()
    assert board.flips == ()
    assert judge.means
    assert people.judged("random") == pytest.approx(0.4, abs=0.12)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP(rel=2)", "RR", "R@10"])
def test_what_a_sample_cannot_give_is_not_given_and_says_why(drawn: Study, measure: str) -> None:
    people = board_of(drawn, measure).columns[0]

    assert {one.mean.value for one in people.standings} == {None}
    assert people.why_not("random") == (
        "cannot be estimated from a drawn sample of labels (400 of 1,000 items); P@k and DCG@k can"
    )


@pytest.mark.parametrize("measure", ["P(rel=2)@10", "DCG@10"])
def test_estimates_stand_beside_their_intervals_near_what_all_labels_give(drawn: Study, measure: str) -> None:
    people, judge = board_of(drawn, measure).columns  # the judge's grades are the truth here

    inside = 0
    for one in people.standings:
        truth = judge.by_system[one.system].mean.value
        assert one.mean.low is not None
        assert one.mean.high is not None
        assert truth is not None
        inside += one.mean.low <= truth <= one.mean.high
    assert inside >= 10
    assert people.scored.estimated


@pytest.mark.slow
def test_no_page_file_or_answer_shows_a_rank_by_the_sample(
    client: Client, drawn: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    client.force_login(rosa)
    asked = {"measure": "P(rel=2)@10"}

    page = client.get(PAGE, asked).content.decode()
    answer = client.get("/api/v1/studies/drawn/leaderboard/", asked).json()
    scores = csv.DictReader(io.StringIO(client.get(f"{PAGE}scores.csv", asked).content.decode()))
    flips = client.get(f"{PAGE}flips.csv", asked).content.decode()
    latex = client.get(f"{PAGE}scores.tex", asked).content.decode()
    chart = client.get(f"{PAGE}systems.vl.json", asked).content.decode()
    call_command("leaderboard", "--study", "drawn", "--measure", "P(rel=2)@10", "--json")
    printed = json.loads(capsys.readouterr().out)

    assert "No ranks by <strong>people</strong>: its scores are estimates from a drawn sample" in page
    assert "judged@10" in page
    for found in (answer, printed):
        [people] = [source for source in found["sources"] if source["source"] == "people"]
        assert people["estimated"]
        assert {system["rank"] for system in people["systems"]} == {None}
        assert {system["p_first"] for system in people["systems"]} == {None}
        assert {one["kendall"]["value"] for one in found["correlations"]} == {None}
    assert {row["rank"] for row in scores if row["source"] == "people"} == {""}
    assert flips.count("\n") == 1
    assert "estimates from a drawn sample" in latex
    assert "people (estimated)" in chart


def test_the_page_of_correlations_holds_nothing_against_a_sample(client: Client, drawn: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get("/studies/drawn/leaderboard/correlations/").content.decode()

    assert "P(rel=η)@10 · people: estimates from a drawn sample are not ranked." in page


def test_a_run_that_is_hardly_judged_has_no_score_and_the_others_keep_theirs(drawn: Study) -> None:
    top = {docno for found in Scorer.of(drawn).rankings["random"].values() for docno in found[:2]}
    Judgment.objects.filter(rater__name="small-judge", item__passage__passage_id__in=top).delete()

    judge = board_of(drawn, "P@2", sources=["small-judge"]).columns[0]

    assert judge.by_system["random"].mean.value is None
    assert judge.why_not("random") == "100% of its first 2 passages are unjudged, more than 10%"
    assert judge.judged("random") == 0
    assert judge.by_system["random"].rank is None


@pytest.mark.parametrize(
    ("measure", "said"),
    [
        ("P(rel=4)@10", "no grade reaches 4 on a scale from 0 to 3"),
        ("P(rel=0)@10", "every grade reaches 0 on a scale from 0 to 3"),
    ],
)
def test_a_grade_that_the_scale_lacks_gives_a_reason_and_no_zero(drawn: Study, measure: str, said: str) -> None:
    judge = board_of(drawn, measure, sources=["small-judge"]).columns[0]

    assert judge.by_system["random"].mean.value is None
    assert judge.why_not("random") == said


def test_heads_name_the_grade_that_is_asked_of_each_source(client: Client, drawn: Study, rosa: User) -> None:
    client.force_login(rosa)
    drawn.criteria.update(threshold=2)

    page = client.get(PAGE, {"measure": "P(rel=η)@10"}).content.decode()

    assert "P(rel ≥ 2)@10</th>" in page


def simulated(rng: np.random.Generator, *, stratified: bool) -> tuple[dict[str, GradeTable], LabelDraw]:
    """Draw labels of 8 topics of 30 passages, each topic by its own line or all by one."""
    labels, weights = {}, {}
    probability = 0.3
    for number in range(8):
        names = tuple(f"d{place}" for place in range(30))
        picked = np.zeros(30, dtype=bool)
        if stratified:
            picked[rng.choice(30, 9, replace=False)] = True
        else:
            picked = rng.random(30) < probability
        truth = np.array([float(place % 4) for place in range(30)])
        labels[f"t{number}"] = GradeTable(names, ("",), np.where(picked, truth, np.nan)[:, None])
        weights[f"t{number}"] = GradeTable(names, ("",), np.where(picked, 1 / probability, np.nan)[:, None])
    return labels, LabelDraw(weights, n_labelled=72, n_items=240, n_waiting=0)


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize("name", ["P(rel=2)@10", "DCG@10"])
def test_estimates_are_right_on_average(name: str, stratified: bool) -> None:
    rng = np.random.default_rng(4)
    rankings = {"run": {f"t{number}": [f"d{place}" for place in range(29, -1, -1)] for number in range(8)}}
    measure = parse_qrels_measure(name, threshold=1)
    grades = [place % 4 for place in range(29, 19, -1)]
    truth = (
        sum(grade >= 2 for grade in grades) / 10
        if name.startswith("P")
        else sum(grade / np.log2(place + 2) for place, grade in enumerate(grades))
    )

    means = []
    for _ in range(200):
        labels, draw = simulated(rng, stratified=stratified)
        means.append(score_qrels(measure, labels, rankings, draw=draw).table.to_numpy().mean())

    assert np.mean(means) == pytest.approx(truth, abs=4 * np.std(means) / len(means) ** 0.5)


@pytest.mark.parametrize(("name", "most"), [("P(rel=2)@10", 1.0), ("DCG@10", 13.64)])
def test_an_estimated_mean_stays_in_the_measures_range(name: str, most: float) -> None:
    # All that are ranked deserve a 3, and by chance six of ten are labelled where three would be expected.
    names = tuple(f"d{place}" for place in range(30))
    grades = np.full((30, 1), np.nan)
    grades[:6] = 3
    labels = {f"t{number}": GradeTable(names, ("",), grades) for number in range(8)}
    weights = {topic: GradeTable(names, ("",), np.where(np.isnan(grades), np.nan, 1 / 0.3)) for topic in labels}
    draw = LabelDraw(weights, n_labelled=48, n_items=240, n_waiting=0)

    found = score_qrels(
        parse_qrels_measure(name, threshold=1), labels, {"run": {topic: list(names) for topic in labels}}, draw=draw
    )

    assert found.table.loc["run"].mean() == pytest.approx(most, abs=0.01)


def test_what_a_ranking_lacks_to_k_and_cannot_be_drawn_gains_nothing() -> None:
    # Five passages are ranked, one of them no item of the study; all four that could be drawn were, with grade 1.
    names = tuple(f"d{place}" for place in range(4))
    ones = GradeTable(names, ("",), np.ones((4, 1)))
    topics = [f"t{number}" for number in range(8)]
    draw = LabelDraw(dict.fromkeys(topics, ones), n_labelled=32, n_items=32, n_waiting=0)

    found = score_qrels(
        parse_qrels_measure("P(rel=1)@10", threshold=1),
        dict.fromkeys(topics, ones),
        {"run": {topic: [*names, "elsewhere"] for topic in topics}},
        draw=draw,
    )

    assert found.table.to_numpy()[0].tolist() == pytest.approx([0.4] * 8)
