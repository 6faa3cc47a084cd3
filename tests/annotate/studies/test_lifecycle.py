"""Making a study, opening it, and what its states allow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from django.utils.timezone import now

from annotate.assignments.assignments import claim_next
from annotate.models import Assignment, Enrolment, Place, Task
from annotate.studies.assessor_accounts import enrol_by_name
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import (
    AlreadyExcluded,
    NameTaken,
    NothingWasAsked,
    WrongState,
    close_study,
    enrol,
    exclude_rater,
    lift_exclusion,
    make_study,
    open_study,
    pause_study,
    reopen_study,
    revise_guidelines,
    unenrol,
)
from annotate.studies.task_counts import forecast_of
from annotate.task_types import NothingToJudge
from collection.models import (
    Collection,
    Draw,
    Exclusion,
    Passage,
    RankedPassage,
    Rater,
    Report,
    RubricElement,
    Run,
    Scale,
    Study,
    User,
)
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES
from tests.factories import a_collection, a_study


def rank_everything(collection: Collection, run: Run | None = None) -> None:
    """Let the run rank each topic's two passages, and one whose text is not held here."""
    run = run or collection.runs.get()
    for topic in collection.topics.all():
        for rank, name in enumerate([f"{topic.topic_id}-p0", f"{topic.topic_id}-p1", "elsewhere"], start=1):
            RankedPassage.objects.create(run=run, topic=topic, passage_id=name, rank=rank, score=-rank)


def a_study_of(collection: Collection, *task_types: str, assessors: Iterable[User] = (), **fields: Any) -> Study:
    return make_study(
        StudyDesign(
            collection=collection,
            name=f"study-of-{len(task_types)}-{Study.objects.count()}",
            task_types=task_types,
            guidelines="Read it all.",
            **fields,
        ),
        assessors=assessors,
        by=collection.owner,
        at=now(),
    )


def element_ids(task: Task) -> list[str]:
    """What the task asks, in its order."""
    items = task.items.order_by("task_item__position")
    return list(items.values_list("element__element_id", flat=True))


# --- Making ---------------------------------------------------------------------------------------


def test_makes_a_draft_with_the_criteria_of_its_task_types(collection: Collection) -> None:
    study = a_study_of(collection, "rating", "key_point")

    assert study.state == Study.State.DRAFT
    assert [c.name for c in study.criteria.all()] == ["rating", "grounded", "utility"]
    assert study.guidelines.get().version == 1
    assert not study.items.exists()


def test_words_of_its_own_make_a_scale_of_their_own(collection: Collection) -> None:
    standard = TASK_TYPES["rating"].criteria[0]
    points = (*standard.scale.points[:-1], (5, "all of it", "Nothing is missing."))
    worded = replace(standard, question="How much of it?", threshold=4, scale=replace(standard.scale, points=points))

    study = a_study_of(collection, "rating", criteria={"rating": worded})
    other = a_study_of(collection, "rating")

    criterion = study.criteria.get()
    assert (criterion.question, criterion.threshold) == ("How much of it?", 4)
    assert criterion.scale.points[-1] == {"value": 5, "name": "all of it", "text": "Nothing is missing."}
    assert other.criteria.get().scale != criterion.scale
    assert Scale.objects.count() == 2


def test_a_study_without_a_task_type_is_refused(collection: Collection) -> None:
    with pytest.raises(NothingWasAsked, match="at least one"):
        a_study_of(collection)


def test_two_studies_do_not_share_a_name(study: Study) -> None:
    with pytest.raises(NameTaken, match=study.name):
        make_study(
            StudyDesign(collection=study.collection, name=study.name, task_types=["rating"], guidelines=""),
            by=study.created_by,
            at=now(),
        )


def test_revised_guidelines_are_a_new_version_and_the_same_words_are_none(study: Study, rosa: User) -> None:
    second = revise_guidelines(study=study, markdown="Read it twice.", by=rosa)
    again = revise_guidelines(study=study, markdown="Read it twice.", by=rosa)

    assert second.version == 2
    assert again == second


# --- Opening: what is asked -----------------------------------------------------------------------


