"""Studies of several task types: every pair and triple of them can be opened, and asks what each alone would."""

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
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.questions import with_categories
from tests.annotate.studies.test_lifecycle import a_study_of, rank_everything
from tests.annotate.studies.test_views import signed_in
from tests.annotate.task_types.test_relevance_and_nuggets import with_nuggets
from tests.pages import form_in

TOGETHER = [chosen for several in (1, 2, 3) for chosen in combinations(RULES, several) if not lacks_of(chosen)]


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


@pytest.mark.parametrize("task_types", TOGETHER, ids="+".join)
def test_task_types_together_lay_out_the_tasks_that_each_lays_out_alone(
    everything: Collection, task_types: tuple[str, ...]
) -> None:
    together = a_study_of(everything, *task_types)
    alone: Counter[tuple[str, int, str]] = Counter()
    for task_type in task_types:
        if RULES[task_type].needs is None:
            study = a_study_of(everything, task_type)
            open_study(study=study, at=now())
            alone += asked_in(study)

    laid_out = open_study(study=together, at=now())

    assert asked_in(together) == alone
    assert laid_out == together.tasks.count() == together.tasks.values("position").distinct().count()


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
