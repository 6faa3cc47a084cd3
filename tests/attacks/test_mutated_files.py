"""Every door that takes a file or JSON is sent thousands of files that are almost right.

None may be answered by a fault of ours, none may be half imported, a look at a file changes nothing, and afterwards the
study still exports, for what came in must go out again.
"""

from __future__ import annotations

import contextlib
import io
import json
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings

from collection.importing.background import work_on_upload
from collection.models import Collection, Judgment, Study, Upload, User
from tests.annotate.crowd_factories import an_entry
from tests.attacks.mutations import FULL, Random, mutated, mutated_gzip, mutated_zip
from tests.collection.files import everything
from tests.collection.importing.test_clapnq import a_line, an_output
from tests.collection.importing.test_crux import a_folder_of_crux
from tests.collection.importing.test_rubric import a_passage
from tests.judging.world import with_items

pytestmark = pytest.mark.django_db
AT_FULL_LENGTH = 270
EACH = AT_FULL_LENGTH if FULL else 10
TEMPLATE = Path("collection/questions/relevance/prompts/relevance.toml")


@dataclass
class World:
    """Rosa at her study, and what she sends."""

    client: Client
    collection: Collection
    study: Study

    def upload(self, content: bytes, file_format: str, name: str) -> None:
        """Choose the file on the import page, look at it, and confirm it where that is offered."""
        sent = {
            "file_format": file_format,
            "file": SimpleUploadedFile(name, content),
            "study": self.study.name if file_format in ("qrels", "judgments") else "",
            "rater": "NIST",
            "without_texts": "on",
        }
        self._look_and_confirm(self._post(reverse("collection:import_page", args=[self.collection.name]), sent))

    def grades(self, content: bytes, file_format: str, name: str) -> None:
        sent = {
            "file_format": file_format,
            "file": SimpleUploadedFile(name, content),
            "judge": "llm",
            "tool": "theirs",
            "no_grade": "-1",
            "add_items": "on",
            "add_passages": "on",
        }
        self._look_and_confirm(self._post(reverse("judging:imported_grades", args=[self.study.name]), sent))
        api = {**sent, "format": file_format, "study": self.study.name, "file": SimpleUploadedFile(name, content)}
        self._post("/api/v1/imported-judges/grades/preview/", api)

    def post_file(self, address: str, field: str, content: bytes, name: str) -> None:
        self._post(address, {field: SimpleUploadedFile(name, content)})

    def post_json(self, address: str, content: bytes) -> None:
        response = self.client.post(address, content, content_type="application/json")
        assert response.status_code < 500

    def still_exports(self) -> None:
        judged = Judgment.objects.filter(item__study=self.study).count()
        for table in ("csv", "jsonl"):
            where = reverse(f"collection:export_judgments_{table}", args=[self.collection.name, self.study.name])
            written = b"".join(self.client.get(where)).decode()
            assert len(written.splitlines()) >= judged
        assert b"".join(self.client.get(reverse("collection:export", args=[self.collection.name])))
        listed = self.client.get(reverse("api:judgments", args=[self.study.name]))
        json.loads(listed.content, parse_constant=lambda name: pytest.fail(f"{name} in the API"))

    def _post(self, address: str, sent: dict[str, Any]) -> Any:
        response = self.client.post(address, sent)
        assert response.status_code < 500, address
        return response

    def _look_and_confirm(self, response: Any) -> None:
        if response.status_code != 302:
            return
        before = everything()
        preview = response["Location"]
        self._work()
        looked_at = self.client.get(preview)
        assert looked_at.status_code == 200
        assert everything() == before, "a look changed something"
        if not looked_at.context["outcome"].changed:
            assert everything() == before
            return
        whose = looked_at.context.get("whose")
        names = {f"name-{number}": "mutant" for number in range(len(whose.names))} if whose else {}
        self._post(preview, names | {"nobody": "on"})
        self._work()
        assert everything() != before, "nothing came in"
        self.client.get(preview)

    def _work(self) -> None:
        upload = Upload.objects.order_by("pk").last()
        if upload is not None and upload.is_at_work:
            work_on_upload(pk=upload.pk, generation=upload.generation, at=now())
            upload.refresh_from_db()
            problems = (upload.outcome or {}).get("problems", [])
            assert not any("error that is not in the file" in problem["reason"] for problem in problems), problems


