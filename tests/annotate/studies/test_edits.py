"""Changing a study that stands, copying it, and removing whom one excludes."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotate.assignments.assignments import claim_next
from annotate.models import Assignment, Enrolment, Notice, Place
from annotate.studies.edits import OverlapLowered, copy_study, edit_study, name_for
from annotate.studies.lifecycle import NameTaken, WrongState, close_study, open_study, revise_guidelines
from collection.models import Criterion, Draw, Judgment, Study, User
from tests.annotate.factories import (
    NOON,
    a_report_task,
    a_submitted_report,
    an_open_study,
    answer_report,
    enrolled,
    in_hands_of,
)


@pytest.fixture
def study(study: Study) -> Study:
    """A study of reports alone, which can open."""
    study.criteria.exclude(task_type="answerability").delete()
    study.overlap = 2
    study.save()
    return study


def page_of(page: str, study: Study) -> str:
    return reverse(f"annotate:{page}", args=[study.name])


def as_sent(study: Study, **changes: object) -> dict[str, object]:
    values = {name: getattr(study, name) for name in ("title", "overlap", "quota", "batch_size", "timeout_minutes")}
    return {name: "" if value is None else value for name, value in (values | changes).items()}


# --- Editing ----------------------------------------------------------------------------------------


def test_raising_the_overlap_of_an_open_study_makes_the_places_that_lack(study: Study, ada: User, ben: User) -> None:
    enrolled(ben, study)
    open_study(study=study, at=NOON)
    a_submitted_report(in_hands_of(ada, study.tasks.order_by("position")[0]), [0, 0, 0])
    before = {
        "draws": list(Draw.objects.order_by("pk").values()),
        "judgments": list(Judgment.objects.order_by("pk").values()),
        "places": list(Place.objects.order_by("pk").values()),
    }
    n_before = Place.objects.count()
    Notice.objects.all().delete()

    made = edit_study(study=study, overlap=4, at=NOON)
    again = edit_study(study=study, overlap=4, at=NOON)

    assert (made, again) == (2 * study.tasks.count(), 0)
    assert all(task.places.count() == 4 for task in study.tasks.all())
    assert list(Draw.objects.order_by("pk").values()) == before["draws"]
    assert list(Judgment.objects.order_by("pk").values()) == before["judgments"]
    assert list(Place.objects.order_by("pk").values())[:n_before] == before["places"]
    assert Notice.objects.filter(user=ben).get().kind == Notice.Kind.NEW_WORK


def test_who_found_nothing_left_gets_the_new_places(study: Study, ada: User, ben: User) -> None:
    study.overlap = 1
    task = a_report_task(study, k=1)
    in_hands_of(ada, task)
    rater = enrolled(ben, study)
    before = claim_next(study=study, rater=rater, at=NOON)

    edit_study(study=study, overlap=2, at=NOON)
    claimed = claim_next(study=study, rater=rater, at=NOON)

    assert before is None
    assert claimed is not None
    assert claimed.task == task


def test_what_everyone_sees_has_no_number_of_places(study: Study) -> None:
    task = a_report_task(an_open_study(study), k=0)
    task.everyone = True
    task.save()

    assert edit_study(study=study, overlap=5, at=NOON) == 0


def test_the_overlap_is_lowered_in_drafts_alone(study: Study) -> None:
    edit_study(study=study, overlap=1, at=NOON)
    study.refresh_from_db()
    as_draft = study.overlap
    an_open_study(study)
    edit_study(study=study, overlap=3, at=NOON)

    with pytest.raises(OverlapLowered, match="at least 3"):
        edit_study(study=study, overlap=2, at=NOON)
    assert as_draft == 1


def test_a_closed_study_changes_its_title_alone(study: Study) -> None:
    an_open_study(study)
    close_study(study=study, at=NOON)

    edit_study(study=study, title="Bridges, again", overlap=2, at=NOON)

    with pytest.raises(WrongState, match="only its title"):
        edit_study(study=study, timeout_minutes=30, at=NOON)
    study.refresh_from_db()
    assert (study.title, study.timeout_minutes) == ("Bridges, again", None)


def test_another_batch_size_regroups_what_is_not_released(study: Study) -> None:
    tasks = [a_report_task(study, f"Report {number}.") for number in range(6)]
    for number, task in enumerate(tasks):
        task.batch = 1 + number // 2
        task.save()
    study.batch_size = 2
    an_open_study(study)

    def batches() -> list[int]:
        return list(study.tasks.order_by("position").values_list("batch", flat=True))

    edit_study(study=study, batch_size=3, at=NOON)
    of_three = batches()
    edit_study(study=study, batch_size=None, at=NOON)

    assert of_three == [1, 1, 2, 2, 2, 3]
    assert batches() == [1] * 6


def test_a_new_time_out_takes_hold_at_once(study: Study, ada: User, ben: User) -> None:
    in_hands_of(ada, a_report_task(study, k=1))

    edit_study(study=study, timeout_minutes=30, at=NOON)
    study.refresh_from_db()
    claimed = claim_next(study=study, rater=enrolled(ben, study), at=NOON + timedelta(minutes=31))

    assert claimed is not None


def test_rosa_edits_on_the_page(client: Client, study: Study, rosa: User) -> None:
    open_study(study=study, at=NOON)
    client.force_login(rosa)

    shown = client.get(page_of("study_edit", study))
    response = client.post(page_of("study_edit", study), as_sent(study, title="Bridges", overlap=3), follow=True)

    study.refresh_from_db()
    assert shown.status_code == 200
    assert (study.title, study.overlap) == ("Bridges", 3)
    assert f"Added: {study.tasks.count()} places" in response.text


@pytest.mark.parametrize(
    "wrong",
    [
        {"overlap": 1},
        {"overlap": 51},
        {"overlap": ""},
        {"overlap": "9" * 5000},
        {"quota": 0},
        {"timeout_minutes": 4},
        {"batch_size": "9" * 30},
        {"title": "x" * 201},
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(
    client: Client, study: Study, rosa: User, wrong: dict[str, object]
) -> None:
    an_open_study(study)
    client.force_login(rosa)

    response = client.post(page_of("study_edit", study), as_sent(study, **wrong))

    assert response.status_code == 422
    assert "field-error" in response.text or "errorlist" in response.text
    assert Study.objects.get(pk=study.pk).overlap == 2


def test_the_language_changes_on_the_page_by_the_api_and_by_the_command(
    client: Client, study: Study, rosa: User
) -> None:
    client.force_login(rosa)
    languages = []

    client.post(page_of("study_edit", study), as_sent(study, language="he"))
    languages.append(Study.objects.get().language)
    client.post(page_of("study_edit", study), as_sent(study))
    languages.append(Study.objects.get().language)
    client.patch(f"/api/v1/studies/{study.name}/", {"language": "de"}, content_type="application/json")
    languages.append(Study.objects.get().language)
    call_command("edit_study", "--study", study.name, "--language", "fr")
    languages.append(Study.objects.get().language)

    refused = client.patch(f"/api/v1/studies/{study.name}/", {"language": "xx"}, content_type="application/json")
    assert languages == ["he", "he", "de", "fr"]
    assert refused.status_code == 400


def test_the_page_of_a_closed_study_asks_for_its_title_alone(client: Client, study: Study, rosa: User) -> None:
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    client.force_login(rosa)

    page = client.get(page_of("study_edit", study)).text
    client.post(page_of("study_edit", study), {"title": "Ended", "overlap": 9})

    study.refresh_from_db()
    assert 'name="overlap"' not in page
    assert (study.title, study.overlap) == ("Ended", 2)


@pytest.mark.parametrize("page", ["study_edit", "study_copy"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_strangers_and_assessors_find_nothing(
    client: Client, study: Study, mallory: User, ada: User, page: str, method: str
) -> None:
    enrolled(ada, an_open_study(study))
    for user in (mallory, ada):
        client.force_login(user)
        assert getattr(client, method)(page_of(page, study), {"title": "Mine"}).status_code == 404
    assert Study.objects.count() == 1


# --- Copies -----------------------------------------------------------------------------------------


def test_a_copy_has_design_criteria_and_guidelines_and_nothing_else(study: Study, ada: User, rosa: User) -> None:
    study.quota, study.timeout_minutes, study.sample_sizes = 7, 45, {"answerability": 2}
    study.save()
    criterion = study.criteria.get()
    Criterion.objects.filter(pk=criterion.pk).update(question="Is it there?")
    revise_guidelines(study=study, markdown="The newest.", by=rosa)
    enrolled(ada, study)
    open_study(study=study, at=NOON)
    answer_report(in_hands_of(ada, study.tasks.order_by("position")[0]), [0, 0, 0])

    copy = copy_study(study=study, title="A second look", by=rosa)

    assert (copy.name, copy.state, copy.created_by) == ("a-second-look", Study.State.DRAFT, rosa)
    assert (copy.collection, copy.overlap, copy.quota, copy.timeout_minutes) == (study.collection, 2, 7, 45)
    assert (copy.sample_sizes, copy.samples, copy.released_batch) == ({"answerability": 2}, {}, 1)
    assert [(one.question, one.scale, one.threshold) for one in copy.criteria.all()] == [
        ("Is it there?", criterion.scale, criterion.threshold)
    ]
    assert copy.guidelines.get().markdown == "The newest."
    assert not copy.enrolments.exists()
    assert not copy.items.exists()
    open_study(study=copy, at=NOON)
    assert copy.tasks.count() == study.tasks.count()


def test_names_of_copies_are_numbered(study: Study, rosa: User) -> None:
    names = [copy_study(study=study, title="Again", by=rosa).name for _ in range(3)]

    assert names == ["again", "again-2", "again-3"]
    assert name_for("桥") == ""
    with pytest.raises(NameTaken):
        copy_study(study=study, title="Again", name="again", by=rosa)


def test_rosa_copies_on_the_page(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(page_of("study_copy", study), {"title": "Again"}, follow=True)
    taken = client.post(page_of("study_copy", study), {"title": "Again", "name": "again"})
    wordless = client.post(page_of("study_copy", study), {"title": "桥"})

    assert response.redirect_chain == [("/studies/again/", 302)]
    assert (taken.status_code, wordless.status_code) == (422, 422)
    assert "enter a name" in wordless.text


# --- Whom one excludes ------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["study_exclude", "person_exclude"])
@pytest.mark.parametrize("removed", [True, False])
def test_whom_one_excludes_can_be_removed_too(
    client: Client, study: Study, ada: User, rosa: User, page: str, removed: bool
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(rosa)
    offered = client.get(page_of("study", study)).text

    sent = {"reason": "clicks through"} | ({"remove": "on"} if removed else {})
    client.post(reverse(f"annotate:{page}", args=[study.name, "ada"]), sent)

    assignment.refresh_from_db()
    assert "Also remove from the study" in offered
    assert study.exclusions.filter(rater=ada.rater).exists()
    assert (Enrolment.objects.get(user=ada).left_at is not None) == removed
    assert (assignment.state == Assignment.State.RETURNED) == removed


# --- The API and the commands -----------------------------------------------------------------------


def test_the_api_edits_and_copies(client: Client, study: Study, rosa: User, mallory: User) -> None:
    open_study(study=study, at=NOON)
    path = f"/api/v1/studies/{study.name}/"
    client.force_login(rosa)

    def send(method: str, to: str, body: dict[str, object]) -> Any:
        return getattr(client, method)(to, body, content_type="application/json")

    edited = send("patch", path, {"overlap": 3, "quota": None})
    lowered = send("patch", path, {"overlap": 1})
    copied = send("post", f"{path}copy/", {"title": "Again"})
    taken = send("post", f"{path}copy/", {"title": "Again", "name": "again"})
    wordless = send("post", f"{path}copy/", {"title": "桥"})
    Study.objects.filter(pk=study.pk).update(state=Study.State.CLOSED)
    closed = send("patch", path, {"quota": 3})
    client.force_login(mallory)

    assert (edited.status_code, edited.json()["overlap"]) == (200, 3)
    assert lowered.status_code == 400
    assert "at least 3" in str(lowered.json()["overlap"])
    assert (copied.status_code, copied.json()["name"]) == (201, "again")
    assert (taken.status_code, wordless.status_code, closed.status_code) == (400, 400, 409)
    assert send("patch", path, {"title": "Mine"}).status_code == 404
    assert send("post", f"{path}copy/", {"title": "Mine"}).status_code == 404


def test_the_commands_edit_and_copy(study: Study, rosa: User) -> None:
    open_study(study=study, at=NOON)
    said = StringIO()

    call_command("edit_study", study=study.name, overlap="3", quota="", stdout=said)
    call_command("copy_study", study=study.name, title="Again", by="rosa", stdout=said)

    study.refresh_from_db()
    assert study.overlap == 3
    assert f"{study.tasks.count()} places" in said.getvalue()
    assert "again is created as a draft." in said.getvalue()
    with pytest.raises(CommandError, match="overlap"):
        call_command("edit_study", study=study.name, overlap="2")
    with pytest.raises(CommandError, match="overlap"):
        call_command("edit_study", study=study.name, overlap="many")
