"""A leaderboard of more sources than are legible side by side: people and three judges first, all on request."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import pytest
from django.test import Client

from collection.models import Collection, Criterion, Judgment, Rater, Study, User
from evaluation.leaderboards.export import tables_of_leaderboard
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from evaluation.trust.comparison import compare_judges_of
from stats.ranking.measure_names import parse_measure
from tests.many_judges import import_campaign


@pytest.fixture
def campaign(rosa: User, tmp_path: Path) -> Study:
    collection = Collection.objects.create(name="campaign", owner=rosa)
    return import_campaign(collection, tmp_path, n_topics=6, n_passages=12, n_judges=8)


@pytest.mark.django_db
@pytest.mark.slow
def test_people_and_the_best_the_median_and_the_worst_judge_are_shown_and_all_on_request(
    client: Client, campaign: Study, rosa: User
) -> None:
    client.force_login(rosa)
    address = f"/studies/{campaign.name}/leaderboard/"

    first = client.get(address, {"measure": "P@5"})
    every = client.get(address, {"measure": "P@5", "sources": "all"})
    people = client.get(address, {"measure": "P@5", "sources": "people"})
    file = client.get(f"{address}leaderboard.json", {"measure": "P@5"}).json()

    criterion = campaign.criteria.get(name="relevance")
    complete = [one.name for one in compare_judges_of(criterion).judges if not one.completeness.mark]
    judges = [one.name for one in compare_judges_of(criterion, judge=complete).judges]
    best_median_worst = {judges[0], judges[len(judges) // 2], judges[-1]}
    assert first.context["board"].columns[0].name == "people"
    assert {column.name for column in first.context["board"].columns[1:]} == best_median_worst
    assert "sources=all" in first.content.decode()
    assert len(every.context["board"].columns) == 9
    assert "sources are shown" not in every.content.decode()
    assert [column.name for column in people.context["board"].columns] == ["people"]
    assert len(file["sources"]) == 4
    assert len(file["sources_left_out"]) == 5


@pytest.mark.django_db
def test_a_judge_without_kappa_is_not_called_the_lowest(campaign: Study) -> None:
    """A judge that is not shown grades under a criterion, too, under which people judged nothing."""
    before = measure_leaderboard(Scorer.of(campaign), parse_measure("P@5"), most_sources=6)
    relevance = campaign.criteria.get(name="relevance")
    alone = Criterion.objects.create(
        study=campaign, task_type="relevance", name="alone", scale=relevance.scale, threshold=1, position=9
    )
    graded = relevance.judgments.filter(rater__name=before.left_out[0]).select_related("item", "rater")
    Judgment.objects.bulk_create(
        Judgment(item=one.item, criterion=alone, rater=one.rater, grade=one.grade, judged_at=one.judged_at)
        for one in graded
    )

    found = measure_leaderboard(Scorer.of(campaign), parse_measure("P@5"), most_sources=6)

    assert found.chosen_by_kappa
    assert [column.name for column in found.columns] == [column.name for column in before.columns]


@pytest.mark.django_db
def test_without_any_kappa_the_first_judges_are_shown_and_said_to_be(
    client: Client, campaign: Study, rosa: User
) -> None:
    Judgment.objects.filter(criterion__study=campaign, rater__kind=Rater.Kind.ASSESSOR).delete()
    client.force_login(rosa)

    board = client.get(f"/studies/{campaign.name}/leaderboard/", {"measure": "P@5"}).context["board"]

    every = [source.name for source in Scorer.of(campaign).loader.sources(parse_measure("P@5"))]
    assert not board.chosen_by_kappa
    assert [column.name for column in board.columns] == every[:3]


@pytest.mark.django_db
def test_the_api_gives_all_sources(client: Client, campaign: Study, rosa: User) -> None:
    client.force_login(rosa)

    found = client.get(f"/api/v1/studies/{campaign.name}/leaderboard/", {"measure": "P@5"}).json()

    assert len(found["sources"]) == 9
    assert "sources_left_out" not in found


@pytest.mark.django_db
def test_cells_are_looked_up_in_the_tables_of_their_source(campaign: Study) -> None:
    board = measure_leaderboard(Scorer.of(campaign), parse_measure("P@5"), top=3)

    n_ranked = 0
    for row in board.rows():
        for column, cell in zip(board.columns, row.cells, strict=True):
            assert column.scored.judged is not None
            known = column.scored.judged.loc[row.system, list(column.topics)].dropna()
            mean = column.means.get(row.system, float("nan"))
            marks = {mark: getattr(column.marks, f"percentile_{mark}", None) for mark in (75, 85)}
            above = [mark for mark, value in marks.items() if value is not None and mean > value]
            ranks = column.stability.at_most
            ranked = row.system in ranks.index
            expected = tuple(ranks.loc[row.system, r] if ranked and r < len(ranks) else None for r in (1, 3))
            assert cell == board.cell(column, row.system)
            assert (cell.first, cell.top) == expected
            assert cell.judged == pytest.approx(known.mean())
            assert cell.percentile == max(above, default=None)
            n_ranked += cell.first is not None
    assert n_ranked >= 60


@pytest.mark.django_db
def test_the_files_say_of_a_system_what_its_cells_say(campaign: Study) -> None:
    board = measure_leaderboard(Scorer.of(campaign), parse_measure("P@5"))

    tables = tables_of_leaderboard(board)

    scores = tables["scores"].file_dicts()
    by_topic = {(system, topic, source): score for system, topic, source, score, _ in tables["topics"].rows}
    assert len(scores) == len(board.columns) * len(board.rows())
    for said in scores:
        column = next(one for one in board.columns if one.name == said["source"])
        standing = column.by_system[said["system"]]
        of_topics = [by_topic[said["system"], topic, column.name] for topic in column.topics]
        assert said["judged_at_k"] == column.judged(said["system"])
        assert (said["mean"], said["rank"]) == (standing.mean.value, standing.rank)
        assert of_topics == [None] * 6 if said["mean"] is None else fmean(of_topics) == pytest.approx(said["mean"])


@pytest.mark.django_db
def test_people_who_judged_half_rank_nothing_and_the_page_says_why_and_what_to_do(
    client: Client, campaign: Study, rosa: User
) -> None:
    of_people = Judgment.objects.filter(criterion__study=campaign, rater__kind=Rater.Kind.ASSESSOR).order_by("pk")
    Judgment.objects.filter(pk__in=list(of_people.values_list("pk", flat=True))[::2]).delete()
    client.force_login(rosa)

    page = client.get(f"/studies/{campaign.name}/leaderboard/", {"measure": "P@5"})

    words = " ".join(page.content.decode().split())
    assert "By people, fewer than two systems can be ranked, since " in words
    assert "is unjudged, more than 10%" in words
    assert f'<a href="/studies/{campaign.name}/filled-qrels/">a judge can fill</a>' in words


@pytest.mark.django_db
def test_where_people_rank_systems_nothing_is_said_of_filling(client: Client, campaign: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(f"/studies/{campaign.name}/leaderboard/", {"measure": "P@5"})

    assert "a judge can fill" not in page.content.decode()
