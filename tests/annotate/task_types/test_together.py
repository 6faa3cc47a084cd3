"""Studies of several task types: every pair, by night every triple, can be opened, and asks what each alone would."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from django.urls import reverse
from django.utils.timezone import now

from annotate.models import Task
from annotate.studies.lifecycle import open_study
from annotate.task_types import RULES, lacks_of
from collection.models import Collection, Report, Run, Study, System, User
from tests.annotate.categorised_questions import with_categories
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.studies.test_lifecycle import a_study_of, rank_everything
from tests.annotate.studies.test_views import signed_in
from tests.annotate.task_types.test_relevance_and_nuggets import with_nuggets
from tests.attacks.mutations import FULL
from tests.pages import form_in

# Triples by night: what three task types could break, two of them do.
SEVERAL = (1, 2, 3) if FULL else (1, 2)
TOGETHER = [chosen for several in SEVERAL for chosen in combinations(RULES, several) if not lacks_of(chosen)]


@pytest.fixture
def everything(collection: Collection) -> Collection:
    """A collection that every task type can ask about.

    It has two systems' reports and rankings, every kind of element, and questions with categories.
    """
    with_nuggets(collection)
    rank_everything(collection)
    beta = System.objects.create(collection=collection, name="beta")
    run = Run.objects.create(collection=collection, system=beta, name="beta-1")
    for topic in collection.topics.all():
        Report.objects.create(run=run, topic=topic, text="Beta says fact 1.")
    rank_everything(collection, run)
    with_cited_reports(collection)
    with_categories(collection)
    return collection


def asked_in(study: Study) -> Counter[tuple[str, int, str]]:
    """How often each text is a task of each task type."""
    return Counter(Task.objects.filter(study=study).values_list("task_type", "report", "passage"))


@pytest.mark.slow
def test_task_types_together_lay_out_the_tasks_that_each_lays_out_alone(everything: Collection) -> None:
    alone = {task_type: laid_out(everything, task_type) for task_type in RULES if RULES[task_type].needs is None}

    for task_types in TOGETHER:
        expected = sum((alone[each] for each in task_types if each in alone), Counter[tuple[str, int, str]]())

        assert laid_out(everything, *task_types) == expected, task_types


def laid_out(collection: Collection, *task_types: str) -> Counter[tuple[str, int, str]]:
    """Open a study of these task types, and count how often each text is a task of each."""
    study = a_study_of(collection, *task_types)
    n_tasks = open_study(study=study, at=now())
    assert n_tasks == study.tasks.count() == study.tasks.values("position").distinct().count(), task_types
    return asked_in(study)


@pytest.mark.parametrize("nuggets_in", ["reports", "passages"])
def test_rosa_opens_a_study_of_all_task_types_on_its_page(everything: Collection, rosa: User, nuggets_in: str) -> None:
    client = signed_in(rosa)
    untouched = form_in(client.get(reverse("annotate:study_new")).content.decode(), "study-form")
    chosen = {"title": "Everything", "task_types": list(RULES), "nuggets_in": nuggets_in}
    client.post(reverse("annotate:study_new"), untouched | chosen)
    study = Study.objects.get()

    response = client.post(reverse("annotate:study_open", args=[study.name]), follow=True)

    assert response.status_code == 200
    assert "The study is open" in response.content.decode()
    assert set(study.tasks.values_list("task_type", flat=True)) == set(RULES) - {"answer_revision"}