def test_answerability_asks_each_report_every_sub_question_that_is_not_masked(collection: Collection) -> None:
    RubricElement.objects.filter(element_id="t0-q1").update(masked=True)
    study = a_study_of(collection, "answerability", overlap=3)

    made = open_study(study=study, at=now())

    assert made == 2
    assert [element_ids(task) for task in study.tasks.all()] == [
        ["t0-q0", "t0-q2"],
        ["t1-q0", "t1-q1", "t1-q2"],
    ]
    assert Place.objects.filter(task__study=study).count() == 2 * 3
    assert set(Draw.objects.values_list("item__study", "purpose", "inclusion_probability", "design")) == {
        (study.pk, "sample", 1.0, "all")
    }


def test_rating_asks_each_ranked_passage_with_text_once_however_many_runs_rank_it(collection: Collection) -> None:
    rank_everything(collection)
    rank_everything(collection, Run.objects.create(collection=collection, system=collection.systems.get(), name="b"))
    study = a_study_of(collection, "rating")

    open_study(study=study, at=now())

    tasks = study.tasks.order_by("position")
    assert [str(t.passage) for t in tasks] == ["t0-p0", "t1-p0", "t0-p1", "t1-p1"]
    assert study.items.count() == 4 * 3
    assert {t.after for t in tasks} == {None}


def test_the_ranking_is_rated_down_to_the_depth(collection: Collection) -> None:
    rank_everything(collection)
    study = a_study_of(collection, "rating", depth=1)

    open_study(study=study, at=now())

    assert {str(t.passage) for t in study.tasks.all()} == {"t0-p0", "t1-p0"}


def test_passages_follow_the_report_of_their_run(collection: Collection) -> None:
    rank_everything(collection)
    study = a_study_of(collection, "answerability", "rating")

    open_study(study=study, at=now())

    tasks = list(study.tasks.order_by("position"))
    assert [t.task_type for t in tasks] == ["answerability", "rating", "rating"] * 2
    assert [t.after for t in tasks] == [None, tasks[0], tasks[0], None, tasks[3], tasks[3]]
    assert tasks[0].topic != tasks[3].topic


def test_key_points_are_asked_of_the_passages_that_hold_their_spans(collection: Collection) -> None:
    study = a_study_of(collection, "key_point")

    open_study(study=study, at=now())

    asked = {str(task.passage): element_ids(task) for task in study.tasks.all()}
    assert asked == {"t0-p0": ["t0-k0"], "t0-p1": ["t0-k1"], "t1-p0": ["t1-k0"], "t1-p1": ["t1-k1"]}


@pytest.mark.parametrize(
    ("task_type", "lack"), [("answerability", "report"), ("rating", "ranked passage"), ("key_point", "span")]
)
def test_opening_says_what_the_collection_lacks_and_changes_nothing(rosa: User, task_type: str, lack: str) -> None:
    study = a_study_of(Collection.objects.create(name="empty", owner=rosa), task_type)

    with pytest.raises(NothingToJudge, match=rf"“empty” has no .*{lack}.* Import "):
        open_study(study=study, at=now())

    study.refresh_from_db()
    assert study.state == Study.State.DRAFT
    assert not study.items.exists()


def test_the_forecast_of_a_draft_is_what_opening_makes(collection: Collection) -> None:
    study = a_study_of(collection, "answerability", "rating", sample_sizes={"answerability": 1})

    forecast = {part.task_type: part for part in forecast_of(study)}

    assert (forecast[TaskType.ANSWERABILITY].texts, forecast[TaskType.ANSWERABILITY].drawn) == (2, 1)
    assert forecast[TaskType.ANSWERABILITY].items == 6
    assert "has no ranked passage" in forecast[TaskType.RATING].problem


# --- Opening again --------------------------------------------------------------------------------


def test_opening_again_changes_nothing(collection: Collection) -> None:
    rank_everything(collection)
    study = a_study_of(collection, "answerability", "rating", "key_point")
    open_study(study=study, at=now())
    before = (study.items.count(), study.tasks.count(), Place.objects.count(), Draw.objects.count())

    made = open_study(study=study, at=now())

    assert made == 0
    assert (study.items.count(), study.tasks.count(), Place.objects.count(), Draw.objects.count()) == before


def test_opening_again_adds_what_came_in_since(collection: Collection) -> None:
    study = a_study_of(collection, "answerability", overlap=2)
    open_study(study=study, at=now())
    run = Run.objects.create(collection=collection, system=collection.systems.get(), name="late")
    Report.objects.create(run=run, topic=collection.topics.all()[0], text="A late report.")

    made = open_study(study=study, at=now())

    assert made == 1
    late = study.tasks.get(report__run=run)
    assert (late.position, late.places.count()) == (3, 2)


