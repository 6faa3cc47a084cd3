"""Systems in the order of each judge, beside people's: figures, pages, files."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from collection.models import Collection, Judgment, RankedPassage, Rater, Study, System, User
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.measures.board import measure_board
from evaluation.leaderboards.sources import Scorer
from evaluation.trust import comparison
from evaluation.trust.comparison import JudgeNotCompared, compare_judges_of
from judging.models import GradingJob, Judge
from stats.ranking.measure_names import parse_measure
from tests.evaluation.judged import FINGERPRINTS, criterion_of
from tests.factories import a_user
from tests.many_judges import import_campaign

pytestmark = pytest.mark.django_db
PAGE = "/studies/pool-qrels/judge-comparison/"
API = "/api/v1/studies/pool-qrels/judge-comparison/"
QUERY = {"criterion": "relevance", "every": "true"}
UNFINISHED = "cedar-7b-plain"


@pytest.fixture(scope="module")
def imported_once(for_the_whole_file: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    collection = Collection.objects.create(name="pool", owner=a_user("rosa", is_researcher=True))
    import_campaign(collection, tmp_path_factory.mktemp("pool"), n_topics=12, n_passages=30, n_judges=8)


@pytest.fixture
def rosa(imported_once: None) -> User:
    return User.objects.get(username="rosa")


@pytest.fixture
def pool(imported_once: None) -> Study:
    """Eight judges of 12 topics with 30 passages each, one of which left out one in eight; eight systems."""
    return Study.objects.get(name="pool-qrels")


@pytest.mark.parametrize("measure", ["nDCG@10", "P(rel=η)@5", "AP(rel=η)"])
def test_scores_and_correlations_are_those_of_the_leaderboard(pool: Study, measure: str) -> None:
    found = compare_judges_of(criterion_of(pool, "relevance"), every=True, measure=measure)

    board = measure_leaderboard(Scorer.of(pool), parse_measure(measure))
    columns = {column.name: column for column in board.columns}
    agreements = {one.other: one for one in board.agreements}
    assert found.orders is not None
    assert found.orders.measure == columns["people"].board.scored.shown
    means = columns["people"].means
    assert list(found.orders.ranks) == sorted(means, key=lambda system: -means[system])
    compared = {one.name: one.order for one in found.judges if one.order}
    assert len(compared) == 7
    for name, order in compared.items():
        theirs = agreements[name]
        assert order.kendall.value == pytest.approx(theirs.kendall.value)
        assert (order.tau_ap.low, order.tau_ap.high) == pytest.approx((theirs.tau_ap.low, theirs.tau_ap.high))
        judged = columns[name].means
        assert order.mean.value == pytest.approx(sum(judged.values()) / len(judged))
        difference = sum(judged.values()) / len(judged) - sum(means.values()) / len(means)
        assert order.too_high.value == pytest.approx(difference)
        assert order.too_high.over == "12 topics"


def test_a_judge_of_unreadable_replies_is_counted_as_such_on_every_board(pool: Study) -> None:
    judge = Rater.objects.get(name="opal-8b-plain")
    Judgment.objects.filter(rater=judge).update(grade=None, ungraded="unreadable")
    scorer = Scorer.of(pool)
    why = "360 of its 360 replies have no readable grade"

    board = measure_leaderboard(scorer, parse_measure("nDCG@10"))
    several = measure_board(Scorer.of(pool), ["AP(rel=η) · opal-8b-plain", "nDCG@10 · people"])
    compared = compare_judges_of(criterion_of(pool, "relevance"), every=True)

    column = board.columns[-1]
    assert (column.name, column.board.source.completeness.mark) == ("opal-8b-plain", "failing")
    assert (column.scored.n_ungraded, column.scored.n_asked, column.scored.reasons) == (360, 360, {})
    assert {column.why_not(system) for system in column.by_system} == {why}
    assert why in board.agreements[-1].kendall.reason
    assert {several.columns[0].column.why_not(system) for system in column.by_system} == {why}
    assert (compared.judges[-1].name, compared.judges[-1].no_order) == ("opal-8b-plain", why)


def test_recalibrated_scores_are_nearer_to_peoples_where_a_judge_grades_too_high(pool: Study) -> None:
    found = compare_judges_of(criterion_of(pool, "relevance"), every=True)

    lenient = next(one for one in found.judges if one.name == "opal-8b-plain")
    assert lenient.order
    assert lenient.order.recalibrated
    high, read = lenient.order.too_high.value or 0, lenient.order.recalibrated.too_high.value or 0
    assert high > 0.03
    assert abs(read) < high


def test_an_unfinished_judge_ranks_nothing_and_says_why(pool: Study) -> None:
    found = compare_judges_of(criterion_of(pool, "relevance"), every=True)

    last = found.judges[-1]
    assert (last.name, last.order) == (UNFINISHED, None)
    assert "of its first 10 passages are unjudged, more than 10%" in last.no_order


def test_all_judges_are_compared_and_of_more_than_can_be_the_best(pool: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    criterion = criterion_of(pool, "relevance")

    found = compare_judges_of(criterion)
    monkeypatch.setattr(comparison, "MOST", 3)
    best = compare_judges_of(criterion)
    every = compare_judges_of(criterion, every=True)
    named = compare_judges_of(criterion, judge=["opal-70b-plain", "finch-3b-plain"], against="finch-3b-plain")

    assert [one.name for one in found.judges] == [one.name for one in every.judges]
    assert (len(found.judges), len(found.choices), found.judges[-1].name) == (8, 8, UNFINISHED)
    complete = compare_judges_of(criterion, judge=[one.name for one in found.judges[:-1]])
    assert [one.name for one in best.judges] == [one.name for one in complete.judges[:3]]
    assert [len(one.answer) for one in (found, best, named)] == [3, 1, 1]
    assert not any(one.name in said for one in best.judges for said in (*best.answer, *named.answer))
    assert [one.as_dict()["best"] for one in (found, best, named)] == [found.best, None, None]
    assert named.best
    assert found.choices[-1].name == UNFINISHED
    assert [one.name for one in named.judges] == ["opal-70b-plain", "finch-3b-plain"]
    assert named.judges[0].told_apart
    with pytest.raises(JudgeNotCompared, match="“nobody” cannot be compared"):
        compare_judges_of(criterion, judge=["nobody"])


def test_the_answer_says_who_is_best_and_what_becomes_of_the_order(pool: Study) -> None:
    found = compare_judges_of(criterion_of(pool, "relevance"), every=True)

    best, order, first = found.answer
    assert best.startswith("Of 8 judges opal-70b-plain agrees most with people (κ corrected for the choice 0.")
    assert "opal-70b-plain keeps people’s order of systems" in order
    assert "12 topics" in order
    same = sum(min(one.order.ranks, key=one.order.ranks.__getitem__) == next(iter(found.orders.ranks))
               for one in found.judges if one.order and found.orders)  # fmt: skip
    assert f"{same} of 7 judges do" in first


def test_a_judge_of_a_systems_family_is_marked(client: Client, pool: Study, rosa: User) -> None:
    System.objects.filter(name__startswith="larch").update(family="larch")
    judge = Rater.objects.get(name="larch-large-plain")
    judge.attributes["family"] = "larch"
    judge.save()
    client.force_login(rosa)

    page = client.get(PAGE, QUERY).content.decode()
    answer = client.get(API, QUERY).json()

    marked = {one["judge"]: one["own_family"] for one in answer["judges"] if one["own_family"]}
    assert marked == {"larch-large-plain": ["larch-rerank", "larch-sparse"]}
    assert page.count("family of 2 systems") == 1


def test_simulated_people_and_judges_are_said_to_be(client: Client, pool: Study, rosa: User) -> None:
    client.force_login(rosa)
    before = client.get(PAGE, QUERY).content.decode()

    Rater.objects.filter(name="people").update(origin="simulated")

    after = client.get(PAGE, QUERY).content.decode()
    assert "made by a simulation" not in before
    assert "made by a simulation</strong>, the people’s" in after
    assert client.get(API, QUERY).json()["simulated"] is True
    assert "some grades simulated" in client.get(f"{PAGE}judges.tex", QUERY).content.decode()


def test_what_a_judge_cost_is_of_its_jobs(client: Client, pool: Study, rosa: User) -> None:
    criterion = criterion_of(pool, "relevance")
    rater = Rater.objects.get(name="finch-3b-plain")
    judge = Judge.objects.create(
        rater=rater, name="finch-3b-plain", engine="openai", task_type="relevance", criterion_name="relevance",
        scale=criterion.scale, created_at=now(),
    )  # fmt: skip
    job = GradingJob.objects.create(
        study=pool, criterion=criterion, judge=judge, state="done", total=360, graded=350, ungraded=10,
        prompt_tokens=90_000, completion_tokens=18_000, price_in=1.0, price_out=5.0, created_at=now(), queued_at=now(),
    )  # fmt: skip
    client.force_login(rosa)

    priced = {one["judge"]: one for one in client.get(API, QUERY).json()["judges"]}

    assert priced["finch-3b-plain"]["cost_of_1000"] == pytest.approx(0.5)
    assert priced["finch-3b-plain"]["tokens_each"] == 300
    assert priced["opal-70b-plain"]["cost_of_1000"] is None
    GradingJob.objects.filter(pk=job.pk).update(price_in=None, price_out=None)
    unpriced = compare_judges_of(criterion, judge=["finch-3b-plain"]).judges[0].cost
    assert unpriced
    assert (unpriced.for_1000, unpriced.tokens_each) == (None, 300)


def test_without_runs_judges_are_compared_all_the_same(client: Client, pool: Study, rosa: User) -> None:
    RankedPassage.objects.all().delete()
    client.force_login(rosa)

    page = client.get(PAGE, QUERY)

    assert page.status_code == 200
    assert "Import runs to see what each judge does to the order of systems" in page.content.decode()
    assert client.get(API, QUERY).json()["systems"] is None
    assert client.get(f"{PAGE}ranks.svg", QUERY).status_code == 404


def test_files_hold_what_the_page_shows(client: Client, pool: Study, rosa: User) -> None:
    client.force_login(rosa)
    answer = client.get(API, QUERY).json()

    judges = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}judges.csv", QUERY).content.decode())))
    ranks = list(csv.DictReader(io.StringIO(client.get(f"{PAGE}ranks.csv", QUERY).content.decode())))

    assert [row["judge"] for row in judges] == [one["judge"] for one in answer["judges"]]
    assert float(judges[0]["kendall"]) == pytest.approx(answer["judges"][0]["order"]["kendall"]["value"])
    assert {row["system"]: float(row["people"]) for row in ranks} == answer["systems"]["ranks"]
    by_best = {row["system"]: float(row["opal-70b-plain recalibrated"]) for row in ranks}
    assert by_best == answer["judges"][0]["order"]["recalibrated"]["ranks"]
    assert r"\begin{tabular}" in client.get(f"{PAGE}judges.tex", QUERY).content.decode()
    assert client.get(f"{PAGE}nothing.csv", QUERY).status_code == 404


@pytest.mark.parametrize("chart", ["agreement", "differences", "ranks"])
def test_charts_name_every_judge_or_system(client: Client, pool: Study, rosa: User, chart: str) -> None:
    client.force_login(rosa)

    drawn = client.get(f"{PAGE}{chart}.svg", QUERY).content.decode()
    described = client.get(f"{PAGE}{chart}.vl.json", QUERY).json()

    assert "12 topics" in " ".join(described["title"]["subtitle"])
    names = set(Rater.objects.filter(kind="judge").values_list("name", flat=True))
    expected = {
        "agreement": names,
        "differences": names - {"opal-70b-plain"},
        "ranks": set(System.objects.values_list("name", flat=True)),
    }[chart]
    assert {name for name in expected if name not in drawn} == set()


def test_a_measure_that_does_not_exist_is_refused(client: Client, pool: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {**QUERY, "measure": "nonsense"}).status_code == 422
    refused = client.get(API, {**QUERY, "measure": "nonsense"})
    assert refused.status_code == 400
    assert "nonsense" in refused.content.decode()


def test_the_page_asks_as_many_questions_for_many_judges_as_for_few(
    client: Client, pool: Study, rosa: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(rosa)

    with django_assert_max_num_queries(60 + FINGERPRINTS):
        client.get(PAGE, {**QUERY, "judge": ["opal-70b-plain"], "every": ""})
    with django_assert_max_num_queries(60 + FINGERPRINTS):
        client.get(PAGE, QUERY)
