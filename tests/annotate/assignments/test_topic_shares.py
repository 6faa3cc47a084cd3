"""Work that is shared by topic: one assessor gets all tasks of a topic, and what they leave comes to somebody else."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta

import pytest

from annotate.assignments.assignments import claim_next, return_open
from annotate.assignments.places import next_task
from annotate.frames.frame import Frame
from annotate.models import Assignment, TopicShare
from annotate.studies.frames import change_frame
from annotate.studies.lifecycle import open_study, remove_person
from annotate.work.queue import _tasks_left
from collection.models import Collection, Rater, Report, Run, Study, Topic, User
from tests.annotate.factories import NOON, enrolled
from tests.factories import a_study, a_user

pytestmark = pytest.mark.django_db
TOPICS, RUNS = 4, 3


@pytest.fixture
def study(collection: Collection) -> Study:
    """Four topics with the reports of three runs, two assessors an item, shared by topic."""
    first = Topic.objects.get(collection=collection, topic_id="t0")
    for number in range(2, TOPICS):
        topic = Topic.objects.create(collection=collection, topic_id=f"t{number}", request="Ask.")
        for element in first.rubric_elements.filter(kind="sub_question"):
            element.pk, element.topic, element.element_id = None, topic, f"{topic.topic_id}-{element.element_id}"
            element.save()
    for number in range(1, RUNS):
        Run.objects.create(collection=collection, system=collection.systems.all()[0], name=f"beta-{number}")
    for run in collection.runs.all():
        for topic in collection.topics.all():
            Report.objects.get_or_create(run=run, topic=topic, defaults={"text": f"{run} on {topic}."})
    study = a_study(collection, name="shared", task_types=["answerability"], overlap=2)
    change_frame(study=study, frame=Frame(share_by="topic"))
    open_study(study=study, at=NOON)
    return study


def took(study: Study, rater: Rater) -> Assignment | None:
    """Claim and submit the rater's next task."""
    expected = next_task(study, rater, at=NOON)
    assignment = claim_next(study=study, rater=rater, at=NOON)
    assert (assignment and assignment.task) == expected
    if assignment:
        assignment.state = Assignment.State.SUBMITTED
        assignment.submitted_at = NOON
        assignment.save()
    return assignment


def worked(study: Study, raters: list[Rater], *, times: int = TOPICS * RUNS) -> dict[Rater, list[str]]:
    """Let the raters take turns, and return the topics of what each did, in order."""
    done: dict[Rater, list[str]] = defaultdict(list)
    for _ in range(times):
        for rater in raters:
            if assignment := took(study, rater):
                done[rater].append(assignment.task.topic.topic_id)
    return done


def test_each_topic_is_done_by_two_people_who_do_all_of_it_in_a_row(study: Study) -> None:
    raters = [enrolled(a_user(f"reader-{number}"), study) for number in range(4)]

    done = worked(study, raters)

    assert sum(map(len, done.values())) == TOPICS * RUNS * 2
    for topics in done.values():
        assert topics == [topic for topic in dict.fromkeys(topics) for _ in range(RUNS)]
    shares = TopicShare.objects.filter(study=study)
    assert shares.count() == TOPICS * 2


def test_a_limit_is_met_when_the_topic_that_was_begun_is_done(study: Study, ada: User) -> None:
    study.quota = 4
    study.save()
    rater = enrolled(ada, study)

    done = worked(study, [rater])

    assert len(done[rater]) == 2 * RUNS


def test_what_its_holder_skips_comes_to_somebody_else_and_the_rest_stays_theirs(
    study: Study, ada: User, ben: User
) -> None:
    study.overlap = 1
    study.save()
    study.tasks.all()
    for task in study.tasks.all():
        task.places.filter(number=2).delete()
    first, second = enrolled(ada, study), enrolled(ben, study)
    skipped = claim_next(study=study, rater=first, at=NOON)
    assert skipped is not None
    return_open(Assignment.objects.filter(pk=skipped.pk), because=Assignment.Because.SKIPPED, at=NOON)

    done = worked(study, [first, second])

    topic = skipped.task.topic.topic_id
    assert done[first].count(topic) == RUNS - 1
    assert done[second].count(topic) == 1
    assert len(done[first]) + len(done[second]) == TOPICS * RUNS


def test_who_leaves_hands_their_topic_on(study: Study, ada: User, ben: User) -> None:
    for task in study.tasks.all():
        task.places.filter(number=2).delete()
    first, second = enrolled(ada, study), enrolled(ben, study)
    begun = took(study, first)
    assert begun is not None
    remove_person(study=study, user=ada, at=NOON + timedelta(hours=1))

    done = worked(study, [second])

    assert done[second].count(begun.task.topic.topic_id) == RUNS - 1
    assert len(done[second]) == TOPICS * RUNS - 1


def test_counts_as_left_what_may_come_to_an_assessor(study: Study, ada: User, ben: User) -> None:
    for task in study.tasks.all():
        task.places.filter(number=2).delete()
    first, second = enrolled(ada, study), enrolled(ben, study)

    assert took(study, first)

    assert _tasks_left([study], first, at=NOON)[study.pk] == TOPICS * RUNS - 1
    assert _tasks_left([study], second, at=NOON)[study.pk] == (TOPICS - 1) * RUNS
