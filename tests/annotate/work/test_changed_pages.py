"""Texts that browsers may not translate, and what becomes of choices on a page whose texts were changed."""

from __future__ import annotations

import csv
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from annotate.models import Assignment
from collection.exporting.judgments import exported_judgments, exported_parquet
from collection.models import ChangedPage, Collection, Judgment, Study, User
from evaluation.publishing.audit_bundle import write_bundle
from tests.annotate.battles import a_collection_with_reports, a_study_of_battles
from tests.annotate.cited_reports import with_cited_reports
from tests.annotate.evaluated_answers import a_study_of_answers, in_hands, judge_the_answers_alone, see_the_passages
from tests.annotate.factories import a_rating_task, a_report_task, in_hands_of
from tests.annotate.task_types.test_relevance_and_nuggets import opened
from tests.annotate.work.test_views import send
from tests.annotate.writers import a_study_of_writing, next_of

pytestmark = pytest.mark.django_db


class JudgedTexts(HTMLParser):
    """The texts of a page that come with a checksum: each as text, checksum, and whether it may be translated."""

    VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "path", "circle"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[dict[str, str | None], list[str]]] = []
        self.found: list[tuple[str, int, bool]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append((dict(attrs), []))

    def handle_data(self, data: str) -> None:
        for _, pieces in self.open:
            pieces.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.VOID:
            return
        translated = all(attributes.get("translate") != "no" for attributes, _ in self.open)
        attributes, pieces = self.open.pop()
        if sum_of_text := attributes.get("data-sum"):
            self.found.append(("".join(pieces), int(sum_of_text), translated))


def judged_texts(client: Client, assignment: Assignment) -> list[tuple[str, int, bool]]:
    """The texts of the page as it is sent, with all its line breaks."""
    return JudgedTexts(client.get(f"/work/{assignment.pk}/", SERVER_NAME="localhost").text).found


def a_report(rosa: User, ada: User, collection: Collection, study: Study) -> Assignment:
    return in_hands_of(ada, a_report_task(study, "One line.\r\nAnother 🌉.\rThird <b>&amp;"))


def a_rating(rosa: User, ada: User, collection: Collection, study: Study) -> Assignment:
    return in_hands_of(ada, a_rating_task(study))


def citations(rosa: User, ada: User, collection: Collection, study: Study) -> Assignment:
    with_cited_reports(collection)
    return next_of(ada, opened(collection, "citation_support", ada, overlap=1))


def a_battle(rosa: User, ada: User, collection: Collection, study: Study) -> Assignment:
    return next_of(ada, a_study_of_battles(a_collection_with_reports(rosa), ada))


def writing(rosa: User, ada: User, collection: Collection, study: Study) -> Assignment:
    return next_of(ada, a_study_of_writing(owner=rosa, people=[ada]))


def answers(rosa: User, ada: User, collection: Collection, study: Study) -> Assignment:
    assignment = in_hands(ada, a_study_of_answers(rosa))
    judge_the_answers_alone(assignment)
    see_the_passages(assignment)
    return assignment


@pytest.mark.parametrize("made", [a_report, a_rating, citations, a_battle, writing, answers])
def test_judged_texts_are_checked_and_not_translated_unless_the_study_allows_it(
    client: Client, rosa: User, ada: User, collection: Collection, study: Study, made: Callable[..., Assignment]
) -> None:
    assignment = made(rosa, ada, collection, study)
    client.force_login(ada)

    texts = judged_texts(client, assignment)
    Study.objects.filter(pk=assignment.task.study_id).update(translatable=True)
    translated = judged_texts(client, assignment)

    assert texts
    for text, checksum, may_be_translated in texts:
        assert text.strip()
        assert checksum == zlib.adler32(text.replace("\r\n", "\n").replace("\r", "\n").encode())
        assert not may_be_translated
    assert translated == [(text, checksum, True) for text, checksum, _ in texts]


def in_every_format(study: Study) -> list[list[Any]]:
    """What each export says of the pages, row by row."""
    cells = list(csv.DictReader(exported_judgments(study, table="csv")))
    lines = [json.loads(line) for line in exported_judgments(study, table="jsonl")]
    table = pq.read_table(io.BytesIO(b"".join(exported_parquet(study)))).to_pylist()
    return [
        [json.loads(row["page_changed"]) for row in cells],
        [line["page_changed"] for line in lines],
        [row["page_changed"] for row in table],
    ]


def test_a_choice_on_a_changed_page_is_noted_once_and_exported_with_its_judgments(
    client: Client, rosa: User, ada: User, study: Study
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    first, second, _ = (asked.item_id for asked in assignment.asked.all())
    client.force_login(ada)
    send(client, assignment, item=second)
    send(client, assignment, item=first)
    assert "page_changed" not in next(iter(exported_judgments(study, table="csv")))

    for _ in range(2):
        send(client, assignment, item=first, grade=0, page_changed=True)
    send(client, assignment, item=first, grade=0)

    note = ChangedPage.objects.get()
    assert (note.item_id, note.rater) == (first, ada.rater)
    expected = [one.item_id == first for one in Judgment.objects.order_by("item__item_id")]
    assert in_every_format(study) == [expected] * 3
    client.force_login(rosa)
    address = f"/api/v1/studies/{study.name}/judgments/"
    rows = client.get(address).json()["results"]
    assert sorted(row["page_changed"] for row in rows) == [False, True]
    bundle = io.BytesIO()
    write_bundle(study, bundle, at=now())
    table = zipfile.ZipFile(bundle).read("judgments.csv").decode().splitlines()
    assert [row["page_changed"] for row in csv.DictReader(table)] == [str(int(one)) for one in expected]


@pytest.mark.parametrize("door", ["csv", "jsonl", "api"])
def test_what_an_export_says_of_changed_pages_comes_back_with_its_judgments(
    client: Client, rosa: User, ada: User, study: Study, tmp_path: Path, door: str
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)
    first = assignment.asked.all()[0].item_id
    send(client, assignment, item=first, page_changed=True)
    send(client, assignment, item=assignment.asked.all()[1].item_id)
    client.force_login(rosa)

    if door == "api":
        address = f"/api/v1/studies/{study.name}/judgments/"
        asked = ("item_id", "criterion", "grade", "page_changed")
        rows = client.get(address).json()["results"]
        sent = [{name: row[name] for name in asked} | {"rater": "nist"} for row in rows]
        client.post(address, sent, content_type="application/json")
    else:
        path = tmp_path / f"judgments.{door}"
        path.write_text("".join(exported_judgments(study, table=cast("Any", door))).replace("ada", "nist"))
        call_command("import_judgments", path, "--study", study.name)

    note = ChangedPage.objects.get(rater__name="nist")
    assert (note.item_id, Judgment.objects.filter(rater=note.rater).count()) == (first, 2)


def test_a_file_notes_no_changed_page_for_those_who_judge_here(
    client: Client, ada: User, study: Study, tmp_path: Path
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    client.force_login(ada)
    send(client, assignment, item=assignment.asked.all()[0].item_id)
    [line] = exported_judgments(study, table="jsonl")
    path = tmp_path / "judgments.jsonl"
    path.write_text(json.dumps(json.loads(line) | {"page_changed": True}))

    call_command("import_judgments", path, "--study", study.name)

    assert not ChangedPage.objects.exists()


@pytest.mark.parametrize("allowed", [True, False])
def test_that_browsers_may_translate_is_set_where_a_study_is_made(
    client: Client, rosa: User, collection: Collection, allowed: bool
) -> None:
    client.force_login(rosa)
    made = {"collection": collection.name, "task_types": ["relevance"], "overlap": 1, "depth": 1}
    form = client.get("/studies/new/").context["form"]
    words = {
        f"{criterion.prefix}-{name}": field.initial
        for criterion in form.criteria["relevance"]
        for name, field in criterion.fields.items()
    }
    drawn = {"sampling": "simple", "strata": "topic", "weight": "length"}
    box = {"translatable": "on"} if allowed else {}

    client.post("/api/v1/studies/", made | {"name": "by-api", "translatable": allowed}, content_type="application/json")
    client.post("/studies/new/", made | drawn | words | box | {"title": "By page"})

    assert dict(collection.studies.values_list("name", "translatable")) == {"by-api": allowed, "by-page": allowed}


def test_that_browsers_may_translate_is_set_by_page_api_and_command(client: Client, rosa: User, study: Study) -> None:
    client.force_login(rosa)
    page, api = f"/studies/{study.name}/edit/", f"/api/v1/studies/{study.name}/"
    form = {"title": "", "overlap": study.overlap, "language": "en"}

    def translatable() -> bool:
        return Study.objects.get(pk=study.pk).translatable

    found = [translatable()]
    client.post(page, form | {"translatable": "on"})
    found += [translatable(), client.get(api).json()["translatable"]]
    client.post(page, form)
    found.append(translatable())
    client.patch(api, {"translatable": True}, content_type="application/json")
    found.append(translatable())
    call_command("edit_study", "--study", study.name, "--title", "Bridges")
    found.append(translatable())
    call_command("edit_study", "--study", study.name, "--translatable", "no")
    found.append(translatable())

    assert found == [False, True, True, False, True, True, False]
