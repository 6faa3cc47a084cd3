"""Pages of prompt templates: a preview on a real item, a new one, a new version."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from collection.models import Study, User
from judging.judges.registry import load_shipped
from judging.models import PromptTemplate

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture(autouse=True)
def shipped(db: None) -> None:
    load_shipped()


def test_previews_a_template_on_a_real_item(rosas: Client, judged_study: Study) -> None:
    page = rosas.get(reverse("judging:template", args=["rating", 1])).content.decode()

    assert "Question: What is fact 0 of subject 0?" in page
    assert "Passage 0 says fact 0 of subject 0." in page


def test_a_stranger_previews_none_of_rosas_items(client: Client, mallory: User, judged_study: Study) -> None:
    client.force_login(mallory)

    page = client.get(reverse("judging:template", args=["rating", 1]), {"study": judged_study.name}).content.decode()

    assert "None of your studies" in page


def test_previews_item_after_item(rosas: Client, judged_study: Study) -> None:
    address = reverse("judging:template", args=["rating", 1])

    first = rosas.get(address).context["item"]
    second = rosas.get(address, {"study": judged_study.name, "item": first.pk}).context["item"]

    assert second.pk > first.pk


def a_template_as_sent(**changes: object) -> dict[str, object]:
    return {
        "name": "mine", "task_type": "rating", "criterion_name": "rating", "reply_with": "value",
        "text": "{text}\r\n{question}\r\nReply {choices}.", **changes,
    }  # fmt: skip


def test_stores_a_template(rosas: Client) -> None:
    response = rosas.post(reverse("judging:template_new"), a_template_as_sent())

    template = PromptTemplate.objects.get(name="mine")
    assert response["Location"] == reverse("judging:template", args=["mine", 1])
    assert template.text == "{text}\n{question}\nReply {choices}."


def test_another_text_is_a_new_version(rosas: Client) -> None:
    rosas.post(reverse("judging:template_new"), a_template_as_sent())

    rosas.post(reverse("judging:template_new"), a_template_as_sent(text="{text} {question} {choices}"))

    assert list(PromptTemplate.objects.filter(name="mine").values_list("version", flat=True)) == [2, 1]


def test_stores_a_template_from_a_file(rosas: Client) -> None:
    toml = b'name = "filed"\ntask_type = "rating"\ncriterion = "rating"\ntext = "{text} {question} {choices}"\n'

    rosas.post(reverse("judging:template_new"), {"file": SimpleUploadedFile("t.toml", toml)})

    assert PromptTemplate.objects.filter(name="filed", version=1).exists()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": "{text} {choices}"}, "{question} is missing"),
        ({"text": "{text} {question} {choices} {magic}"}, "{magic} is not a placeholder"),
        ({"text": "{text} {question}"}, "{choices} is missing"),
        ({"text": ""}, "This field is required"),
        ({"name": "no spaces"}, "valid “slug”"),
        ({"file": SimpleUploadedFile("t.toml", b"name = ")}, "t.toml is not a TOML file"),
        ({"file": SimpleUploadedFile("t.toml", b"colour = 1")}, "“colour” is not a field of a template"),
        ({"file": SimpleUploadedFile("t.toml", b'name = "x"')}, "“task_type” is missing"),
    ],
)
def test_refuses_a_template_that_cannot_be_used(rosas: Client, changes: dict[str, object], said: str) -> None:
    response = rosas.post(reverse("judging:template_new"), a_template_as_sent(**changes))

    assert response.status_code == 422
    assert said in response.content.decode()
    assert not PromptTemplate.objects.filter(name="mine").exists()


def test_a_new_version_starts_from_the_old_one(rosas: Client) -> None:
    old = PromptTemplate.objects.get(name="rating")

    page = rosas.get(reverse("judging:template_new"), {"like": old.content_hash})

    assert page.context["form"].initial["text"] == old.text
