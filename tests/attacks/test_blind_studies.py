"""A researcher who assesses in a study reads nothing that depends on what others said in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import Client
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from annotate.studies.lifecycle import enrol
from collection.importing.files import FilesOptions, import_files
from collection.importing.outcomes import ImportOutcome
from collection.judgments.services import record_judgment
from collection.models import Collection, Comment, Item, Judgment, Rater, Study, Upload, User
from judging.models import Completion, GradingJob
from tests.attacks.world import World, a_world, addresses, path_of
from tests.factories import a_judge_rater, a_user, rater_of

pytestmark = pytest.mark.django_db

GUESS = "t0 0 t0-p0 3\n"
# What differs from one answer to the next, whatever is said.
OF_THE_MOMENT = re.compile(
    rb'csrfmiddlewaretoken" value="[^"]*"|X-CSRFToken": "[^"]*"|"token": "[^"]*"|key=[0-9a-f]{64}'
    rb"|\d{4}-\d\d-\d\d[T ][\d:.]+"
)


@pytest.mark.slow
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


@pytest.fixture
def graded(tmp_path: Path, settings: Settings, collection: Collection) -> Study:
    """The collection's study of qrels, open again, with a grade of a judge that is called like guess.qrels."""
    settings.MEDIA_ROOT = tmp_path / "media"
    path = tmp_path / "guess.qrels"
    path.write_text("t0 0 t0-p0 1\n")
    options = FilesOptions(others=Rater.Kind.JUDGE)
    import_files(files=[(path.name, path)], collection=collection, options=options, at=now())
    Study.objects.update(state=Study.State.OPEN)
    return Study.objects.get()


@pytest.mark.parametrize("names_study", [True, False])
def test_no_file_by_the_api_finds_out_what_others_said(client: Client, graded: Study, names_study: bool) -> None:
    client.force_login(assessing(graded))
    address = f"/api/v1/collections/{graded.collection.name}/files/"
    study = {"study": graded.name} if names_study else {}

    response = client.post(address, {"file": guess(), "judge": "guess.qrels=guess", **study})

    assert response.status_code == (403 if names_study else 400)
    assert b"already judged" not in response.content
    assert Judgment.objects.get().grade == 1


@pytest.mark.parametrize("names_study", [True, False])
def test_no_file_by_page_finds_out_what_others_said(client: Client, graded: Study, names_study: bool) -> None:
    client.force_login(assessing(graded))
    chosen = {"file_format": "qrels", "rater": "guess", "study": graded.name if names_study else ""}

    response = client.post(f"/collections/{graded.collection.name}/import/", {"file": guess(), **chosen})

    assert response.status_code == (422 if names_study else 302)
    for upload in Upload.objects.all():
        outcome = ImportOutcome.read(upload.outcome)
        assert not outcome.counts
        assert "already judged" not in str(outcome.problems)


def test_no_file_that_was_kept_before_they_assess_finds_out_what_others_said(client: Client, graded: Study) -> None:
    rosa = graded.collection.owner
    client.force_login(rosa)
    chosen = {"file_format": "qrels", "rater": "gpt", "study": graded.name}
    preview = client.post(f"/collections/{graded.collection.name}/import/", {"file": guess(), **chosen})["Location"]
    enrol(study=graded, user=rosa, at=now())

    response = client.post(preview, {"name-0": "guess", "nobody": "on"})

    assert response.status_code == 422
    assert b"already judged" not in response.content


def assessing(study: Study) -> User:
    """Return a researcher of the study's collection who assesses in it."""
    user = a_user("assesses", is_researcher=True)
    study.collection.researchers.add(user)
    enrol(study=study, user=user, at=now())
    return user


def guess() -> SimpleUploadedFile:
    return SimpleUploadedFile("guess.qrels", GUESS.encode())


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
