from __future__ import annotations

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from collection.models import Item, Judgment, Rater, Study, Topic, User, WrittenAnswer
from collection.splits import make_split
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.breakdown import LENGTH, groupings
from evaluation.leaderboards.export import leaderboard_as_dict
from evaluation.leaderboards.leaderboard import Leaderboard, measure_leaderboard
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from stats.ranking.measures.preferences import Preferences
from tests.evaluation.answered import an_answered_study, an_item, element, give, report_of, write
from tests.evaluation.judged import AT
from tests.factories import a_judge_rater


@pytest.fixture
def answers(rosa: User) -> Study:
    return an_answered_study(rosa)


def topics(study: Study) -> list[Topic]:
    return list(study.collection.topics.order_by("pk"))


def board_of(study: Study, measure: str, **options: str) -> Leaderboard:
    return measure_leaderboard(Scorer.of(study), parse_measure(measure), **options)  # type: ignore[arg-type]


def means(board: Leaderboard, source: str = "people") -> dict[str, float]:
    column = next(column for column in board.columns if column.name == source)
    return {system: round(mean, 4) for system, mean in column.means.items()}


def judge_nuggets(study: Study, rater: Rater) -> list[Item]:
    """Two vital nuggets, full and partly; two okay ones, full and not at all."""
    topic = topics(study)[0]
    items = []
    for position, (importance, support) in enumerate((("vital", 2), ("vital", 1), ("okay", 2), ("okay", 0))):
        nugget = element(topic, "nugget", position, importance=importance)
        item = an_item(study, "nugget", topic, element=nugget, report=report_of(topic, "long"))
        give(study, "support", rater, item, support)
        items.append(item)
    return items


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("nuggets-vital", 0.75),
        ("nuggets-all", 0.625),
        ("nuggets-strict-vital", 0.5),
        ("nuggets-strict-all", 0.5),
        ("nuggets-weighted", 0.6667),
        ("nuggets-strict-weighted", 0.5),
    ],
)
def test_nuggets_score_strictly_or_not_vital_or_all(
    answers: Study, ada_as_rater: Rater, measure: str, expected: float
) -> None:
    judge_nuggets(answers, ada_as_rater)

    assert means(board_of(answers, measure)) == {"long": expected}
    assert measure in offered_measures(answers)


def test_importance_that_nobody_stated_comes_from_the_sources_grades(answers: Study, ada_as_rater: Rater) -> None:
    items = judge_nuggets(answers, ada_as_rater)
    answers.collection.topics.get(topic_id="q0").rubric_elements.update(importance="")
    for item, vital in zip(items, (0, 0, 1, 0), strict=True):
        give(answers, "importance", ada_as_rater, item, vital)

    assert means(board_of(answers, "nuggets-strict-vital")) == {"long": 1.0}


def test_texts_are_held_against_references_without_anybodys_grades(answers: Study, ada_as_rater: Rater) -> None:
    item = an_item(answers, "written_answer", topics(answers)[0], passage=answers.collection.passages.first())
    write(answers, ada_as_rater, item, "The bridge was built of stone in 1830 by monks.")

    rouge = board_of(answers, "ROUGE-L")

    assert [column.name for column in rouge.columns] == ["references"]
    table = rouge.columns[0].board.scored.table
    of_long = table.loc["long"].to_dict()
    assert of_long["q0"] == 1.0  # what Ada wrote is a reference too, and the best counts
    assert 0 < of_long["q1"] < 1
    assert "q3" not in table.columns  # it has no answer
    assert means(board_of(answers, "ROUGE-L-passage"), "references")["long"] == 1.0
    length = board_of(answers, "length").columns[0].board.scored.table
    assert length.loc["short"].to_dict() == {"q0": 13.0, "q1": 13.0, "q2": 13.0}
    recall = board_of(answers, "ROUGE-1-recall").columns[0].board.scored.table
    assert recall.loc["long", "q1"] == pytest.approx(1.0)


def test_the_passage_is_compared_under_its_title(answers: Study) -> None:
    answers.collection.passages.update(title="The old bridge")

    found = board_of(answers, "ROUGE-L-passage").columns[0].board.scored.table

    # All 10 words of the long answer stand in the passage, which has 3 more in its title.
    assert found.loc["long", "q0"] == pytest.approx(2 * (10 / 13) / (1 + 10 / 13))


def test_what_the_second_round_changed_is_a_reference_too(answers: Study, ada_as_rater: Rater) -> None:
    topic = topics(answers)[0]
    item = an_item(answers, "answer_revision", topic, passage=answers.collection.passages.first())
    judgment = give(answers, "revision", ada_as_rater, item, 1)
    WrittenAnswer.objects.create(judgment=judgment, text="The bridge was built of stone in 1830 by monks.")

    found = board_of(answers, "ROUGE-L").columns[0].board.scored.table.loc["long"].to_dict()

    assert found["q0"] == 1.0
    assert found["q1"] < 1.0


