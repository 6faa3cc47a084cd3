"""How work is drawn and handed out: controls, shares, quotas, batches, time-outs, orders and sampling designs."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from annotate.assignments.assignments import claim_next, return_assignment, submit_assignment
from annotate.assignments.design import Design
from annotate.assignments.places import release_next_batch
from annotate.models import Assignment, Place
from annotate.studies.layout import lay_out_tasks
from annotate.studies.lifecycle import enrol, open_study
from annotate.studies.sampling import scale_for, sizes_of_strata
from annotate.work.queue import queues_of
from annotate.work.saving import save_choice
from collection.models import Collection, Draw, Judgment, Rater, Report, Run, Study, User
from tests.annotate.factories import NOON
from tests.annotate.studies.test_lifecycle import a_study_of, many_reports
from tests.attacks.mutations import FULL
from tests.factories import a_user


def opened(collection: Collection, *, people: list[User], design: Design, **fields: Any) -> Study:
    study = a_study_of(collection, "answerability", work=design, assessors=people, **fields)
    open_study(study=study, at=NOON)
    study.refresh_from_db()
    return study


def rater_of(user: User) -> Rater:
    return Rater.objects.get(user=user)


def finish(assignment: Assignment) -> None:
    """Answer everything and submit."""
    criterion = assignment.task.study.criteria.get(name="answerability")
    for asked in assignment.asked.select_related("item__report"):
        save_choice(assignment=assignment, item=asked.item, criterion=criterion, grade=0, at=NOON)
    submit_assignment(assignment=assignment, at=NOON)


def work_through(study: Study, user: User) -> list[Assignment]:
    """Take and submit tasks until none is left for this person."""
    done: list[Assignment] = []
    while assignment := claim_next(study=study, rater=rater_of(user), at=NOON):
        finish(assignment)
        done.append(assignment)
    return done


@pytest.fixture
def people(db: None) -> list[User]:
    return [a_user(f"assessor-{n}") for n in range(4)]


# --- Controls -------------------------------------------------------------------------------------


def test_everyone_sees_the_controls_and_the_others_have_k(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 18)
    study = opened(collection, people=people, design=Design(control_share=0.1), overlap=2)

    for user in people:
        work_through(study, user)

    counts = {
        task.everyone: Counter(len(set(task.assignments.values_list("rater", flat=True))) for task in tasks)
        for everyone in (True, False)
        for tasks in [study.tasks.filter(everyone=everyone)]
        for task in tasks[:1]
    }
    assert study.tasks.filter(everyone=True).count() == 2
    assert counts == {True: Counter({4: 2}), False: Counter({2: 18})}


def test_a_control_stores_its_probability(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 18)

    study = opened(collection, people=people, design=Design(control_share=0.1), sample_sizes={"answerability": 10})

    controls = Draw.objects.filter(item__study=study, purpose=Draw.Purpose.CONTROL)
    assert controls.count() == 3
    assert list(controls.values_list("inclusion_probability", flat=True)) == pytest.approx([10 / 20 * 1 / 10] * 3)


def test_the_place_of_a_control_that_was_given_back_is_used_again(collection: Collection, people: list[User]) -> None:
    study = opened(collection, people=people, design=Design(control_share=1))
    first = claim_next(study=study, rater=rater_of(people[0]), at=NOON)
    assert first is not None
    return_assignment(assignment=first, at=NOON)

    second = claim_next(study=study, rater=rater_of(people[1]), at=NOON)

    assert second is not None
    assert second.place == first.place
    assert Place.objects.filter(task=first.task).count() == 1


# --- Shares and quotas ----------------------------------------------------------------------------


def test_with_equal_shares_nobody_takes_it_all(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 8)
    study = opened(collection, people=people, design=Design(even=True), overlap=2)

    taken = [len(work_through(study, user)) for user in people]

    assert taken == [5, 5, 5, 5]


def test_with_equal_shares_every_task_gets_its_first_before_any_gets_its_second(
    collection: Collection, people: list[User]
) -> None:
    many_reports(collection, 6)
    study = opened(collection, people=people, design=Design(even=True), overlap=2)

    work_through(study, people[0])
    work_through(study, people[1])

    assert Counter(study.tasks.values_list("assignments__place__number", flat=True)) == {1: 8}


def test_first_come_one_assessor_may_do_everything(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 6)
    study = opened(collection, people=people, design=Design(), overlap=1)

    assert len(work_through(study, people[0])) == 8


def test_nobody_gets_more_than_the_quota(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 6)
    study = opened(collection, people=people, design=Design(quota=3), overlap=1)

    assert len(work_through(study, people[0])) == 3
    assert len(work_through(study, people[1])) == 3


def test_whoever_has_their_quota_still_sees_what_everyone_sees(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 18)
    study = opened(collection, people=people, design=Design(quota=3, control_share=0.25), overlap=4)

    taken = [work_through(study, user) for user in people]

    controls = set(study.tasks.filter(everyone=True).values_list("pk", flat=True))
    assert len(controls) == 5
    for assignments in taken:
        tasks = {assignment.task_id for assignment in assignments}
        assert controls <= tasks
        assert len(tasks - controls) == 3


def test_the_queue_counts_the_quota_and_the_controls_apart(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 18)
    study = opened(collection, people=people, design=Design(quota=3, control_share=0.25), overlap=4)
    started = queues_of(people[0], at=NOON)[0].n_left
    work_through(study, people[0])

    assert started == 3 + 5
    assert queues_of(people[0], at=NOON)[0].n_left == 0


# --- Batches ----------------------------------------------------------------------------------------


def test_a_batch_is_released_when_the_one_before_is_done(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 4)
    study = opened(collection, people=people[:2], design=Design(batch_size=3), overlap=2)
    alone = work_through(study, people[0])

    both = work_through(study, people[1])

    assert [assignment.task.batch for assignment in alone] == [1, 1, 1]
    assert [assignment.task.batch for assignment in both] == [1, 1, 1, 2, 2, 2]
    assert len(work_through(study, people[0])) == 3


def test_rosa_releases_a_batch_by_hand(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 4)
    study = opened(collection, people=people[:1], design=Design(batch_size=3), overlap=2)

    assert not release_next_batch(study, at=NOON)
    assert release_next_batch(study, at=NOON, by_hand=True)
    assert not release_next_batch(study, at=NOON, by_hand=True), "there are two batches"
    assert len(work_through(study, people[0])) == 6


# --- Time-outs ------------------------------------------------------------------------------------


def test_a_task_that_was_left_alone_goes_to_somebody_else(collection: Collection, people: list[User]) -> None:
    study = opened(collection, people=people[:2], design=Design(timeout_minutes=60), overlap=1)
    left = claim_next(study=study, rater=rater_of(people[0]), at=NOON)
    assert left is not None
    in_time = claim_next(study=study, rater=rater_of(people[1]), at=NOON + timedelta(minutes=59))
    assert in_time is not None
    assert in_time.task != left.task
    finish(in_time)

    late = claim_next(study=study, rater=rater_of(people[1]), at=NOON + timedelta(minutes=61))

    assert late is not None
    assert late.task == left.task
    left.refresh_from_db()
    assert left.state == Assignment.State.RETURNED


# --- Order ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_assessor_goes_round_from_a_place_of_their_own(collection: Collection, people: list[User]) -> None:
    many_reports(collection, 38)
    study = opened(collection, people=people, design=Design(own_order=True), overlap=4)

    orders = [[assignment.task.position for assignment in work_through(study, user)] for user in people]

    assert len({tuple(order) for order in orders}) > 1
    for order in orders:
        start = order[0]
        assert order == sorted(order, key=lambda position: (position < start, position))
        assert len(order) == 40


# --- Samples --------------------------------------------------------------------------------------


def topics_of_sizes(collection: Collection, *sizes: int) -> None:
    """Give each topic that has sub-questions this many reports in all."""
    for topic, size in zip(collection.topics.order_by("topic_id"), sizes, strict=False):
        for n in range(Report.objects.filter(topic=topic).count(), size):
            run = Run.objects.create(
                collection=collection, system=collection.systems.get(), name=f"{topic.topic_id}-{n}"
            )
            Report.objects.create(run=run, topic=topic, text=f"Report {n}. " * (1 + n))


def test_a_stratified_sample_draws_from_every_topic_in_proportion(collection: Collection) -> None:
    topics_of_sizes(collection, 30, 10)
    study = a_study_of(
        collection, "answerability", work=Design(sampling="stratified"), sample_sizes={"answerability": 8}
    )

    open_study(study=study, at=now())

    by_topic = Counter(study.tasks.values_list("topic__topic_id", flat=True))
    big, small = (topic.topic_id for topic in collection.topics.order_by("topic_id")[:2])
    assert by_topic == {big: 6, small: 2}
    draws = Draw.objects.filter(item__study=study).values_list("stratum", "inclusion_probability", "design")
    assert set(draws) == {(big, 0.2, "stratified"), (small, 0.2, "stratified")}


def test_later_texts_meet_the_line_of_their_stratum(collection: Collection) -> None:
    topics_of_sizes(collection, 30, 10)
    study = a_study_of(
        collection, "answerability", work=Design(sampling="stratified"), sample_sizes={"answerability": 8}
    )
    open_study(study=study, at=now())
    study.refresh_from_db()
    drawn = set(study.tasks.values_list("pk", flat=True))
    topics_of_sizes(collection, 90, 10)

    open_study(study=study, at=now())

    big = collection.topics.order_by("topic_id")[0]
    late = study.tasks.exclude(pk__in=drawn)
    assert 0 < late.count() < 60
    assert set(late.values_list("topic__pk", flat=True)) == {big.pk}
    line = study.samples["answerability"]["strata"][big.topic_id]
    probabilities = Draw.objects.filter(item__tasks__in=late).values_list("inclusion_probability", flat=True)
    assert set(probabilities) == {line}


def test_a_weighted_sample_draws_long_texts_more_often_and_says_how_often(collection: Collection) -> None:
    topics_of_sizes(collection, 40)
    study = a_study_of(
        collection,
        "answerability",
        work=Design(sampling="weighted", weight="length"),
        sample_sizes={"answerability": 10},
    )

    open_study(study=study, at=now())

    rows = Draw.objects.filter(item__study=study).values_list("item__report__text", "inclusion_probability")
    draws = dict(rows)
    shortest, longest = min(draws, key=len), max(draws, key=len)
    assert draws[longest] / draws[shortest] == pytest.approx(len(longest) / len(shortest))
    assert 0 < study.tasks.count() < 25


def test_weighted_probabilities_sum_to_the_size() -> None:
    weights = [1.0, 2.0, 3.0, 100.0]

    scale = scale_for(weights, 2)

    assert sum(min(1.0, scale * weight) for weight in weights) == pytest.approx(2)
    assert scale * 100 >= 1


@pytest.mark.parametrize(
    ("members", "size", "expected"),
    [
        ({"a": 30, "b": 10}, 8, {"a": 6, "b": 2}),
        ({"a": 99, "b": 1}, 10, {"a": 9, "b": 1}),
        ({"a": 1, "b": 1, "c": 1}, 2, {"a": 1, "b": 1, "c": 1}),
        ({"a": 5, "b": 5}, 5, {"a": 3, "b": 2}),
    ],
)
def test_sizes_of_strata(members: dict[str, int], size: int, expected: dict[str, int]) -> None:
    assert sizes_of_strata(members, size) == expected


# --- All together ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_many_people_with_dropouts_leave_every_item_with_its_number(collection: Collection) -> None:
    """60 items and 8 people, 300 and 40 by night; k = 3, a tenth seen by everyone.

    People drop out, give back, click twice and come late.
    """
    n_items, n_people, n_some = (300, 40, 6) if FULL else (60, 8, 2)
    topic = collection.topics.order_by("topic_id")[0]
    n_elements = topic.rubric_elements.filter(kind="sub_question", masked=False).count()
    many_reports(collection, n_items // n_elements - Report.objects.count())
    everybody = [a_user(f"crowd-{n}") for n in range(n_people)]
    design = Design(control_share=0.1, even=False, quota=12, timeout_minutes=60, own_order=True)
    study = opened(collection, people=everybody, design=design, overlap=3)
    dropouts, returners = set(everybody[:n_some]), set(everybody[n_some : 2 * n_some])
    criterion = study.criteria.get(name="answerability")
    at = NOON

    for user in everybody:
        for turn in range(100):
            at += timedelta(seconds=20)
            assignment = claim_next(study=study, rater=rater_of(user), at=at)
            if assignment is None:
                break
            assert claim_next(study=study, rater=rater_of(user), at=at) == assignment, "a second click"
            if user in dropouts and turn == 2:
                break
            for asked in assignment.asked.select_related("item__report"):
                for _ in range(2):
                    save_choice(assignment=assignment, item=asked.item, criterion=criterion, grade=0, at=at)
            if user in returners and turn == 1:
                return_assignment(assignment=assignment, at=at)
            else:
                submit_assignment(assignment=assignment, at=at)
                submit_assignment(assignment=assignment, at=at)
    at += timedelta(hours=2)
    late = [a_user(f"late-{n}") for n in range(3)]
    for user in late:
        enrol(study=study, user=user, at=at)
        while assignment := claim_next(study=study, rater=rater_of(user), at=at):
            finish(assignment)

    per_item = Counter(Judgment.objects.filter(criterion=criterion).values_list("item__pk", flat=True))
    asked_of_all = set(study.tasks.filter(everyone=True).values_list("items", flat=True))
    others = set(study.items.values_list("pk", flat=True)) - asked_of_all
    assert study.items.count() == n_items
    assert {per_item[item] for item in others} == {3}
    finishers = {
        task.pk: task.assignments.filter(state=Assignment.State.SUBMITTED).count()
        for task in study.tasks.filter(everyone=True)
    }
    assert all(
        per_item[item] == finishers[task] for task, item in study.tasks.filter(everyone=True).values_list("pk", "items")
    )
    assert not Counter(Judgment.objects.values_list("item", "rater", "criterion")).most_common(1)[0][1] > 1
    drawn = Draw.objects.filter(item__study=study)
    assert drawn.filter(purpose=Draw.Purpose.SAMPLE).count() == n_items
    assert drawn.filter(purpose=Draw.Purpose.CONTROL).count() == len(asked_of_all)


def test_what_one_saves_of_a_study_leaves_what_another_saved(collection: Collection) -> None:
    study = a_study_of(collection, "answerability", overlap=1)
    open_study(study=study, at=NOON)
    study.tasks.update(batch=2)
    as_read_before = Study.objects.get(pk=study.pk)
    release_next_batch(Study.objects.get(pk=study.pk), at=NOON, by_hand=True)

    lay_out_tasks(study=as_read_before, at=NOON)

    assert Study.objects.get(pk=study.pk).released_batch == 2
