"""Training and attention checks: what is right, what passes, and what follows from failing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from annotate.models import (
    Assignment,
    AttentionAnswer,
    Enrolment,
    GoldGrade,
    QualityRules,
    ScreenOut,
    Task,
    TrainingAnswer,
    TrainingAttempt,
)
from annotate.quality.attention import add_check, failures_that_count
from annotate.quality.gold import mark_gold
from annotate.quality.screening import readmit
from annotate.quality.training import answer_text, begin_attempt, training_texts
from collection.models import Exclusion, Item, Judgment, Rater, Study, User
from tests.annotate.evaluated_answers import a_study_of_answers
from tests.annotate.factories import (
    NOON,
    a_rating_task,
    a_submitted_report,
    enrolled,
    in_hands_of,
    the_criterion,
)
from tests.annotate.quality_factories import gate, signed_in, texts_to_train_on, training_items

# --- Training --------------------------------------------------------------------------------------


def post_training(client: Client, study: Study, items: list[Item], grades: Sequence[float]) -> Any:
    criterion = the_criterion(study, "grounded")
    fields = {f"grade-{item.pk}-{criterion.pk}": f"{grade:g}" for item, grade in zip(items, grades, strict=True)}
    return client.post(reverse("annotate:training", args=[study.name]), {"text": str(items[0].pk), **fields})


def begin(client: Client, study: Study) -> None:
    client.post(reverse("annotate:training", args=[study.name]), {"begin": ""})


def test_training_tells_what_is_right_and_makes_no_judgment(
    open_study: Study, rosa: User, ada: User, as_ada: Client
) -> None:
    items = training_items(open_study, rosa)
    QualityRules.objects.create(study=open_study, attempts=1, pass_mark=0.5)
    begin(as_ada, open_study)

    post_training(as_ada, open_study, items, [1, 1])
    page = as_ada.get(reverse("annotate:training", args=[open_study.name]), {"checked": items[0].pk})

    html = page.content.decode()
    assert "1 of 2 right" in html
    assert "Because it is 0." in html
    assert [answer.right for answer in TrainingAnswer.objects.order_by("item")] == [True, False]
    assert not Judgment.objects.exists()


def go_through(client: Client, study: Study, *, right: bool) -> tuple[list[int], set[bool]]:
    """Make an attempt. Returns the items in the order in which they were asked, and whether answers were shown."""
    address, criterion = reverse("annotate:training", args=[study.name]), the_criterion(study, "grounded")
    begin(client, study)
    asked: list[int] = []
    shown = set()
    while place := client.get(address).context.get("training"):
        item = place["text"].item
        asked.append(item.pk)
        grade = place["text"].questions[0].gold.grade
        sent = {"text": item.pk, f"grade-{item.pk}-{criterion.pk}": f"{grade if right else 1 - grade:g}"}
        response = client.post(address, sent)
        shown.add(client.get(address, {"checked": item.pk}).status_code == 200)
        assert ("checked=" in response["Location"]) is shown.copy().pop()
        if "screened" in response["Location"]:
            break
    return asked, shown


@pytest.mark.parametrize("n_texts", [6, 7])
def test_each_attempt_asks_texts_that_the_one_before_did_not(
    open_study: Study, rosa: User, ada: User, as_ada: Client, n_texts: int
) -> None:
    items = {item.pk for item in texts_to_train_on(open_study, rosa, n_texts)}

    first, shown = go_through(as_ada, open_study, right=False)
    second, _ = go_through(as_ada, open_study, right=True)

    assert len(first) == len(second) == 3
    assert len({*first, *second}) == 6
    assert {*first, *second} <= items
    assert shown == {True}
    assert gate(open_study, ada) is None


def test_attempts_ask_the_same_mix_of_task_types(open_study: Study, rosa: User, ada: User) -> None:
    items = texts_to_train_on(open_study, rosa, 8)
    Item.objects.filter(pk__in=[item.pk for item in items[:2]]).update(task_type="rating")
    asked = []

    for _ in range(2):
        attempt = begin_attempt(study=open_study, user=ada, at=NOON)
        texts = training_texts(attempt)
        asked.append(Counter(text.item.task_type for text in texts))
        for text in texts:
            grades = {question.field: 1 - question.gold.grade for question in text.questions}
            answer_text(attempt=attempt, text=text, grades=grades, at=NOON)

    assert [sorted(types.values()) for types in asked] == [[1, 3], [1, 3]]


def test_with_few_texts_the_answers_are_shown_after_the_last_attempt(
    open_study: Study, rosa: User, as_ada: Client
) -> None:
    texts_to_train_on(open_study, rosa, 5)
    address = reverse("annotate:training", args=[open_study.name])

    first, shown = go_through(as_ada, open_study, right=False)
    between = as_ada.get(address, {"checked": first[0]}).status_code
    second, _ = go_through(as_ada, open_study, right=True)
    after = as_ada.get(address, {"checked": first[0]})

    assert sorted(first) == sorted(second)
    assert len(first) == 5
    assert (shown, between, after.status_code) == ({False}, 302, 200)
    assert "Because it is 1." in after.content.decode()
    assert f"?checked={second[0]}" in as_ada.get(address).content.decode()


def test_the_researcher_reads_how_many_pass_at_each_attempt(
    open_study: Study, rosa: User, ada: User, ben: User, as_ada: Client
) -> None:
    texts_to_train_on(open_study, rosa, 6)
    enrolled(ben, open_study)
    as_ben, as_rosa = signed_in(ben), signed_in(rosa)
    for right in (False, True):
        go_through(as_ada, open_study, right=right)
    go_through(as_ben, open_study, right=True)

    rates = as_rosa.get(reverse("annotate:checks", args=[open_study.name])).context["pass_rates"]

    assert [(rate["number"], rate["finished"], rate["passed"]) for rate in rates] == [(1, 2, 0.5), (2, 1, 1.0)]


def test_passing_the_training_gives_work(open_study: Study, rosa: User, ada: User, as_ada: Client) -> None:
    items = training_items(open_study, rosa)
    begin(as_ada, open_study)

    post_training(as_ada, open_study, items, [1, 0])
    result = as_ada.get(reverse("annotate:training", args=[open_study.name])).content.decode()
    response = as_ada.post(reverse("annotate:training", args=[open_study.name]))

    assert "You passed the training" in result
    assert response.headers["Location"] == reverse("annotate:assignment", args=[Assignment.objects.get().pk])


def test_failing_the_last_attempt_screens_out_and_readmission_starts_anew(
    open_study: Study, rosa: User, ada: User, as_ada: Client
) -> None:
    items = training_items(open_study, rosa)
    for _ in range(2):
        begin(as_ada, open_study)
        response = post_training(as_ada, open_study, items, [0, 1])

    out = ScreenOut.objects.get()
    gone = (gate(open_study, ada), as_ada.get(reverse("annotate:queue")).content.decode())
    readmit(study=open_study, user=ada, at=now())
    begin(as_ada, open_study)
    post_training(as_ada, open_study, items, [1, 0])

    assert response.headers["Location"] == reverse("annotate:screened_out", args=[open_study.name])
    assert out.reason == ScreenOut.Reason.TRAINING
    assert gone[0] == "screened_out"
    assert str(open_study) not in gone[1]
    assert gate(open_study, ada) is None


def test_a_tolerance_counts_what_is_near_as_right(open_study: Study, rosa: User, ada: User, as_ada: Client) -> None:
    item = a_rating_task(open_study).task_items.all()[0].item
    criterion = the_criterion(open_study, "rating")
    mark_gold(item=item, criterion=criterion, grade=4, tolerance=1, purpose="training", by=rosa, at=now())
    begin(as_ada, open_study)

    as_ada.post(
        reverse("annotate:training", args=[open_study.name]),
        {"text": str(item.pk), f"grade-{item.pk}-{criterion.pk}": "3"},
    )

    assert TrainingAttempt.objects.get().passed


@pytest.mark.parametrize("grade", ["", "x", "7", "nan"])
def test_a_text_without_all_its_grades_is_refused(open_study: Study, rosa: User, as_ada: Client, grade: str) -> None:
    items = training_items(open_study, rosa, grades=(1,))
    begin(as_ada, open_study)
    field = f"grade-{items[0].pk}-{the_criterion(open_study, 'grounded').pk}"

    response = as_ada.post(
        reverse("annotate:training", args=[open_study.name]),
        {"text": str(items[0].pk), field: grade},
    )

    assert response.status_code == 422
    assert not TrainingAnswer.objects.exists()


def test_a_double_click_answers_a_text_once(open_study: Study, rosa: User, as_ada: Client) -> None:
    items = training_items(open_study, rosa)
    begin(as_ada, open_study)

    for grades in ([1, 0], [0, 1]):
        post_training(as_ada, open_study, items, grades)

    assert TrainingAttempt.objects.get().share_right == 1
    assert TrainingAnswer.objects.count() == 2


def test_an_attempt_ends_when_the_researcher_takes_the_rest_away(open_study: Study, rosa: User, ada: User) -> None:
    items = training_items(open_study, rosa)
    attempt = begin_attempt(study=open_study, user=ada, at=now())
    TrainingAnswer.objects.create(
        attempt=attempt,
        item=items[0],
        criterion=the_criterion(open_study, "grounded"),
        grade=1,
        right=True,
        answered_at=now(),
    )
    GoldGrade.objects.filter(item=items[1]).delete()

    begin_attempt(study=open_study, user=ada, at=now())

    attempt.refresh_from_db()
    assert attempt.passed


def test_a_question_that_another_answer_closes_is_not_asked_and_not_right(
    open_study: Study, rosa: User, as_ada: Client
) -> None:
    item = training_items(open_study, rosa, grades=(1,))[0]
    utility = the_criterion(open_study, "utility")
    mark_gold(item=item, criterion=utility, grade=1, purpose="training", by=rosa, at=now())
    begin(as_ada, open_study)

    post_training(as_ada, open_study, [item], [0])

    answers = TrainingAnswer.objects.order_by("criterion__position")
    assert [(answer.grade, answer.right) for answer in answers] == [(0, False), (None, False)]
    assert TrainingAttempt.objects.get().share_right == 0


def test_training_shows_the_screen_of_the_work_and_keeps_nothing_of_it(
    open_study: Study, rosa: User, as_ada: Client
) -> None:
    training_items(open_study, rosa)
    tasks, raters = Task.objects.count(), Rater.objects.count()
    begin(as_ada, open_study)

    page = as_ada.get(reverse("annotate:training", args=[open_study.name])).content.decode()

    assert 'data-task-type="key_point"' in page
    assert 'data-save=""' in page
    assert "Training, text 1 of 1." in page
    assert (Task.objects.count(), Rater.objects.count()) == (tasks, raters)
    assert not Assignment.objects.exists()


@pytest.mark.parametrize("task_type", ["answer_evaluation", "preference"])
def test_other_task_types_train_on_a_plain_form(rosa: User, ada: User, as_ada: Client, task_type: str) -> None:
    study = a_study_of_answers(rosa)
    enrolled(ada, study)
    item = study.items.filter(task_type=task_type)[0]
    criterion = study.criteria.filter(task_type=task_type)[0]
    right = criterion.scale.values[-1]
    mark_gold(item=item, criterion=criterion, grade=right, purpose="training", by=rosa, at=now())
    begin(as_ada, study)
    where = reverse("annotate:training", args=[study.name])

    page = as_ada.get(where).content.decode()
    as_ada.post(where, {"text": item.pk, f"grade-{item.pk}-{criterion.pk}": f"{right:g}"})

    assert criterion.question in page
    assert "Check my answer" in page
    assert TrainingAttempt.objects.get().passed


# --- Attention -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("minutes", "failures"), [(1, 1), (4, 1), (5, 2), (60, 2)])
def test_how_many_failures_count_depends_on_the_length_of_the_study(minutes: int, failures: int) -> None:
    assert failures_that_count(minutes) == failures


def three_checks(study: Study) -> None:
    for number in range(3):
        add_check(study=study, after=0, question=f"{number}: choose ‘b’.", options=["a", "b"], right=1)


def fail_one(client: Client, study: Study) -> None:
    check = study.attention_checks.exclude(answers__isnull=False).order_by("pk")[0]
    client.post(reverse("annotate:attention", args=[study.name]), {"check": str(check.pk), "chosen": "0"})


def test_two_failures_stop_where_the_researcher_wants_it_and_labels_stay(
    open_study: Study, ada: User, as_ada: Client
) -> None:
    QualityRules.objects.create(study=open_study, consequence="stop", expected_minutes=10)
    a_submitted_report(in_hands_of(ada, open_study.tasks.get()), [1, 0, 0])
    three_checks(open_study)
    met = []

    for _ in range(2):
        fail_one(as_ada, open_study)
        met.append(gate(open_study, ada))

    assert met == ["attention", "screened_out"]
    assert ScreenOut.objects.get().reason == ScreenOut.Reason.ATTENTION
    assert Judgment.objects.count() == 3
    assert not Exclusion.objects.exists()


def test_a_failure_only_flags_unless_the_researcher_wants_more(open_study: Study, ada: User, as_ada: Client) -> None:
    three_checks(open_study)

    for _ in range(3):
        fail_one(as_ada, open_study)

    assert AttentionAnswer.objects.filter(passed=False).count() == 3
    assert gate(open_study, ada) is None


def test_in_a_short_study_one_failure_stops(open_study: Study, ada: User, as_ada: Client) -> None:
    QualityRules.objects.create(study=open_study, consequence="stop", expected_minutes=4)
    three_checks(open_study)

    fail_one(as_ada, open_study)

    assert gate(open_study, ada) == "screened_out"


def test_a_check_waits_for_its_number_of_tasks(open_study: Study, ada: User) -> None:
    add_check(study=open_study, after=1, question="Choose ‘b’.", options=["a", "b"], right=1)
    assignment = in_hands_of(ada, open_study.tasks.get())
    before = gate(open_study, ada)

    Assignment.objects.filter(pk=assignment.pk).update(state=Assignment.State.SUBMITTED, submitted_at=NOON)

    assert before is None
    assert gate(open_study, ada) == "attention"


@pytest.mark.parametrize("chosen", ["", "7", "-1", "x"])
def test_what_is_no_answer_to_a_check_is_refused(open_study: Study, as_ada: Client, chosen: str) -> None:
    check = add_check(study=open_study, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)

    response = as_ada.post(
        reverse("annotate:attention", args=[open_study.name]), {"check": str(check.pk), "chosen": chosen}
    )

    assert response.status_code == 422
    assert not AttentionAnswer.objects.exists()


def test_lifting_long_ago_does_not_count_old_attempts(open_study: Study, ada: User) -> None:
    enrolment = Enrolment.objects.get()
    ScreenOut.objects.create(enrolment=enrolment, reason="training", screened_at=NOON, lifted_at=NOON)
    TrainingAttempt.objects.create(
        study=open_study,
        user=ada,
        number=1,
        started_at=NOON - timedelta(days=1),
        finished_at=NOON,
        passed=False,
        share_right=0,
    )

    attempt = begin_attempt(study=open_study, user=ada, at=now())

    assert attempt.number == 2
