"""Masking rubric elements after their import: by whom, when and why is kept, and it can be taken back."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import IntegrityError
from django.test import Client

from collection.exporting.collections import exported_collection
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.collections import import_collection
from collection.masking import NoReason, NothingToAsk, mask_elements, unmask_elements
from collection.models import Collection, Masking, RubricElement, Study, User
from tests.collection.files import jsonl
from tests.evaluation.judged import AT


def questions(study: Study, topic: str = "t0") -> list[RubricElement]:
    found = RubricElement.objects.filter(topic__collection=study.collection, topic__topic_id=topic)
    return list(found.filter(kind="sub_question").order_by("position"))


def test_keeps_who_masked_an_element_when_and_why(study: Study, rosa: User) -> None:
    first, second, _ = questions(study)

    n = mask_elements(elements=[first, second, first], reason=" ill-posed ", by=rosa, at=AT)

    assert n == 2
    first.refresh_from_db()
    assert first.masked
    assert first.masking is not None
    assert (first.masking.reason, first.masking.decided_by, first.masking.decided_at) == ("ill-posed", rosa, AT)


def test_unmasking_is_an_event_of_its_own_and_forgets_nothing(study: Study, rosa: User) -> None:
    first = questions(study)[0]
    mask_elements(elements=[first], reason="ill-posed", by=rosa, at=AT)

    unmask_elements(elements=[first], reason="it was not", by=rosa, at=AT)

    first.refresh_from_db()
    assert not first.masked
    assert [(one.masked, one.reason) for one in first.maskings.all()] == [(False, "it was not"), (True, "ill-posed")]


def test_what_is_masked_already_is_left_as_it_is(study: Study, rosa: User) -> None:
    first = questions(study)[0]
    mask_elements(elements=[first], reason="ill-posed", by=rosa, at=AT)

    n = mask_elements(elements=[first], reason="another", by=rosa, at=AT)

    assert n == 0
    assert Masking.objects.get(element=first).reason == "ill-posed"


def test_a_masking_needs_a_reason(study: Study, rosa: User) -> None:
    with pytest.raises(NoReason):
        mask_elements(elements=questions(study), reason="  ", by=rosa, at=AT)
    with pytest.raises(IntegrityError):
        Masking.objects.create(element=questions(study)[0], masked=True, reason="", decided_at=AT)


def test_an_element_without_text_cannot_be_asked(study: Study, rosa: User) -> None:
    first, second, _ = questions(study)
    RubricElement.objects.filter(pk=first.pk).update(text="", masked=True)
    mask_elements(elements=[second], reason="ill-posed", by=rosa, at=AT)

    with pytest.raises(NothingToAsk):
        unmask_elements(elements=[first, second], reason="ask them", by=rosa, at=AT)

    assert RubricElement.objects.get(pk=second.pk).masked


def test_a_file_that_was_imported_before_does_not_contradict_a_masking(
    study: Study, rosa: User, tmp_path: Path
) -> None:
    collection = study.collection
    out = tmp_path / "before.jsonl"
    out.write_text("".join(exported_collection(collection)), encoding="utf-8")
    mask_elements(elements=questions(study)[:1], reason="ill-posed", by=rosa, at=AT)

    imported = import_collection(file=InputFile(out), collection=collection)

    assert not imported.changed
    assert questions(study)[0].masked


def test_a_file_that_masks_what_was_imported_unmasked_is_refused(collection: Collection, tmp_path: Path) -> None:
    element = collection.topics.get(topic_id="t0").rubric_elements.get(element_id="t0-q0")
    line = {
        "type": "rubric_element",
        "topic_id": "t0",
        "kind": "sub_question",
        "element_id": "t0-q0",
        "position": element.position,
        "text": element.text,
        "masked": True,
    }

    with pytest.raises(BrokenFile, match="another masked"):
        import_collection(file=InputFile(jsonl(tmp_path / "x.jsonl", line)), collection=collection)


# --- The topic's page, and the API ----------------------------------------------------------------


def page(study: Study) -> str:
    return f"/collections/{study.collection.name}/topics/{questions(study)[0].topic_id}/"


def test_rosa_masks_on_the_topics_page_and_takes_it_back(client: Client, study: Study, rosa: User) -> None:
    first, second, _ = questions(study)
    client.force_login(rosa)

    done = client.post(
        page(study), {"elements": [first.pk, second.pk], "action": "mask", "reason": "ill-posed"}, follow=True
    )
    client.post(page(study), {"elements": [second.pk], "action": "unmask", "reason": "fine after all"})

    text = done.content.decode()
    assert "2 masked." in text
    assert "<strong>Masked</strong> by rosa" in text
    assert [element.masked for element in questions(study)] == [True, False, False]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"action": "mask", "reason": "x"}, "Select at least one element."),
        ({"elements": ["first"], "action": "mask", "reason": " "}, "Enter a reason"),
        ({"elements": ["other"], "action": "mask", "reason": "x"}, "not one of the available choices"),
        ({"elements": ["silent"], "action": "unmask", "reason": "x"}, "nothing to ask"),
    ],
)
def test_what_lacks_something_is_refused_and_changes_nothing(
    client: Client, study: Study, rosa: User, sent: dict[str, object], said: str
) -> None:
    first, _, silent = questions(study)
    RubricElement.objects.filter(pk=silent.pk).update(text="", masked=True)
    named = {"first": first.pk, "other": questions(study, "t1")[0].pk, "silent": silent.pk}
    client.force_login(rosa)
    chosen = [named[str(name)] for name in sent.get("elements", [])]  # type: ignore[attr-defined]

    response = client.post(page(study), sent | {"elements": chosen})

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not Masking.objects.exists()


def test_strangers_find_nothing_to_mask(client: Client, study: Study, mallory: User) -> None:
    client.force_login(mallory)

    on_page = client.post(page(study), {"elements": [questions(study)[0].pk], "action": "mask", "reason": "x"})
    by_api = client.post(
        f"/api/v1/collections/{study.collection.name}/maskings/",
        {"topic_id": "t0", "element_ids": ["t0-q0"], "reason": "x"},
        content_type="application/json",
    )

    assert (on_page.status_code, by_api.status_code) == (404, 404)
    assert not Masking.objects.exists()


def test_the_api_masks_unmasks_and_tells_what_was_decided(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)
    address = f"/api/v1/collections/{study.collection.name}/maskings/"
    body = {"topic_id": "t0", "element_ids": ["t0-q0", "t0-q1"], "reason": "ill-posed"}

    masked = client.post(address, body, content_type="application/json").json()
    unmasked = client.post(
        address, {**body, "element_ids": ["t0-q1"], "masked": False}, content_type="application/json"
    ).json()
    unknown = client.post(address, {**body, "element_ids": ["t0-q0", "none"]}, content_type="application/json")

    assert (masked, unmasked) == ({"changed": 2}, {"changed": 1})
    assert unknown.status_code == 400
    assert "The topic has no none." in unknown.content.decode()
    listed = client.get(address).json()["results"]
    assert [(one["element_id"], one["masked"], one["decided_by"]) for one in listed] == [
        ("t0-q0", True, "rosa"),
        ("t0-q1", True, "rosa"),
        ("t0-q1", False, "rosa"),
    ]
