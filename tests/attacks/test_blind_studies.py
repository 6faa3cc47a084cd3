"""A researcher who assesses in a study reads nothing that depends on what others said in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from django.core.cache import caches
from django.db.models import F
from django.test import Client
from django.utils.timezone import now

from collection.judgments.services import record_judgment
from collection.models import Comment, Item, Rater, Study, User
from judging.models import Completion, GradingJob
from tests.attacks.world import World, a_world, addresses, path_of
from tests.factories import a_judge_rater, rater_of

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# What differs from one answer to the next, whatever is said.
OF_THE_MOMENT = re.compile(
    rb'csrfmiddlewaretoken" value="[^"]*"|X-CSRFToken": "[^"]*"|"token": "[^"]*"|key=[0-9a-f]{64}'
    rb"|\d{4}-\d\d-\d\d[T ][\d:.]+"
)


def test_nothing_shows_what_others_said_to_a_researcher_who_assesses() -> None:
    world = a_world()
    study = Study.objects.get(name=world.values["/collections/"]["study"])
    ada, rosa = (rater_of(User.objects.get(username=name)) for name in ("ada", "rosa"))
    judge = a_judge_rater(study.collection)
    say(study, judge, [0, 1])
    say(study, rosa, [1])
    say(study, ada, [0])
    reply(GradingJob.objects.get())

    before = contents(world)
    say(study, ada, [1])
    say(study, judge, [1])
    Completion.objects.update(grade=1 - F("grade"), reply="another reply")
    Comment.objects.update(text="another comment")
    after = contents(world)

    changed = {role: [path for path, said in before[role].items() if said != after[role][path]] for role in before}
    assert len(changed["rosa"]) > 15
    assert changed["assesses"] == []


def say(study: Study, rater: Rater, grades: Sequence[int]) -> None:
    for number, item in enumerate(study.items.order_by("pk")):
        criterion = study.criteria.get(task_type=item.task_type)
        record_judgment(item=item, criterion=criterion, rater=rater, grade=grades[number % len(grades)], at=now())


def reply(job: GradingJob) -> None:
    asked = Item.objects.filter(study=job.study, task_type=job.criterion.task_type)
    Completion.objects.bulk_create(
        Completion(job=job, judge=job.judge, item=item, criterion=job.criterion, grade=1, reply="1", completed_at=now())
        for item in asked
    )


def contents(world: World) -> dict[str, dict[str, bytes]]:
    """Return what stands at every address for a researcher, and for one who assesses."""
    caches["figures"].clear()
    shown: dict[str, dict[str, bytes]] = {}
    for role, step in ("rosa", 3), ("assesses", 1):
        client = Client(raise_request_exception=False)
        client.force_login(User.objects.get(username=role))
        shown[role] = {}
        for address in sorted(addresses())[::step]:
            for asked in ({}, {"HX-Request": "true"}) if role == "assesses" else ({},):
                response = client.get(path_of(address, world), {"criterion": "answerability"}, headers=asked)
                content = b"%d %s" % (response.status_code, response.getvalue())
                shown[role][f"{address} {asked or ''}"] = OF_THE_MOMENT.sub(b"", content)
    return shown