@pytest.fixture
def world(client: Client, rosa: User, study: Study, settings: Settings, tmp_path: Path) -> World:
    settings.MEDIA_ROOT = tmp_path / "media"
    with_items(study)
    an_entry(study)
    client.force_login(rosa)
    return World(client, study.collection, study)


def lines(*rows: Any) -> bytes:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


ASSIZE = lines(
    {"type": "topic", "topic_id": "n1", "request": "Why?", "title": "Why", "attributes": {"category": "x"}},
    {"type": "rubric_element", "topic_id": "n1", "kind": "nugget", "element_id": "e1", "text": "So.", "position": 1},
    {"type": "passage", "passage_id": "np1", "text": "Because 🌉 so.", "title": "P", "document_id": "d"},
    {"type": "element_span", "topic_id": "n1", "kind": "nugget", "element_id": "e1", "passage_id": "np1",
     "quote": "so", "start": 10, "end": 12},
    {"type": "system", "name": "s", "family": "f"},
    {"type": "run", "name": "r", "system": "s"},
    {"type": "report", "run": "r", "topic_id": "n1", "text": "It is so."},
    {"type": "ranking", "run": "r", "topic_id": "n1", "passage_id": "np1", "rank": 1, "score": 2.5},
)  # fmt: skip
PASSAGES = lines({"id": "x1", "contents": "One."}, {"docid": 7, "text": "Two, é.", "title": "T", "year": 2020})
RUN = lines("t0 Q0 t0-p0 1 2.5 mine", "t0 Q0 t0-p1 2 2.5 mine", "t1 Q0 t1-p0 1 -1e-3 mine")
QRELS = lines("t0 0 t0-p0 3", "t0 0 t0-p1 0", "t1 0 t1-p9 1")
CLAPNQ = lines(a_line("cq1", an_output("He said so.", [0], [1], 1)))
RATINGS = lines(
    {"id": "t0", "docid": "t0-p0", "rating": [5, -1, 3]}, {"example_id": "t1", "pid": "t1-p0", "rating": [0, 1, 2]}
)
GRADED = lines(["t0", [a_passage("t0-p0", {"t0-q0": 4, "t0-q1": 0}, relevance=1)]])
BATCH = lines(
    {"custom_id": "t0::t0-p0::1", "response": {"status_code": 200, "body": {"choices": [
        {"index": 0, "message": {"role": "assistant", "content": "3"}, "finish_reason": "stop"}]}}, "error": None},
)  # fmt: skip
STATUSES = lines(
    "Submission id,Participant id,Status", f"{'a' * 24},{'b' * 24},RETURNED", f"{'c' * 24},{'d' * 24},APPROVED"
)
JUDGMENTS = lines(
    "item_id,criterion,rater,rater_kind,grade,ungraded,judged_at,seconds,guideline_version,orders,confirmations",
    "ITEM,answerability,eve,assessor,1,,2025-03-01T14:30:00+00:00,3.5,1,,",
    'ITEM,answerability,llm,judge,,refused,,0,,"[{""swapped"": true, ""grade"": 1}]",',
)
KNOWN = lines("item_id,criterion,grade,tolerance,purpose,explanation", "ITEM,answerability,1,0,gold,=it is")
NEW_JUDGMENTS = lines([{"item": "ITEM", "criterion": "answerability", "grade": 1, "seconds": 2, "rater": "eve",
                        "highlights": [{"start": 0, "end": 4, "quote": "Fact"}]}])  # fmt: skip
COLLECTION = lines(
    {"name": "fresh", "title": "Fresh", "description": "", "licence": "", "attributes": {"a": [1, {"b": 2}]}}
)
MANY = lines(
    {
        "item_id": "ITEM",
        "criterion": "rating",
        "rater": "eve",
        "grade": 2,
        "topic_id": "t0",
        "judged_at": "2025-03-01T14:30:00Z",
    }
)

Send = Callable[[World, bytes], None]


def sent_to_a_page(name: str, field: str, file_name: str) -> Send:
    def send(world: World, content: bytes) -> None:
        arguments = [] if name == "judging:template_new" else [world.study.name]
        world.post_file(reverse(name, args=arguments), field, content, file_name)

    return send


def sent_as_json(name: str) -> Send:
    def send(world: World, content: bytes) -> None:
        world.post_json(reverse(name, args=[] if name == "api:collections" else [world.study.name]), content)

    return send