def test_a_topic_without_a_reference_is_undefined_and_says_so(answers: Study) -> None:
    topic = topics(answers)[0]
    topic.attributes.pop("references")
    topic.save()

    scored = board_of(answers, "ROUGE-L").columns[0].board.scored

    assert scored.reasons == {"There is no reference.": 2}


def test_who_says_that_it_does_not_know_is_right_where_there_is_no_answer(answers: Study, ada_as_rater: Rater) -> None:
    for topic in topics(answers)[2:]:
        for system, unknown in (("long", 0), ("short", 1)):
            item = an_item(answers, "answer_evaluation", topic, report=report_of(topic, system))
            give(answers, "unknown", ada_as_rater, item, unknown)

    board = board_of(answers, "unanswerable")

    assert means(board) == {"long": 0.0, "short": 1.0}
    assert means(board, "references") == {"long": 0.0, "short": 1.0}
    assert list(board.columns[0].board.scored.table.columns) == ["q3"]


def test_an_outcome_of_no_answer_by_everybody_makes_a_question_unanswerable(
    answers: Study, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    topic = topics(answers)[0]
    topic.attributes.pop("answerable")
    topic.save()
    item = an_item(answers, "written_answer", topic, passage=answers.collection.passages.first())
    write(answers, ada_as_rater, item, "", outcome=0)
    write(answers, ben_as_rater, item, "", outcome=0)

    table = board_of(answers, "unanswerable").columns[0].board.scored.table

    assert list(table.columns) == ["q0", "q3"]


def rate(study: Study, rater: Rater, grades: dict[str, tuple[float | None, float]]) -> None:
    topic = topics(study)[0]
    for system, (faithful, appropriate) in grades.items():
        item, _ = Item.objects.get_or_create(
            study=study,
            task_type="answer_evaluation",
            item_id=f"rate-{system}",
            topic=topic,
            report=report_of(topic, system),
        )
        give(study, "faithful", rater, item, faithful)
        give(study, "appropriate", rater, item, appropriate)


@pytest.mark.parametrize("measure", ["faithful", "appropriate", "F+A"])
def test_answers_to_unanswerable_questions_are_not_rated_for_faith_or_fit(
    answers: Study, ada_as_rater: Rater, measure: str
) -> None:
    rate(answers, ada_as_rater, {"long": (4, 4), "short": (2, 2)})
    unanswerable = topics(answers)[3]
    item = an_item(answers, "answer_evaluation", unanswerable, report=report_of(unanswerable, "long"))
    give(answers, "faithful", ada_as_rater, item, 1)
    give(answers, "appropriate", ada_as_rater, item, 1)

    board = board_of(answers, measure)

    assert means(board) == {"long": 4.0, "short": 2.0}
    assert list(board.columns[0].board.scored.table.columns) == ["q0"]
    assert "over answerable questions" in board.notes[0]


def test_scale_means_are_over_raters_and_f_plus_a_is_each_raters_own(
    answers: Study, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    rate(answers, ada_as_rater, {"long": (4, 2), "short": (1, 1)})
    rate(answers, ben_as_rater, {"long": (3, 3), "short": (None, 2)})

    assert means(board_of(answers, "faithful")) == {"long": 3.5, "short": 1.0}
    assert means(board_of(answers, "F+A")) == {"long": round((8 / 3 + 3) / 2, 4), "short": 1.0}
    assert board_of(answers, "faithful").columns[0].board.scored.n_ungraded == 1
    assert {"faithful", "appropriate", "F+A"} <= set(offered_measures(answers))


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("win-rate", {"long": 0.5, "short": 0.0}),
        ("win-rate(ties=half)", {"long": 0.75, "short": 0.25}),
        ("win-rate(ties=none)", {"long": 0.5, "short": 0.0}),
        ("win-rate(ties=both)", {"long": 1.0, "short": 0.5}),
    ],
)
def test_win_rates_count_ties_as_they_are_told(
    answers: Study, ada_as_rater: Rater, ben_as_rater: Rater, measure: str, expected: dict[str, float]
) -> None:
    topic = topics(answers)[0]
    item = an_item(
        answers,
        "preference",
        topic,
        report=report_of(topic, "short"),
        other_report=report_of(topic, "long"),
    )
    give(answers, "preference", ada_as_rater, item, -1)
    give(answers, "preference", ben_as_rater, item, 0)
    give(answers, "preference", a_judge_rater(answers.collection), item, None)

    board = board_of(answers, measure)

    assert means(board) == expected
    of_judge = board.columns[1].board
    assert (of_judge.scored.n_ungraded, of_judge.scored.reasons) == (1, {})
    assert set(of_judge.scored.withheld.values()) == {of_judge.source.completeness.why}
    assert board.rule


