"""Pages, API, file and command for a researcher's own question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse

from annotate.models import Task
from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study
from collection.models import Collection, Item, Question, Scale, Study, User
from tests.annotate.factories import NOON
from tests.annotate.quality_factories import signed_in
from tests.annotate.questions.factory import a_document, a_question
from tests.collection.questions.test_documents import FILE

NEW, ALL = reverse("annotate:question_new"), reverse("annotate:questions")
SENT = {
    "title": "Toxicity of a report",
    "name": "",
    "text": "report",
    "element": "",
    "question": "How toxic is the report?",
    "grades": "0 | not |\n1 | mildly | Rude.\n2 | clearly | Insulting.",
    "level": "ordinal",
    "threshold": "",
    "marks": "optional",
    "guidelines": "Judge the words.",
    "prompt": "",
    "language": "en",
}


def test_rosa_makes_a_question_and_a_study_offers_it(rosa: User, collection: Collection) -> None:
    as_rosa = signed_in(rosa)

    made = as_rosa.post(NEW, SENT, follow=True)

    question = Question.objects.get()
    assert (question.name, question.created_by) == ("toxicity-of-a-report", rosa)
    assert question.document["criteria"][0]["threshold"] == 2
    assert made.redirect_chain == [(reverse("annotate:question", args=[question.name]), 302)]
    page = as_rosa.get(reverse("annotate:study_new"), {"question": question.name}).content.decode()
    assert f'value="{question.name}"' in page
    assert 'data-task-type="toxicity-of-a-report"' in page
    assert question.name in as_rosa.get(ALL).content.decode()


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        ({"title": ""}, "title"),
        ({"name": "Ü"}, "name"),
        ({"grades": "0 no"}, "grades"),
        ({"threshold": "9"}, "__all__"),
        ({"text": "sentence"}, "__all__"),
        ({"text": "pair"}, "text"),
    ],
)
def test_a_form_with_a_fault_is_shown_again(
    rosa: User, collection: Collection, sent: dict[str, str], field: str
) -> None:
    answer = signed_in(rosa).post(NEW, SENT | sent)

    assert answer.status_code == 422
    assert field in answer.context["form"].errors
    assert not Question.objects.exists()


@pytest.mark.parametrize("stored", [True, False])
def test_a_preview_shows_the_first_text_and_stores_nothing(rosa: User, collection: Collection, stored: bool) -> None:
    as_rosa = signed_in(rosa)
    if stored:
        question = a_question(by=rosa, text="report")
        answer = as_rosa.post(
            reverse("annotate:question_preview", args=[question.name]), {"collection": collection.name}
        )
    else:
        answer = as_rosa.post(NEW, SENT | {"preview": "1", "collection": collection.name})

    page = answer.content.decode()
    assert answer.status_code == 200
    assert 'id="assignment"' in page
    assert ALL in page
    assert Question.objects.count() == stored
    assert not Study.objects.exists()
    assert not Scale.objects.filter(name__startswith="toxicity").exists()


def test_a_preview_of_what_the_collection_lacks_says_so(rosa: User, collection: Collection) -> None:
    question = a_question(by=rosa, text="sentence")
    address = reverse("annotate:question_preview", args=[question.name])

    assert signed_in(rosa).post(address, {"collection": collection.name}, follow=True).redirect_chain == [(ALL, 302)]
    assert signed_in(rosa).post(address, {"collection": "of-somebody-else"}).status_code == 404
    assert not Study.objects.exists()


def test_questions_are_researchers_and_who_made_one_withdraws_it(
    rosa: User, mallory: User, ada: User, collection: Collection
) -> None:
    question = a_question(by=rosa)
    at = reverse("annotate:question", args=[question.name])
    withdraw = reverse("annotate:question_withdraw", args=[question.name])

    assert [signed_in(ada).get(address).status_code for address in (ALL, NEW, at)] == [404, 404, 404]
    assert signed_in(mallory).get(at).status_code == 200
    assert signed_in(mallory).post(withdraw).status_code == 404
    assert signed_in(rosa).post(withdraw).status_code == 302
    offered = signed_in(rosa).get(reverse("annotate:study_new")).content.decode()
    assert f'value="{question.name}"' not in offered
    signed_in(rosa).post(withdraw, {"reinstate": "1"})
    assert f'value="{question.name}"' in signed_in(rosa).get(reverse("annotate:study_new")).content.decode()


def test_a_file_is_taken_on_the_page_and_by_command(rosa: User, tmp_path: Path) -> None:
    file = SimpleUploadedFile("mine.toml", FILE.encode())
    path = tmp_path / "other.toml"
    path.write_text(FILE.replace("toxicity", "anger"), encoding="utf-8")
    broken = tmp_path / "broken.toml"
    broken.write_text("title = 1", encoding="utf-8")

    assert signed_in(rosa).post(NEW, {"file": file}).status_code == 302
    call_command("study question", str(path), by="rosa", verbosity=0)
    with pytest.raises(CommandError, match="broken"):
        call_command("study question", str(broken), by="rosa", verbosity=0)
    assert signed_in(rosa).post(NEW, {"file": SimpleUploadedFile("b.toml", b"title = 1")}).status_code == 422
    assert list(Question.objects.values_list("name", flat=True)) == ["anger", "toxicity"]


def test_the_api_makes_reads_and_withdraws(rosa: User, mallory: User, ada: User, collection: Collection) -> None:
    address = "/api/v1/questions/"
    body = {"name": "toxicity", "document": a_document()}

    def post(user: User, address: str, body: dict[str, Any] | None = None) -> Any:
        return signed_in(user).post(address, body, content_type="application/json")

    assert post(ada, address, body).status_code == 403
    assert post(rosa, address, body).status_code == 201
    assert post(rosa, address, body).status_code == 400
    assert post(rosa, address, {"name": "other", "document": {"title": "x"}}).json().keys() == {"document"}
    assert signed_in(mallory).get(f"{address}toxicity/").json()["document"]["text"] == "passage"
    study = {"collection": collection.name, "name": "s", "task_types": ["toxicity"]}
    assert post(rosa, "/api/v1/studies/", study).status_code == 201
    assert post(mallory, f"{address}toxicity/withdraw/").status_code == 404
    assert post(rosa, f"{address}toxicity/withdraw/").json()["withdrawn_at"]
    refused = post(rosa, "/api/v1/studies/", study | {"name": "t"})
    assert (refused.status_code, refused.json().keys()) == (400, {"task_types"})
    assert signed_in(mallory).delete(f"{address}toxicity/withdraw/").status_code == 404
    assert signed_in(rosa).delete(f"{address}toxicity/withdraw/").json()["withdrawn_at"] is None
    assert post(rosa, "/api/v1/studies/", study | {"name": "t"}).status_code == 201


@pytest.mark.parametrize(
    ("text", "element", "n"), [("report", "", 2), ("report", "sub_question", 6), ("question", "", 2)]
)
def test_a_study_asks_it_of_each_text(rosa: User, collection: Collection, text: str, element: str, n: int) -> None:
    question = a_question(by=rosa, text=text, element=element)
    study = make_study(StudyDesign(collection=collection, name="s", task_types=[question.name]), by=rosa, at=NOON)

    signed_in(rosa).post(reverse("annotate:study_open", args=["s"]))

    assert Item.objects.filter(study=study, task_type=question.name).count() == n
    assert Task.objects.filter(study=study).count() == 2  # a task each of two reports, or of two topics
    assert signed_in(rosa).get(reverse("annotate:preview", args=["s", question.name])).status_code == 200