def uploaded(file_format: str, name: str) -> Send:
    return lambda world, content: world.upload(content, file_format, name)


def graded(file_format: str, name: str) -> Send:
    return lambda world, content: world.grades(content, file_format, name)


def by_command(world: World, content: bytes) -> None:
    """Compare a table of anybody's ratings: `manage.py agreement FILE`."""
    path = world.study.collection.uploads.model(stored_as="table.csv").path
    path.write_bytes(content)
    with contextlib.suppress(CommandError, SystemExit):
        call_command("agreement", str(path), stdout=io.StringIO(), stderr=io.StringIO())


DOORS: dict[str, tuple[Any, Send]] = {
    "Assize JSONL": (ASSIZE, uploaded("assize", "a.jsonl")),
    "passages": (PASSAGES, uploaded("passages", "p.jsonl")),
    "run": (RUN, uploaded("run", "r.run")),
    "qrels": (QRELS, uploaded("qrels", "q.qrels")),
    "judgments as CSV": (JUDGMENTS, uploaded("judgments", "j.csv")),
    "judgments as JSONL": (MANY, uploaded("judgments", "j.jsonl")),
    "CLAPNQ": (CLAPNQ, uploaded("clapnq", "c.jsonl")),
    "a judge's ratings": (RATINGS, graded("crux-ratings", "r.jsonl")),
    "a judge's qrels": (QRELS, graded("qrels", "q.qrels")),
    "a graded file": (GRADED, graded("rubric", "g.jsonl")),
    "a batch's output": (BATCH, graded("batch", "b.jsonl")),
    "known grades": (KNOWN, sent_to_a_page("annotate:gold_file", "file", "k.csv")),
    "Prolific's statuses": (STATUSES, sent_to_a_page("annotate:crowd_statuses", "statuses", "s.csv")),
    "a prompt template": (None, sent_to_a_page("judging:template_new", "file", "t.toml")),
    "judgments by API": (NEW_JUDGMENTS, sent_as_json("api:judgments")),
    "a collection by API": (COLLECTION, sent_as_json("api:collections")),
}


@pytest.fixture
def undone() -> Callable[[], Any]:
    """Give a context whose changes are taken back, so that every file finds the same world."""

    class Undone:
        def __enter__(self) -> None:
            self.block = transaction.atomic()
            self.block.__enter__()

        def __exit__(self, *error: Any) -> None:
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    return Undone


def attack(world: World, undone: Callable[[], Any], door: str, send: Send, make: Callable[[Random], bytes]) -> None:
    """Send so many files through a door; a failure names the one that can be sent again."""
    for number in range(EACH):
        content = make(random.Random(zlib.crc32(f"{door} {number}".encode())))
        try:
            with undone():
                send(world, content)
                if number % 10 == 0:
                    world.still_exports()
        except BaseException as fault:
            fault.add_note(f"door {door!r}, file {number}: {content[:2_000]!r}")
            raise


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.slow
def test_no_file_that_is_almost_right_is_answered_by_a_fault(
    world: World, undone: Callable[[], Any], door: str
) -> None:
    good, send = DOORS[door]
    good = TEMPLATE.read_bytes() if good is None else good
    good = good.replace(b"ITEM", world.study.items.order_by("pk")[0].item_id.encode())
    with undone():
        send(world, good)

    attack(world, undone, door, send, lambda chance: mutated(good, chance))


def test_no_gzip_that_is_almost_right_is_answered_by_a_fault(world: World, undone: Callable[[], Any]) -> None:
    attack(world, undone, "gzip", graded("rubric", "g.jsonl.gz"), lambda chance: mutated_gzip(GRADED, chance))


def test_no_zip_that_is_almost_right_is_answered_by_a_fault(
    world: World, undone: Callable[[], Any], tmp_path: Path
) -> None:
    folder = a_folder_of_crux(tmp_path / "crux")
    files = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    attack(world, undone, "zip", uploaded("crux", "crux.zip"), lambda chance: mutated_zip(files, chance))


def test_no_table_that_is_almost_right_ends_the_command_with_a_fault(world: World, undone: Callable[[], Any]) -> None:
    table = lines("item,rater,grade", "a,x,1", "a,y,0", "b,x,1", "b,y,1", "c,x,0", "c,y,0")

    attack(world, undone, "table", by_command, lambda chance: mutated(table, chance))