def test_names_of_measures_are_told_apart() -> None:
    assert parse_measure("KPR").family == "key points"
    assert parse_measure("win-rate(ties=none)").family == "preferences"
    assert parse_measure("win-rate(ties=some)").of_qrels
    assert parse_measure("KPR@10").of_rankings
    assert Preferences("win-rate").ties == "none"
    assert Preferences("win-rate(ties=half)").ties == "half"


def test_means_are_broken_down_by_domain_and_by_length(answers: Study, ada_as_rater: Rater) -> None:
    by_domain = board_of(answers, "length", by="domain").breakdown
    by_length = board_of(answers, "length", by=LENGTH).breakdown

    assert by_domain is not None
    assert by_domain.groups == ("history", "nature")
    assert [mean.n for mean in by_domain.means["references"]["long"] if mean] == [2, 1]
    assert by_length is not None
    assert [mean.value for mean in by_length.means["references"]["short"] if mean] == [13.0]
    assert groupings(Scorer.of(answers)) == ["answerable", "domain", LENGTH]
    with pytest.raises(NoLeaderboard, match="cannot be grouped by “colour”"):
        board_of(answers, "length", by="colour")


def test_the_page_the_api_and_the_command_show_them(
    client: Client, answers: Study, rosa: User, ada_as_rater: Rater
) -> None:
    judge_nuggets(answers, ada_as_rater)
    client.force_login(rosa)
    out = StringIO()

    page = client.get("/studies/answers-study/leaderboard/", {"measure": "nuggets-vital", "by": "domain"})
    api = client.get("/api/v1/studies/answers-study/leaderboard/", {"measure": "nuggets-vital", "by": "domain"}).json()
    table = client.get("/studies/answers-study/leaderboard/breakdown.csv", {"measure": "nuggets-vital", "by": "domain"})
    call_command(
        "leaderboard", "--study", "answers-study", "--measure", "length", "--by", "length", "--json", stdout=out
    )

    assert page.status_code == 200
    assert "By domain" in page.content.decode()
    assert "partly counts as half" in page.content.decode()
    assert api["breakdown"]["groups"] == ["history"]
    assert table.content.decode().splitlines()[1].startswith("people,long,domain,history,0.75")
    assert json.loads(out.getvalue())["breakdown"]["by"] == LENGTH
    assert client.get("/studies/answers-study/leaderboard/", {"measure": "length", "by": "x"}).status_code == 422


def test_the_number_of_queries_does_not_grow_with_topics(answers: Study, ada_as_rater: Rater) -> None:
    judge_nuggets(answers, ada_as_rater)
    with CaptureQueriesContext(connection) as before:
        board_of(answers, "nuggets-all")
    for topic in topics(answers)[1:]:
        nugget = element(topic, "nugget", 9, importance="vital")
        give(
            answers,
            "support",
            ada_as_rater,
            an_item(answers, "nugget", topic, element=nugget, report=report_of(topic, "short")),
            2,
        )

    with CaptureQueriesContext(connection) as after:
        board_of(answers, "nuggets-all")

    assert len(after) == len(before)


@pytest.mark.slow
def test_every_measure_of_answers_keeps_to_the_visible_topics(answers: Study, ada_as_rater: Rater, rosa: User) -> None:
    judge = a_judge_rater(answers.collection)
    for topic in topics(answers):
        nugget, key_point = (element(topic, kind, 9) for kind in ("nugget", "key_point"))
        own = element(topic, "key_point", 8, attributes={"run": "long"})
        passage = answers.collection.passages.get(passage_id=f"p{topic.topic_id[1:]}")
        long, short = (report_of(topic, system) for system in ("long", "short"))
        said = an_item(answers, "nugget", topic, element=nugget, report=long)
        asked = [
            ("support", said, 2),
            ("importance", said, 1),
            ("grounded", an_item(answers, "key_point", topic, element=key_point, report=long), 1),
            ("grounded", an_item(answers, "key_point", topic, element=own, passage=passage), 1),
            ("preference", an_item(answers, "preference", topic, report=long, other_report=short), -1),
        ]
        for report in (long, short):
            item = an_item(answers, "answer_evaluation", topic, report=report)
            asked += [(name, item, grade) for name, grade in (("faithful", 1), ("appropriate", 1), ("unknown", 0))]
        for rater in (ada_as_rater, judge):
            for name, item, grade in asked:
                give(answers, name, rater, item, grade)
    split = make_split(study=answers, test_share=0.5, by=rosa, at=AT, seed="s")
    test_topics = split.topics.filter(part="test").values("topic")
    measures = offered_measures(answers)
    before = {measure: leaderboard_as_dict(board_of(answers, measure)) for measure in measures}

    Judgment.objects.filter(item__topic__in=test_topics).delete()

    assert {"KPF", "nuggets-vital", "F+A", "unanswerable", "win-rate"} <= set(measures)
    for measure in measures:
        assert leaderboard_as_dict(board_of(answers, measure)) == before[measure]
        assert before[measure]["part"] == ("all" if parse_measure(measure).family == "texts" else "development")
