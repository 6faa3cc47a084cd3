"""What an assignment draws of a judge, when it may be seen, and what is kept of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.assignments.assignments import claim_next, return_assignment, submit_assignment
from annotate.assignments.task_page import screen_of
from annotate.models import Assignment, GoldGrade, Task
from annotate.suggestions.design import DesignRefused, end_suggestions, set_suggestions
from annotate.suggestions.quotes import quoted_spans
from annotate.work.saving import save_choice
from collection.judgments.unaided import n_aided, own_grades, without_the_aided
from collection.models import Arm, Draw, EarlierJudgment, Judgment, Study, Suggestion, User
from collection.splits import make_split
from judging.models import AnchorSet
from tests.annotate.factories import NOON, a_rating_task, a_report_task, a_task, enrolled, in_hands_of, the_criterion
from tests.annotate.suggested import ALONE, graded_by_a_judge, in_hands_with, suggesting
from tests.factories import a_judge_rater, a_user

LATER = NOON + timedelta(minutes=1)
SOON = NOON + timedelta(seconds=40)
EVEN = {Arm.NONE: 40, Arm.AFTER: 20, Arm.VERIFY: 20, Arm.POST_EDIT: 20}


def rate(assignment: Assignment, *grades: float, at: datetime = NOON) -> None:
    for row, grade in zip(assignment.asked.select_related("item"), grades, strict=True):
        save_choice(
            assignment=assignment,
            item=row.item,
            criterion=the_criterion(assignment.task.study, "rating"),
            grade=grade,
            seconds=5,
            at=at,
        )


@pytest.fixture
def rating(study: Study) -> Study:
    """A study with a passage to rate, on three sub-questions of which an assessor is asked two."""
    a_rating_task(study, k=3)
    return study


def the_task(study: Study) -> Task:
    return study.tasks.get()


def suggested(assignment: Assignment) -> dict[tuple[int, int], float]:
    """What the page shows of the judge."""
    return {
        (question.item.pk, answer.criterion.pk): answer.suggestion.grade
        for question in screen_of(assignment).questions
        for answer in question.answers
        if answer.suggestion
    }


# --- The draw -----------------------------------------------------------------------------------


def test_suggests_nothing_by_default(rating: Study, ada: User) -> None:
    graded_by_a_judge(the_task(rating), "rating", [5, 5, 5])

    assignment = in_hands_of(ada, the_task(rating))

    assert assignment.arm == ""
    assert not Suggestion.objects.exists()


def test_draws_one_arm_for_all_that_an_assignment_asks_and_keeps_its_probability(rating: Study, ada: User) -> None:
    suggesting(rating, graded_by_a_judge(the_task(rating), "rating", [5, 4, 3]), EVEN)

    assignment = in_hands_of(ada, the_task(rating))

    rows = list(Suggestion.objects.order_by("item"))
    assert {row.arm for row in rows} == {assignment.arm}
    assert {row.probability for row in rows} == {EVEN[Arm(assignment.arm)] / 100}
    assert {row.item_id for row in rows} == {row.item_id for row in assignment.asked.all()}
    assert {row.grade for row in rows} <= {5, 4, 3}


@pytest.mark.slow
def test_draws_the_arms_as_often_as_the_design_says(study: Study) -> None:
    task = a_report_task(study, k=400)
    suggesting(study, graded_by_a_judge(task, "answerability", [1, 0, 1]), EVEN)
    drawn = Counter(in_hands_of(a_user(f"p{n}"), task).arm for n in range(200))

    assert set(drawn) == {arm.value for arm in Arm}
    assert 55 <= drawn["none"] <= 105  # five standard deviations around 80
    assert all(12 <= drawn[arm] <= 70 for arm in ("after", "verify", "post_edit"))


def test_suggests_no_item_that_the_judge_left_ungraded(rating: Study, ada: User) -> None:
    task = the_task(rating)
    judge = a_judge_rater(rating.collection)
    for row in task.task_items.all():
        Judgment.objects.create(
            item=row.item, criterion=the_criterion(rating, "rating"), rater=judge, ungraded="refused", judged_at=NOON
        )
    graded = graded_by_a_judge(a_report_task(rating), "answerability", [1, 1, 1], name="judge")
    suggesting(rating, graded, ALONE[Arm.POST_EDIT])

    assignment = in_hands_of(ada, task)

    assert assignment.arm == ""
    assert not Suggestion.objects.filter(criterion__name="rating").exists()


def measured_by_gold(study: Study) -> None:
    item = the_task(study).items.order_by("pk")[0]
    criterion = the_criterion(study, "rating")
    GoldGrade.objects.create(item=item, criterion=criterion, purpose="gold", grade=5, marked_at=NOON)


def held_out(study: Study) -> None:
    other = study.collection.topics.order_by("id")[1]
    report = other.reports.get()
    a_task(study, "answerability", report)
    for seed in range(100):
        split = make_split(study=study, test_share=0.5, by=None, at=NOON, seed=str(seed))
        if split.topics.get(topic=the_task_of(study, "rating").topic).part == "test":
            return
        split.delete()


def the_task_of(study: Study, task_type: str) -> Task:
    return study.tasks.get(task_type=task_type)


def seen_by_everyone(study: Study) -> None:
    study.tasks.update(everyone=True)


def drawn_to_calibrate(study: Study) -> None:
    item = the_task(study).items.order_by("pk")[0]
    Draw.objects.create(
        item=item, purpose=Draw.Purpose.ACTIVE, inclusion_probability=0.5, design="active", drawn_at=NOON
    )


def an_anchor(study: Study) -> None:
    anchors = AnchorSet.objects.create(criterion=the_criterion(study, "rating"), seed=1, chosen_at=NOON)
    anchors.items.add(*the_task(study).items.order_by("pk"))


@pytest.mark.parametrize("measure", [measured_by_gold, held_out, seen_by_everyone, drawn_to_calibrate])
def test_draws_nothing_for_what_measures_people_or_judges(
    rating: Study, ada: User, measure: Callable[[Study], None]
) -> None:
    task = the_task(rating)
    suggesting(rating, graded_by_a_judge(task, "rating", [5, 5, 5]), ALONE[Arm.POST_EDIT])
    measure(rating)
    # Asked for all three, so that the item which measures is among them whatever is drawn.
    assignment = in_hands_of(ada, task)

    asked = {row.item_id for row in assignment.asked.all()}
    gold = set(GoldGrade.objects.values_list("item", flat=True)) | set(Draw.objects.values_list("item", flat=True))
    assert assignment.arm == "" or (gold and not asked & gold)


def test_an_anchor_shields_its_question_and_not_its_task(study: Study, ada: User) -> None:
    task = a_report_task(study)
    judge = graded_by_a_judge(task, "answerability", [1, 0, 1])
    suggesting(study, judge, ALONE[Arm.POST_EDIT])
    anchor, *others = task.items.order_by("pk")
    anchors = AnchorSet.objects.create(criterion=the_criterion(study, "answerability"), seed=1, chosen_at=NOON)
    anchors.items.add(anchor)

    assignment = in_hands_of(ada, task)

    assert assignment.arm != ""
    assert {one.item_id for one in Suggestion.objects.all()} == {item.pk for item in others}


def test_a_task_of_anchors_alone_draws_nothing(rating: Study, ada: User) -> None:
    suggesting(rating, graded_by_a_judge(the_task(rating), "rating", [5, 5, 5]), ALONE[Arm.POST_EDIT])
    an_anchor(rating)

    assert in_hands_of(ada, the_task(rating)).arm == ""


@pytest.mark.parametrize(
    ("measure", "can_draw"),
    [(None, 1), (measured_by_gold, 0), (seen_by_everyone, 0), (drawn_to_calibrate, 0), (an_anchor, 0)],
)
def test_the_page_says_how_many_tasks_to_come_can_draw_an_arm(
    rating: Study, rosa: User, client: Client, measure: Callable[[Study], None] | None, can_draw: int
) -> None:
    suggesting(rating, graded_by_a_judge(the_task(rating), "rating", [5, 5, 5]), ALONE[Arm.POST_EDIT])
    if measure:
        measure(rating)
    client.force_login(rosa)

    page = client.get(f"/studies/{rating.name}/suggestions/").text

    assert f'data-can-draw="{can_draw}"' in page


def test_what_has_no_words_to_verify_is_not_shown(rating: Study, ada: User) -> None:
    assignment = in_hands_with(Arm.VERIFY, ada, the_task(rating), "rating", [5, 5, 5])

    assert assignment.arm == Arm.VERIFY
    assert not Suggestion.objects.exclude(shown_at=None).exists()
    assert not suggested(assignment)


def test_asking_for_work_takes_no_query_more_where_nothing_is_suggested(
    rating: Study, ada: User, ben: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    in_hands_of(ada, the_task(rating))
    rater = enrolled(ben, rating)

    with django_assert_max_num_queries(11) as asked:
        claim_next(study=rating, rater=rater, at=NOON)

    assert not [
        query
        for query in asked.captured_queries
        if "collection_suggestion" in query["sql"] and "JOIN" not in query["sql"]
    ]


# --- What is seen -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arm", "seen"), [(Arm.NONE, False), (Arm.AFTER, False), (Arm.VERIFY, False), (Arm.POST_EDIT, True)]
)
def test_shows_the_judge_before_the_own_answer_in_two_arms_only(rating: Study, ada: User, arm: Arm, seen: bool) -> None:
    assignment = in_hands_with(arm, ada, the_task(rating), "rating", [5, 5, 5])

    assert bool(suggested(assignment)) is seen
    assert not Judgment.objects.filter(rater=assignment.rater).exists()


def test_after_the_first_submission_shows_what_the_judge_said_and_keeps_the_task_open(rating: Study, ada: User) -> None:
    assignment = in_hands_with(Arm.AFTER, ada, the_task(rating), "rating", [5, 5, 5])
    rate(assignment, 2, 5, at=SOON)

    submit_assignment(assignment=assignment, at=SOON)

    assignment.refresh_from_db()
    assert assignment.state == "open"
    assert set(suggested(assignment).values()) == {5}
    assert set(Suggestion.objects.values_list("own_grade", flat=True)) == {2, 5}
    assert set(Suggestion.objects.values_list("own_seconds", "shown_at", "decided_at")) == {(5, SOON, None)}


def test_is_submitted_once_every_grade_was_kept_or_changed(rating: Study, ada: User) -> None:
    assignment = in_hands_with(Arm.AFTER, ada, the_task(rating), "rating", [5, 5, 5])
    rate(assignment, 2, 3)
    submit_assignment(assignment=assignment, at=SOON)
    first, second = assignment.asked.select_related("item")
    criterion = the_criterion(rating, "rating")

    save_choice(assignment=assignment, item=first.item, criterion=criterion, grade=2, at=LATER)
    submit_assignment(assignment=assignment, at=LATER)
    assignment.refresh_from_db()
    assert assignment.state == "open"
    save_choice(assignment=assignment, item=second.item, criterion=criterion, grade=5, at=LATER)
    submit_assignment(assignment=assignment, at=LATER)

    assignment.refresh_from_db()
    assert assignment.state == "submitted"
    labels = Judgment.objects.filter(rater=assignment.rater)
    assert {one.item_id: one.grade for one in labels} == {first.item_id: 2, second.item_id: 5}
    assert EarlierJudgment.objects.get().grade == 3
    assert set(Suggestion.objects.values_list("decided_at", flat=True)) == {LATER}


def test_the_first_grade_stays_what_it_was_when_submission_is_asked_for_again(rating: Study, ada: User) -> None:
    assignment = in_hands_with(Arm.AFTER, ada, the_task(rating), "rating", [5, 5, 5])
    rate(assignment, 2, 3)
    submit_assignment(assignment=assignment, at=SOON)
    rate(assignment, 5, 5, at=LATER)
    submit_assignment(assignment=assignment, at=LATER)
    submit_assignment(assignment=assignment, at=LATER)

    assert set(Suggestion.objects.values_list("own_grade", flat=True)) == {2, 3}


@pytest.mark.parametrize("arm", [Arm.NONE, Arm.VERIFY, Arm.POST_EDIT])
def test_other_arms_are_submitted_at_once(rating: Study, ada: User, arm: Arm) -> None:
    assignment = in_hands_with(arm, ada, the_task(rating), "rating", [5, 5, 5])
    rate(assignment, 2, 3)

    submit_assignment(assignment=assignment, at=SOON)

    assignment.refresh_from_db()
    assert assignment.state == "submitted"


def test_nothing_filled_in_is_a_label_before_it_is_confirmed(rating: Study, ada: User) -> None:
    assignment = in_hands_with(Arm.POST_EDIT, ada, the_task(rating), "rating", [5, 5, 5])

    questions = screen_of(assignment).questions

    assert [answer.grade for question in questions for answer in question.answers] == [None, None]
    assert all(question.lack for question in questions)


def test_a_task_that_goes_back_leaves_its_suggestions_to_nobody(rating: Study, ada: User, ben: User) -> None:
    assignment = in_hands_with(Arm.POST_EDIT, ada, the_task(rating), "rating", [5, 5, 5])
    return_assignment(assignment=assignment, at=LATER)
    end_suggestions(study=rating)

    other = in_hands_of(ben, the_task(rating))

    assert other.arm == ""
    assert not suggested(other)


# --- What is kept -------------------------------------------------------------------------------


def test_knows_what_people_said_before_they_saw_anything(rating: Study, ada: User, ben: User) -> None:
    task = the_task(rating)
    after = in_hands_with(Arm.AFTER, ada, task, "rating", [5, 5, 5])
    rate(after, 2, 3)
    submit_assignment(assignment=after, at=SOON)
    rate(after, 2, 5, at=LATER)
    Judgment.objects.filter(rater__kind="judge").delete()
    Suggestion.objects.all().update(judge=after.rater)
    edited = in_hands_with(Arm.POST_EDIT, ben, task, "rating", [5, 5, 5])
    rate(edited, 5, 5)
    criterion = the_criterion(rating, "rating")

    known = own_grades(criterion)

    assert {grade for (_, rater), grade in known.items() if rater == after.rater_id} == {2, 3}
    assert {grade for (_, rater), grade in known.items() if rater == edited.rater_id} == {None}
    people = Judgment.objects.filter(criterion=criterion, rater__kind="assessor")
    assert list(without_the_aided(people).values_list("rater", "grade")) == [(after.rater_id, 2)]
    assert n_aided(criterion) == {"after": 2, "changed": 1, "post_edit": 2}


def test_finds_the_words_that_a_reason_quotes() -> None:
    text = "The bridge is long. The bridge is old. It was built in 1890."

    assert quoted_spans('It says “built in 1890”, and "is old".', text) == [
        {"start": 46, "end": 59, "quote": "built in 1890"}
    ]
    assert quoted_spans("It says “The bridge is” twice, and “nowhere to be found”.", text) == []


# --- The design ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("percents", "said"),
    [
        ({Arm.NONE: 50, Arm.AFTER: 40}, "add up to 90"),
        ({Arm.NONE: 5, Arm.AFTER: 95}, "At least 10 %"),
        ({Arm.NONE: 110, Arm.AFTER: -10}, "must add up"),
    ],
)
def test_refuses_percentages_that_make_no_design(rating: Study, percents: dict[Arm, int], said: str) -> None:
    judge = graded_by_a_judge(the_task(rating), "rating", [5, 5, 5])

    with pytest.raises(DesignRefused, match=said):
        suggesting(rating, judge, percents)


def test_refuses_a_judge_that_graded_nothing_here(rating: Study) -> None:
    with pytest.raises(DesignRefused, match="has not graded"):
        suggesting(rating, a_judge_rater(rating.collection), EVEN)


def test_a_changed_design_leaves_what_was_drawn(rating: Study, ada: User, rosa: User) -> None:
    assignment = in_hands_with(Arm.POST_EDIT, ada, the_task(rating), "rating", [5, 5, 5])
    judge = Suggestion.objects.all()[0].judge

    set_suggestions(study=rating, judge=judge, percents={Arm.NONE: 100}, by=rosa, at=LATER)

    assert set(Suggestion.objects.values_list("arm", "probability")) == {("post_edit", 0.9)}
    assert suggested(assignment)