def test_items_that_an_import_made_are_asked_too_and_not_made_twice(collection: Collection) -> None:
    study = a_study_of(collection, "answerability")
    report = Report.objects.order_by("pk")[0]
    element = RubricElement.objects.get(element_id="t0-q0")
    imported = study.items.create(
        task_type="answerability", item_id="as the file says", topic=report.topic, element=element, report=report
    )

    open_study(study=study, at=now())

    assert study.items.count() == 6
    assert imported.task_item.task.report == report


# --- Samples --------------------------------------------------------------------------------------


def many_reports(collection: Collection, number: int, prefix: str = "run") -> None:
    topic = collection.topics.all()[0]
    for n in range(number):
        run = Run.objects.create(collection=collection, system=collection.systems.get(), name=f"{prefix}{n}")
        Report.objects.create(run=run, topic=topic, text=f"Report {n}.")


def test_a_sample_of_n_texts_has_the_probability_n_of_all(collection: Collection) -> None:
    many_reports(collection, 8)
    study = a_study_of(collection, "answerability", sample_sizes={"answerability": 4})

    open_study(study=study, at=now())

    assert study.tasks.count() == 4
    assert study.items.count() == 10 * 3, "the texts that were not drawn have items for judges"
    assert set(Draw.objects.values_list("inclusion_probability", "design")) == {(0.4, "simple")}
    assert Draw.objects.count() == 4 * 3
    study.refresh_from_db()
    assert study.samples["answerability"]["texts"] == 10


def test_a_sample_is_not_drawn_anew_and_later_texts_meet_the_same_odds(collection: Collection) -> None:
    many_reports(collection, 38)
    study = a_study_of(collection, "answerability", sample_sizes={"answerability": 20})
    open_study(study=study, at=now())
    drawn = set(study.tasks.values_list("report", flat=True))
    many_reports(collection, 40, prefix="late")

    open_study(study=study, at=now())
    opened_thrice = open_study(study=study, at=now())

    late = study.tasks.exclude(report__in=drawn)
    study.refresh_from_db()
    assert study.tasks.filter(report__in=drawn).count() == 20
    assert 0 < late.count() < 40
    assert not late.exclude(report__run__name__startswith="late").exists()
    assert opened_thrice == 0
    probabilities = Draw.objects.filter(item__tasks__in=late).values_list("inclusion_probability", "design")
    assert set(probabilities) == {(study.samples["answerability"]["below"], "Bernoulli")}


def test_every_text_is_drawn_about_as_often_as_any_other(collection: Collection) -> None:
    many_reports(collection, 3)
    drawn: dict[int, int] = dict.fromkeys(Report.objects.values_list("pk", flat=True), 0)

    for _ in range(60):
        study = a_study_of(collection, "answerability", sample_sizes={"answerability": 2}, overlap=1)
        open_study(study=study, at=now())
        for report in study.tasks.values_list("report", flat=True):
            drawn[report] += 1

    # 60 draws of 2 out of 5: each is expected 24 times, with a standard deviation of 3.8.
    assert sum(drawn.values()) == 120
    assert all(6 <= times <= 42 for times in drawn.values())


# --- States ---------------------------------------------------------------------------------------


def test_what_active_labelling_drew_is_asked_and_nothing_beside_it(collection: Collection, ada: User) -> None:
    rank_everything(collection)
    study = a_study_of(collection, "rating", sample_sizes={"rating": 1})
    enrol(study=study, user=ada, at=now())
    open_study(study=study, at=now())
    unasked = study.items.filter(task_item=None)
    drawn = list(unasked.order_by("passage", "pk"))[:3]
    Draw.objects.bulk_create(
        Draw(item=item, purpose=Draw.Purpose.ACTIVE, inclusion_probability=0.4, design="strata", drawn_at=now())
        for item in drawn
    )

    open_study(study=study, at=now())

    later = list(study.tasks.order_by("position"))[1:]
    assert {item for task in later for item in task.items.all()} == set(drawn)
    assert Draw.objects.filter(item__in=drawn).count() == 3
    first = claim_next(study=study, rater=ada.rater, at=now())
    assert first is not None
    submit_all = Assignment.objects.filter(pk=first.pk)
    submit_all.update(state=Assignment.State.SUBMITTED)
    second = claim_next(study=study, rater=ada.rater, at=now())
    assert second is not None
    assert second.task == later[0]
    assert {asked.item for asked in second.asked.all()} == set(later[0].items.all())
    assert {asked.inclusion_probability for asked in second.asked.all()} == {1.0}


