from __future__ import annotations

import sys
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from collection.models import Exclusion, RankedPassage, Rater, Study
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.columns import Column
from evaluation.leaderboards.computing import correlations, leaderboard, unsorted_board
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard, score_points
from evaluation.leaderboards.measure_correlations import correlate_measures
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import NoLeaderboard, SystemMeasure, parse_measure
from tests.evaluation.judged import AT, criterion_of
from tests.evaluation.ranked import three_systems


@pytest.fixture
def ranked(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    three_systems(study, [ada_as_rater, ben_as_rater])
    return study


def board_of(study: Study, measure: str, **options: object) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure), **options)  # type: ignore[arg-type]


def means(column: Column) -> dict[str, float]:
    return {system: round(mean, 4) for system, mean in column.means.items()}


def test_people_and_judge_stand_side_by_side(ranked: Study) -> None:
    board = board_of(ranked, "coverage")

    assert [column.name for column in board.columns] == ["people", "small-judge"]
    assert means(board.columns[0]) == {"best": 1.0, "middle": 0.6111, "worst": 0.2778}
    assert means(board.columns[1]) == {"best": 0.3333, "middle": 0.6111, "worst": 0.2778}
    assert [row.system for row in board.rows()] == ["best", "middle", "worst"]
    assert [row.system for row in board.rows("small-judge")] == ["middle", "best", "worst"]
    assert [row.system for row in board.rows("-system")] == ["worst", "middle", "best"]


def test_a_pair_that_the_judge_decides_the_other_way_is_listed(ranked: Study) -> None:
    flips = board_of(ranked, "coverage").flips

    assert [(flip.significant_under, flip.winner, flip.winner_under_other) for flip in flips] == [
        ("people", "best", "middle"),
        ("small-judge", "middle", "best"),
    ]


def test_three_systems_are_too_few_for_a_correlation_and_it_says_so(ranked: Study) -> None:
    [agreement] = board_of(ranked, "coverage").agreements

    assert agreement.kendall.value is None
    assert "at least 4 are needed" in agreement.kendall.reason
    assert {system.system for system in agreement.divergent} == {"best", "middle"}


def test_systems_of_the_judges_own_family_are_circular(ranked: Study) -> None:
    people, judge = board_of(ranked, "coverage").columns

    assert people.board.circular == frozenset()
    assert judge.board.circular == {"worst"}


def test_nothing_is_corrected_where_people_labelled_everything(ranked: Study) -> None:
    [corrected] = board_of(ranked, "coverage").corrected

    assert corrected.judge == "small-judge"
    assert corrected.scores == {}
    assert corrected.reason.startswith("Assessors have labelled every item that the judge was asked about")


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("Cover@20>=3", {"best": 1.0, "middle": 0.6667, "worst": 0.3333}),
        ("coverage@1", {"best": 0.3333, "middle": 0.3333, "worst": 0.3333}),
        ("P(rel=η)@2", {"best": 1.0, "middle": 1.0, "worst": 0.5}),
        ("alpha-nDCG@10", {"best": 1.0, "middle": 0.7654, "worst": 0.4693}),
    ],
)
def test_rankings_are_scored_by_the_grades_of_their_passages(
    ranked: Study, measure: str, expected: dict[str, float]
) -> None:
    people = board_of(ranked, measure, sources=["people"]).columns[0]

    assert means(people) == expected
    assert people.board.scored.ungraded_share == 0


def test_an_unreadable_reply_is_counted_and_covers_nothing(ranked: Study) -> None:
    judge = board_of(ranked, "Cover@20>=3", sources=["small-judge"]).columns[0]

    assert judge.board.scored.n_ungraded == 18  # the third question, for three systems on six topics
    assert judge.board.scored.table.loc["best"].mean() == pytest.approx(2 / 3)


def test_a_system_with_more_than_a_tenth_of_its_grades_missing_has_no_score_but_the_reason(ranked: Study) -> None:
    judge = board_of(ranked, "Cover@20>=3", sources=["small-judge"]).columns[0]

    assert judge.means == {}
    assert judge.why_not("best") == "11% of the grades of its first 20 passages are unjudged, more than 10%"
    assert judge.judged("middle") == pytest.approx(5 / 6)
    assert judge.at_most("best", 1) is None


def test_several_people_become_one_by_the_rule(ranked: Study, ben_as_rater: Rater) -> None:
    criterion_of(ranked).judgments.filter(rater=ben_as_rater).update(grade=0)

    people = board_of(ranked, "coverage", sources=["people"]).columns[0]

    assert set(people.means.values()) == {0.0}  # one yes and one no: the lower


def test_an_excluded_rater_does_not_count(ranked: Study, ben_as_rater: Rater) -> None:
    criterion_of(ranked).judgments.filter(rater=ben_as_rater).update(grade=0)
    Exclusion.objects.create(study=ranked, rater=ben_as_rater, reason="asleep", excluded_at=AT)

    people = board_of(ranked, "coverage", sources=["people"]).columns[0]

    assert people.means["middle"] == pytest.approx(11 / 18)


