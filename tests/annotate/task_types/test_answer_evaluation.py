"""Evaluation of answers: what is asked, in which order and on which side, and what is refused when."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotate.assignments.assignments import (
    FirstStepUnfinished,
    Unfinished,
    claim_next,
    reveal_passages,
    submit_assignment,
)
from annotate.assignments.errors import NotAsked
from annotate.models import AssignmentItem, TaskItem
from annotate.studies.layout import lay_out_tasks
from annotate.studies.task_counts import forecast_of_task_type
from annotate.task_types.answer_evaluation import answers_of
from annotate.task_types.texts import NothingToJudge
from collection.models import EarlierJudgment, Item, Judgment, Passage, RankedPassage, Report, Run, Study, System, User
from collection.models.judgments import PairOrder
from collection.models.studies import TaskType
from tests.annotate.evaluated_answers import (
    ITEM_TYPES,
    NOON,
    a_question,
    a_study_of_answers,
    in_hands,
    judge_the_answers_alone,
    judge_the_rest,
    rows_of,
    say,
    see_the_passages,
)
from tests.annotate.factories import enrolled
from tests.factories import a_study, a_user


def types_of(study: Study) -> Counter[str]:
    return Counter(study.items.values_list("task_type", flat=True))


# --- What is asked -------------------------------------------------------------------------------


def test_asks_of_each_answer_and_of_each_pair(rosa: User) -> None:
    study = a_study_of_answers(rosa)

    assert types_of(study) == {"answer_evaluation": 3, "preference": 3}
    assert study.tasks.get().topic.topic_id == "hum"
    assert study.tasks.get().task_items.count() == 6


def test_asks_about_the_first_three_passages_that_a_run_ranked(rosa: User) -> None:
    study = a_study_of_answers(rosa, retrieved=True)

    assert types_of(study) == {
        "answer_evaluation": 3,
        "question_passage": 3,
        "passage_use": 9,
        "preference": 3,
    }
    assert not study.items.filter(passage__passage_id="paint").exists()


def test_leaves_out_an_answer_without_a_passage(rosa: User) -> None:
    collection = a_question(rosa, retrieved=True)
    for ranked in RankedPassage.objects.filter(run__name="alder-run"):
        RankedPassage.objects.filter(pk=ranked.pk).update(passage_id=f"not-held-{ranked.rank}")
    study = a_study(collection, task_types=ITEM_TYPES)

    text, *others = answers_of(study)

    assert not others
    runs = Report.objects.in_bulk([asked.report for asked in text.items if asked.task_type == "answer_evaluation"])
    assert {report.run.name for report in runs.values()} == {"birch-run", "cedar-run"}


@pytest.mark.parametrize("systems", [(), ("alder",)])
def test_says_what_is_missing_where_there_is_nothing_to_compare(rosa: User, systems: tuple[str, ...]) -> None:
    study = a_study(a_question(rosa, systems=systems), task_types=ITEM_TYPES)

    with pytest.raises(NothingToJudge, match="Import two runs"):
        answers_of(study)
    assert "two systems" in forecast_of_task_type(study, TaskType.ANSWER_EVALUATION).problem


def test_finding_the_answers_takes_few_queries(rosa: User, django_assert_num_queries: object) -> None:
    study = a_study(a_question(rosa, retrieved=True), task_types=ITEM_TYPES)

    with django_assert_num_queries(5):  # type: ignore[operator]
        answers_of(study)


def test_a_system_that_comes_later_meets_the_earlier_answers_in_pairs(rosa: User, ada: User) -> None:
    study = a_study_of_answers(rosa)
    collection = study.collection
    run = Run.objects.create(
        collection=collection, system=System.objects.create(collection=collection, name="elm"), name="elm-run"
    )
    Report.objects.create(run=run, topic=collection.topics.get(), text="Nobody knows.")
    first = in_hands(ada, study)
    see_the_passages(first)
    judge_the_rest(first)
    submit_assignment(assignment=first, at=NOON)

    lay_out_tasks(study=study, at=NOON)
    second = in_hands(ada, study)
    see_the_passages(second)
    judge_the_rest(second)
    submit_assignment(assignment=second, at=NOON)

    assert len(rows_of(second, TaskType.ANSWER_EVALUATION)) == 1
    assert len(rows_of(second, TaskType.PREFERENCE)) == 3


# --- Order, sides and probabilities --------------------------------------------------------------


def test_order_and_sides_are_drawn_for_each_assessor_and_kept(rosa: User) -> None:
    study = a_study_of_answers(rosa)
    study.tasks.get().places.all().delete()
    task = study.tasks.get()
    task.places.bulk_create([task.places.model(task=task, number=n) for n in range(1, 31)])
    orders, sides = set(), Counter[bool]()

    for number in range(30):
        assignment = in_hands(a_user(f"assessor-{number}"), study)
        orders.add(tuple(row.item_id for row in rows_of(assignment, TaskType.ANSWER_EVALUATION)))
        sides.update(row.swapped for row in rows_of(assignment, TaskType.PREFERENCE))

    assert len(orders) > 3  # misses three of six with probability 20 · (3/6)^30 = 2e-8
    assert 20 < sides[True] < 70  # of 90: five standard deviations


def test_an_order_stays_when_the_assignment_is_asked_for_again(rosa: User, ada: User) -> None:
    study = a_study_of_answers(rosa)
    assignment = in_hands(ada, study)
    before = list(assignment.asked.values_list("item", "position", "swapped"))

    again = claim_next(study=study, rater=enrolled(ada, study), at=NOON)

    assert again == assignment
    assert list(assignment.asked.values_list("item", "position", "swapped")) == before


def test_of_many_answers_some_are_drawn_and_each_meets_two_others(rosa: User, ada: User) -> None:
    names = tuple(f"system-{n}" for n in range(8))
    study = a_study_of_answers(rosa, systems=names, retrieved=True)

    assignment = in_hands(ada, study)

    answers = rows_of(assignment, TaskType.ANSWER_EVALUATION)
    pairs = rows_of(assignment, TaskType.PREFERENCE)
    met = Counter(report for row in pairs for report in (row.item.report_id, row.item.other_report_id))
    assert {row.inclusion_probability for row in answers} == {6 / 8}
    assert met == {row.item.report_id: 2 for row in answers}
    assert [row.inclusion_probability for row in pairs] == [pytest.approx(6 / 28)] * 6
    assert len(rows_of(assignment, TaskType.PASSAGE_USE)) == 18
    assert {row.inclusion_probability for row in rows_of(assignment, TaskType.QUESTION_PASSAGE)} == {1}


def test_the_probabilities_are_those_of_the_draw(rosa: User) -> None:
    """Over many draws every pair comes up as often as is stored."""
    study = a_study_of_answers(rosa, systems=tuple(f"system-{n}" for n in range(7)))
    task = study.tasks.get()
    task.places.bulk_create([task.places.model(task=task, number=n) for n in range(3, 203)])

    for number in range(200):
        in_hands(a_user(f"assessor-{number}"), study)

    drawn = AssignmentItem.objects.filter(item__task_type=TaskType.PREFERENCE)
    stored = drawn.first()
    assert stored is not None
    assert stored.inclusion_probability == pytest.approx(6 / 21)
    assert drawn.count() == 200 * 6
    often = Counter(drawn.values_list("item", flat=True))
    assert len(often) == 21
    assert all(25 < n < 95 for n in often.values())  # 57 expected, deviation 6.4


# --- The two steps -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task_type", "name", "grade"),
    [
        (TaskType.ANSWER_EVALUATION, "faithful", 3),
        (TaskType.QUESTION_PASSAGE, "passage_for_question", 1),
        (TaskType.PASSAGE_USE, "passage_for_answer", 1),
        (TaskType.PREFERENCE, "preference", 1),
    ],
)
def test_what_needs_the_passages_is_refused_before_they_are_shown(
    rosa: User, ada: User, task_type: TaskType, name: str, grade: float
) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    judge_the_answers_alone(assignment)

    with pytest.raises(NotAsked, match="when the passages are shown"):
        say(assignment, rows_of(assignment, task_type)[0], **{name: grade})

    assert not Judgment.objects.filter(criterion__name=name).exists()


@pytest.mark.parametrize("grade", [1, None])
def test_what_was_said_without_the_passages_is_fixed_once_they_are_shown(
    rosa: User, ada: User, grade: float | None
) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    see_the_passages(assignment)
    answer = rows_of(assignment, TaskType.ANSWER_EVALUATION)[0]

    with pytest.raises(NotAsked, match="before you saw the passages"):
        say(assignment, answer, appropriate=grade)

    assert Judgment.objects.get(item=answer.item, criterion__name="appropriate").grade == 4


def test_the_passages_are_shown_when_every_answer_is_judged_alone(rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    first, *_ = rows_of(assignment, TaskType.ANSWER_EVALUATION)
    say(assignment, first, unknown=0, incoherent=0, natural=3, appropriate=4)

    with pytest.raises(FirstStepUnfinished, match="Answer B, Answer C"):
        reveal_passages(assignment=assignment, at=NOON)
    judge_the_answers_alone(assignment)
    reveal_passages(assignment=assignment, at=NOON)
    reveal_passages(assignment=assignment, at=NOON.replace(hour=13))

    assignment.refresh_from_db()
    assert assignment.revealed_at == NOON


@pytest.mark.parametrize("name", ["unknown", "incoherent"])
def test_an_answer_that_is_none_is_asked_nothing_more(rosa: User, ada: User, name: str) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    judge_the_answers_alone(assignment)
    answer = rows_of(assignment, TaskType.ANSWER_EVALUATION)[0]

    say(assignment, answer, **{name: 1})
    question = assignment.task.study.criteria.get(name=name).question
    with pytest.raises(NotAsked, match=re.escape(f"after a positive answer to “{question}”")):
        say(assignment, answer, natural=2)
    reveal_passages(assignment=assignment, at=NOON)
    with pytest.raises(NotAsked, match="not asked after"):
        say(assignment, answer, faithful=2)
    use = next(row for row in rows_of(assignment, TaskType.PASSAGE_USE) if row.item.report_id == answer.item.report_id)
    with pytest.raises(NotAsked, match="not asked after"):
        say(assignment, use, passage_for_answer=1)

    left = set(Judgment.objects.filter(item=answer.item).values_list("criterion__name", flat=True))
    assert left == {"unknown", "incoherent"} if name == "incoherent" else {"unknown"}
    assert EarlierJudgment.objects.filter(item=answer.item, criterion__name="natural", grade=3).exists()


def test_an_assignment_with_an_unknown_answer_can_be_submitted(rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa, retrieved=True))
    judge_the_answers_alone(assignment)
    unknown = rows_of(assignment, TaskType.ANSWER_EVALUATION)[0]
    say(assignment, unknown, unknown=1)
    reveal_passages(assignment=assignment, at=NOON)
    for row in rows_of(assignment, TaskType.ANSWER_EVALUATION)[1:]:
        say(assignment, row, faithful=2)
    for row in rows_of(assignment, TaskType.QUESTION_PASSAGE):
        say(assignment, row, passage_for_question=0)
    for row in rows_of(assignment, TaskType.PASSAGE_USE):
        if row.item.report_id != unknown.item.report_id:
            say(assignment, row, passage_for_answer=1)
    for row in rows_of(assignment, TaskType.PREFERENCE):
        say(assignment, row, preference=0)

    submit_assignment(assignment=assignment, at=NOON)

    assignment.refresh_from_db()
    assert assignment.state == "submitted"


def test_submitting_tells_by_name_what_is_missing(rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    see_the_passages(assignment)
    judge_the_rest(assignment)
    last = rows_of(assignment, TaskType.PREFERENCE)[-1]
    say(assignment, last, preference=None)

    with pytest.raises(Unfinished, match=r"Not finished yet: Answers [A-C] and [A-C]\. "):
        submit_assignment(assignment=assignment, at=NOON)


# --- What is stored ------------------------------------------------------------------------------


def test_a_preference_is_about_the_item_and_remembers_its_sides(rosa: User, ada: User) -> None:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    assignment.asked.update(swapped=True)
    see_the_passages(assignment)
    pair = rows_of(assignment, TaskType.PREFERENCE)[0]

    say(assignment, pair, preference=-1)
    say(assignment, pair, preference=1)

    judgment = Judgment.objects.get(criterion__name="preference")
    order = PairOrder.objects.get()
    assert judgment.grade == order.grade == 1
    assert order.judgment == judgment
    assert order.swapped


def test_saving_a_choice_takes_as_many_queries_with_six_answers_as_with_two(rosa: User, ada: User, ben: User) -> None:
    counts = []
    for person, systems in ((ada, "ab"), (ben, "cdefgh")):
        study = a_study_of_answers(rosa, systems=tuple(systems), retrieved=True, name=f"with-{systems}")
        assignment = in_hands(person, study)
        see_the_passages(assignment)
        pair = rows_of(assignment, TaskType.PREFERENCE)[0]
        with CaptureQueriesContext(connection) as queries:
            say(assignment, pair, preference=-1)
        counts.append(len(queries))

    assert counts[0] == counts[1]


def test_item_numbers_do_not_follow_the_names_of_the_systems(rosa: User) -> None:
    """Whoever reads a page sees the numbers of its items."""
    study = a_study_of_answers(rosa, systems=tuple(f"system-{n:02}" for n in range(12)))

    items = study.items.filter(task_type=TaskType.ANSWER_EVALUATION).order_by("pk")
    runs = [item.report.run.name for item in items.select_related("report__run") if item.report]

    assert sorted(runs) != runs
    assert len(runs) == 12
    assert TaskItem.objects.filter(item__in=items).count() == 12


def test_a_gold_passage_without_a_text_is_no_ground(rosa: User) -> None:
    collection = a_question(rosa)
    Passage.objects.filter(passage_id="wind").update(text=None)
    study = a_study(collection, task_types=ITEM_TYPES)

    with pytest.raises(NothingToJudge):
        answers_of(study)
    assert not Item.objects.filter(study=study).exists()