def test_a_study_is_opened_paused_closed_and_opened_again(collection: Collection) -> None:
    study = a_study_of(collection, "answerability")

    open_study(study=study, at=now())
    pause_study(study=study)
    open_study(study=study, at=now())
    close_study(study=study, at=now())
    reopen_study(study=study, at=now())

    study.refresh_from_db()
    assert study.state == Study.State.OPEN


@pytest.mark.parametrize("state", [Study.State.DRAFT, Study.State.PAUSED, Study.State.CLOSED])
def test_only_an_open_study_is_paused(study: Study, state: str) -> None:
    Study.objects.filter(pk=study.pk).update(state=state)

    with pytest.raises(WrongState, match="cannot become paused"):
        pause_study(study=study)


def test_a_closed_study_is_reopened_and_not_just_opened(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)

    with pytest.raises(WrongState):
        open_study(study=study, at=now())


def test_a_draft_cannot_be_closed_or_reopened(study: Study) -> None:
    with pytest.raises(WrongState):
        close_study(study=study, at=now())
    with pytest.raises(WrongState):
        reopen_study(study=study, at=now())


# --- People ---------------------------------------------------------------------------------------


def test_enrolling_makes_a_rater_of_the_person_once(study: Study, ada: User) -> None:
    enrol(study=study, user=ada, at=now())
    enrol(study=study, user=ada, at=now())

    assert Enrolment.objects.filter(study=study, user=ada).count() == 1
    assert Rater.objects.get(user=ada).kind == Rater.Kind.ASSESSOR


def test_who_leaves_gives_back_what_is_in_hand_and_may_come_back(collection: Collection, ada: User) -> None:
    study = a_study_of(collection, "answerability", overlap=1, assessors=[ada])
    open_study(study=study, at=now())
    assignment = claim_next(study=study, rater=ada.rater, at=now())
    assert assignment is not None

    unenrol(study=study, user=ada, at=now())
    left = Enrolment.objects.get(study=study, user=ada).left_at
    enrol(study=study, user=ada, at=now())

    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RETURNED
    assert Task.objects.get(pk=assignment.task_id).places.get().holder is None
    assert left is not None
    assert Enrolment.objects.get(study=study, user=ada).left_at is None


def test_names_without_an_account_get_one_and_the_others_keep_theirs(study: Study, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(made_for=study.collection)

    accounts = enrol_by_name(study=study, usernames=["ada", "carla"], by=study.created_by, at=now())

    assert [account.user.username for account in accounts] == ["carla@bridges"]
    assert accounts[0].user.check_password(accounts[0].password)
    assert {e.user.username for e in study.enrolments.all()} == {"ada", "carla@bridges"}


def test_an_exclusion_has_a_reason_and_can_be_lifted(study: Study, ada_as_rater: Rater, rosa: User) -> None:
    exclude_rater(study=study, rater=ada_as_rater, reason="clicks through", by=rosa, at=now())
    with pytest.raises(AlreadyExcluded, match="clicks through"):
        exclude_rater(study=study, rater=ada_as_rater, reason="again", by=rosa, at=now())

    lifted = lift_exclusion(study=study, rater=ada_as_rater, at=now())
    lifted_twice = lift_exclusion(study=study, rater=ada_as_rater, at=now())

    assert (lifted, lifted_twice) == (True, False)
    assert Exclusion.objects.get().lifted_at is not None


def test_a_study_of_one_collection_does_not_ask_about_another(collection: Collection, rosa: User) -> None:
    a_collection(owner=rosa, name="tunnels")
    study = a_study(collection, name="all-of-bridges")
    rank_everything(collection)

    open_study(study=study, at=now())

    assert {i.topic.collection for i in study.items.select_related("topic__collection")} == {collection}
    assert Passage.objects.filter(items__study=study).exclude(collection=collection).count() == 0