def test_a_system_without_any_score_has_no_rank_and_no_probability(ranked: Study) -> None:
    criterion_of(ranked).judgments.filter(item__report__run__name="worst").delete()

    people = board_of(ranked, "coverage", sources=["people"]).columns[0]

    assert people.by_system["worst"].rank is None
    assert people.at_most("worst", 3) is None
    assert people.at_most("best", 1) == 1.0
    assert people.board.scored.reasons == {"the source has no judgment of a report of the system on the topic": 6}


def test_a_masked_question_does_not_count(ranked: Study) -> None:
    for topic in ranked.collection.topics.all():
        topic.rubric_elements.filter(kind="sub_question", position=2).update(masked=True)

    assert board_of(ranked, "coverage").columns[0].means["best"] == 1.0


def test_an_unknown_source_is_refused_with_those_there_are(ranked: Study) -> None:
    with pytest.raises(NoLeaderboard, match="Sources that have: people, small-judge"):
        board_of(ranked, "coverage", sources=["nobody"])


def test_an_unknown_oracle_is_refused_with_the_runs_there_are(ranked: Study) -> None:
    with pytest.raises(NoLeaderboard, match="Choose one of: best, middle, worst"):
        measure_leaderboard(Scorer.of(ranked, oracle="nothing"), parse_measure("coverage@10"))


def test_what_is_offered_follows_what_was_judged(ranked: Study) -> None:
    with_rankings = offered_measures(ranked)
    RankedPassage.objects.all().delete()

    assert with_rankings == [
        "coverage",
        "Cover@20>=3",
        "coverage@10",
        "alpha-nDCG@10",
        "nDCG@10",
        "P(rel=η)@10",
        "R(rel=η)@100",
        "AP(rel=η)",
        "RR(rel=η)@10",
    ]
    assert offered_measures(ranked) == ["coverage"]


def test_nothing_is_offered_where_nothing_is_judged(study: Study) -> None:
    assert offered_measures(study) == []


def test_the_chart_shows_what_the_table_shows(ranked: Study) -> None:
    points = score_points(board_of(ranked, "coverage"), sort="small-judge")

    assert [(point.system, point.source) for point in points[:2]] == [("middle", "people"), ("middle", "small-judge")]
    assert points[0].mean == pytest.approx(11 / 18)


def test_measures_are_compared_by_every_source_and_at_other_thresholds_and_sizes(ranked: Study) -> None:
    found = correlate_measures(
        Scorer.of(ranked), [parse_measure("coverage"), parse_measure("Cover@20>=3")], varied="Cover@20"
    )

    assert [board.key for board in found.boards] == [
        "coverage · people",
        "coverage · small-judge",
        "Cover@20>=3 · people",
        "Cover@20>=3 · small-judge",
    ]
    assert found.reference is not None
    assert found.reference.key == "coverage · people"
    assert [variant.measure for variant in found.by_threshold[:5]] == [f"Cover@20≥{g}" for g in (1, 2, 3, 4, 5)]
    assert {variant.measure for variant in found.by_k} == {"Cover@1≥3"}
    assert found.by_k[0].mean == pytest.approx(1 / 3)


def test_an_unknown_reference_is_refused(ranked: Study) -> None:
    with pytest.raises(NoLeaderboard, match="Sources that have: people, small-judge"):
        correlate_measures(Scorer.of(ranked), [parse_measure("coverage")], reference="coverage · nobody")


def test_queries_do_not_grow_with_judges(ranked: Study) -> None:
    with CaptureQueriesContext(connection) as with_one:
        board_of(ranked, "nDCG@20")
    judge = Rater.objects.get(name="small-judge")
    for number in range(3):
        other = Rater.objects.create(kind="judge", name=f"judge-{number}", collection=ranked.collection)
        for judgment in judge.judgments.all():
            judgment.pk, judgment.rater = None, other
            judgment.save()

    with CaptureQueriesContext(connection) as with_four:
        board = board_of(ranked, "nDCG@20")

    assert len(board.columns) == 5
    assert len(with_four) == len(with_one)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the name of each measure is parsed, whichever module asks for it."""
    times: Counter[str] = Counter()

    def counted(name: str) -> SystemMeasure:
        times[name] += 1
        return parse_measure(name)

    for name, module in list(sys.modules.items()):
        if name.startswith(("evaluation.", "stats.")) and getattr(module, "parse_measure", None) is parse_measure:
            monkeypatch.setattr(module, "parse_measure", counted)
    return times


@pytest.mark.parametrize("measure", ["coverage", "Cover@20>=3", "nDCG@5", "P(rel=η)@5"])
def test_a_cell_of_the_leaderboard_parses_its_measure_once(ranked: Study, parsed: Counter[str], measure: str) -> None:
    board = leaderboard(ranked, measure=measure, source=[], sources="all")

    assert board.columns
    assert parsed == {measure: 1}


def test_several_measures_are_parsed_once_each(ranked: Study, parsed: Counter[str]) -> None:
    unsorted_board(ranked, column=[])
    of_board = parsed.copy()
    parsed.clear()
    correlations(ranked, column=[], measure="Cover@20", reference="coverage · people", other="coverage · small-judge")

    assert "coverage" in of_board
    assert max(of_board.values()) == 1
    assert max(parsed.values()) == 1
