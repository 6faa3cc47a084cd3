"""Several files in any order: recognised by content, imported together, kept waiting where something lacks."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django.asserts import assertContains
from pytest_django.fixtures import Settings

from collection.formats.problems import BrokenFile
from collection.formats.recognition import recognised
from collection.importing.background import work_on_upload
from collection.importing.outcomes import ImportOutcome
from collection.importing.raters import people_among
from collection.models import Collection, Judgment, Passage, Rater, Run, Study, Topic, Upload, User
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.collection.files import everything, refused, run_command
from tests.looks import show_in

TOPICS = "q1\twho built the bridge\nq2\twhy does it sing\n"
PASSAGES = "".join(json.dumps({"docid": f"d{n}", "text": f"Passage {n}."}) + "\n" for n in range(3))
RUN = "q1 Q0 d0 1 2.0 bm25\nq1 Q0 d1 2 1.0 bm25\nq2 Q0 d2 1 1.0 bm25\n"
QRELS = "q1 0 d0 3\nq1 0 d1 0\nq2 0 d2 1\n"
JUDGED = "q1 0 d0 2\nq1 0 d1 1\nq2 0 d2 1\n"
ALL = {"llm.qrels": JUDGED, "nist.qrels": QRELS, "bm25.run": RUN, "passages.jsonl": PASSAGES, "topics.tsv": TOPICS}


@pytest.fixture(autouse=True)
def _media(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def written(folder: Path, files: dict[str, str]) -> list[Path]:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    return [folder / name for name in files]


# --- By their first line -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        *[(name, content, name.partition(".")[2]) for name, content in ALL.items() if name.endswith(("run", "qrels"))],
        ("topics.tsv", TOPICS, "topics"),
        ("topics.txt", "<top>\n<num> 1 <title> a\n</top>", "topics"),
        ("queries.jsonl", '{"_id": "1", "text": "who"}', "topics"),
        ("corpus.jsonl", '{"_id": "1", "text": "who"}', "passages"),
        ("x.jsonl", '{"qid": "1", "query": "who"}', "topics"),
        ("p.jsonl", PASSAGES, "passages"),
        ("a.jsonl", '\ufeff{"type": "topic", "topic_id": "1", "request": "x"}', "assize"),
        ("j.csv", "item_id,topic_id,criterion,rater,grade\n", "judgments"),
        ("j.jsonl", '{"item_id": "a", "criterion": "b", "rater": "c", "grade": 1}', "judgments"),
        ("c.jsonl", '{"id": "1", "input": "q", "passages": [], "output": []}', "clapnq"),
        ("bank.jsonl", '{"query_id": "q1", "query_text": "who", "items": []}', "questions"),
        ("old-bank.jsonl", '{"query_id": "q1", "query_text": "who", "questions": []}', "questions"),
        ("graded.jsonl", '["q1", [{"paragraph_id": "p1"}]]', "graded"),
        ("graded.jsonl", '[ "q \\"1", [ ] ]', "graded"),
        ("tabs.run", "q1\tQ0\td0\t1\t2.0\tbm25\n", "run"),
        ("tabs.qrels", "q1\t0\td0\t1\n", "qrels"),
    ],
)
def test_a_file_is_recognised_by_its_content(tmp_path: Path, name: str, content: str, expected: str) -> None:
    path = tmp_path / name
    path.write_text(content)

    assert recognised(path, name=name) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "x: The file is empty."),
        (b"\n\nsome words\n", "x, line 3: The format is not recognised from this line. Choose its format"),
        (b"\x1f\x8b\x08", "x, line 1: The gzip file is incomplete or damaged"),
        (b"7z\xbc\xaf\x27\x1c", "x: This is a 7z file. Unpack it"),
        (b"\x89PNG\r\n\x1a\n\x00", "x, line 1: Byte 1 of the line is not UTF-8"),
        (b"ab\x00", "x: This is not a text file."),
        (b"[1, 2]", "x, line 1: The format is not recognised from this line."),
        (b"{broken", "x, line 1: "),
        (b"\xff\xfeq\x001\x00", "x: The file is UTF-16, not UTF-8. Save it as UTF-8"),
    ],
)
def test_what_is_none_of_them_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)

    with pytest.raises(BrokenFile) as broken:
        recognised(path, name="x")

    assert said in str(broken.value)


# --- By command ----------------------------------------------------------------------------------


@pytest.mark.django_db
def test_a_collection_and_its_study_come_from_files_in_any_order(
    rosa: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = [
        "import", *written(tmp_path / "in", ALL), "--collection", "sung", "--owner", "rosa",
        "--judge", "llm.qrels=llama-70b", "--rater", "nist.qrels=NIST", "--relevant-from", "2",
    ]  # fmt: skip

    told = run_command(capsys, *command)
    before = everything()
    again = run_command(capsys, *command)

    study = Study.objects.get()
    assert (study.name, study.state, study.collection.name) == ("sung-qrels", "closed", "sung")
    assert study.criteria.get().threshold == 2
    assert {(r.name, r.kind, r.judgments.count()) for r in Rater.objects.filter(judgments__isnull=False)} == {
        ("NIST", "assessor", 3),
        ("llama-70b", "judge", 3),
    }
    assert Run.objects.get().ranking.count() == 3
    assert "topics.tsv (topics): 2 topics" in told
    assert "nothing new" in again
    assert everything() == before


@pytest.mark.django_db
def test_other_grades_than_the_shipped_ones_make_a_scale_of_all_files(rosa: User, tmp_path: Path) -> None:
    files = ALL | {"nist.qrels": QRELS.replace(" 3", " 4"), "llm.qrels": JUDGED}

    run_import(tmp_path, files)

    assert Study.objects.get().criteria.get().scale.values == [0, 1, 2, 4]


def run_import(tmp_path: Path, files: dict[str, str]) -> None:
    call_command(
        "import", *map(str, written(tmp_path / "in", files)), "--collection", "sung", "--owner", "rosa", "--quiet",
        "--people", "nist.qrels",
    )  # fmt: skip


@pytest.mark.django_db
def test_a_file_that_names_what_is_nowhere_waits_and_leaves_nothing(
    rosa: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = written(tmp_path / "in", ALL | {"nist.qrels": QRELS + "q9 0 d9 1\n"})

    printed = run_command(capsys, "import", *paths, "--collection", "sung", "--owner", "rosa", "--judges")

    assert (
        "nist.qrels (qrels): not imported: 1 topic is not in the collection: “q9” (line 4). Import them, or create "
        "them with only an id. 1 passage is not in the collection: “d9” (line 4)." in printed
    )
    assert list(Rater.objects.filter(judgments__isnull=False).distinct().values_list("name", flat=True)) == ["llm"]


@pytest.mark.django_db
def test_a_file_that_is_broken_refuses_all_of_them(rosa: User, tmp_path: Path) -> None:
    before = everything()
    paths = written(tmp_path / "in", ALL | {"bm25.run": RUN + "q1 Q0 d2 x 1 bm25\n"})

    message = refused("import", *paths, "--collection", "sung", "--owner", "rosa", "--judges")

    assert "bm25.run, line 4: " in message
    assert everything() == before


@pytest.mark.django_db
def test_a_file_without_a_byte_refuses_all_of_them_by_its_name(rosa: User, tmp_path: Path) -> None:
    before = everything()
    paths = written(tmp_path / "in", ALL | {"nist.qrels": ""})

    message = refused("import", *paths, "--collection", "sung", "--owner", "rosa")

    assert "nist.qrels: The file is empty." in message
    assert everything() == before


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("option", "said", "named"),
    [
        ("--people", "nits.qrels", "nits.qrels"),
        ("--judge", "lama.qrels=llama", "lama.qrels"),
        ("--rater", "nits.qrels=NIST", "nits.qrels"),
        ("--format", "nits.qrels=qrels", "nits.qrels"),
        ("--format", "nist.qrels=nonsense", "nonsense"),
    ],
)
def test_what_is_said_of_no_file_or_of_no_format_refuses_all_of_them(
    rosa: User, tmp_path: Path, option: str, said: str, named: str
) -> None:
    paths = [str(path) for path in written(tmp_path, ALL)]

    message = refused("import", *paths, "--collection", "mills", "--owner", "rosa", "--judges", option, said)

    assert f"“{named}”" in message
    assert not Collection.objects.filter(name="mills").exists()


@pytest.mark.django_db
def test_a_zip_beside_others_in_a_zip_is_refused(as_rosa: Client, collection: Collection) -> None:
    inner, outer = BytesIO(), BytesIO()
    with ZipFile(inner, "w") as archive:
        archive.writestr("topics.tsv", TOPICS)
    with ZipFile(outer, "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
        archive.writestr("bm25.run", RUN)

    preview = as_rosa.post(
        f"/collections/{collection.name}/import/",
        {"file_format": "files", "file": SimpleUploadedFile("all.zip", outer.getvalue())},
    )
    work()

    assert ImportOutcome.read(Upload.objects.get().outcome).file == "inner.zip"
    assert as_rosa.get(str(preview["Location"])).status_code == 200


# --- By page -------------------------------------------------------------------------------------


def uploaded(client: Client, collection: Collection, files: dict[str, str], **fields: Any) -> Any:
    sent = [SimpleUploadedFile(name, content.encode()) for name, content in files.items()]
    address = f"/collections/{collection.name}/import/"
    return client.post(address, {"file_format": "files", "file": sent} | fields)


def work() -> None:
    """Do what the worker does when its messages reach it."""
    for upload in Upload.objects.at_work():
        work_on_upload(pk=upload.pk, generation=upload.generation, at=now())


@pytest.mark.django_db
def test_files_are_shown_and_then_imported(as_rosa: Client, collection: Collection) -> None:
    preview = str(uploaded(as_rosa, collection, ALL)["Location"])
    work()

    shown = as_rosa.get(preview)
    untouched = Topic.objects.filter(topic_id="q1").exists()
    unanswered = as_rosa.post(preview, {"name-0": "llama", "name-1": "NIST"})
    as_rosa.post(preview, {"people": ["nist.qrels"], "name-0": "llama", "name-1": "NIST"})
    work()

    assertContains(shown, "Rater of llm.qrels")
    assertContains(shown, "TREC qrels, 3 judgments")
    assertContains(shown, 'value="nist.qrels" form="import" data-tally="people" id="id_people_1" checked')
    assertContains(shown, "who built the bridge")
    assert unanswered.status_code == 422
    assert not untouched
    assert set(Rater.objects.filter(judgments__isnull=False).values_list("name", "kind")) == {
        ("llama", "judge"),
        ("NIST", "assessor"),
    }
    assert Passage.objects.filter(collection=collection, passage_id="d2").exists()


@pytest.mark.django_db
def test_a_file_without_a_byte_is_named_and_none_is_kept(as_rosa: Client, collection: Collection) -> None:
    response = uploaded(as_rosa, collection, ALL | {"nist.qrels": "", "bm25.run": ""})

    assertContains(response, "nist.qrels: The submitted file is empty.", status_code=422)
    assertContains(response, "bm25.run: The submitted file is empty.", status_code=422)
    assert "topics.tsv: " not in response.content.decode()
    assert not Upload.objects.exists()


@pytest.mark.django_db
def test_a_nameless_rater_is_asked_for_again_and_nothing_is_imported(as_rosa: Client, collection: Collection) -> None:
    preview = str(uploaded(as_rosa, collection, ALL)["Location"])
    work()

    response = as_rosa.post(preview, {"name-0": " ", "nobody": "on"})

    assertContains(response, "This field is required", status_code=422)
    assert not Judgment.objects.exists()


@pytest.mark.django_db
def test_files_wait_for_what_they_need_and_are_tried_again_when_it_comes(
    as_rosa: Client, collection: Collection
) -> None:
    without_topics = {name: content for name, content in ALL.items() if name != "topics.tsv"}
    preview = str(uploaded(as_rosa, collection, without_topics)["Location"])
    work()
    shown = as_rosa.get(preview)
    as_rosa.post(preview, {"nobody": "on", "name-0": "r0", "name-1": "r1"})
    work()
    listed = as_rosa.get(f"/collections/{collection.name}/import/")
    waiting = Upload.objects.exclude(state="imported").get()

    topics = str(uploaded(as_rosa, collection, {"topics.tsv": TOPICS})["Location"])
    as_rosa.post(topics)
    work()
    waiting.refresh_from_db()
    address = f"/collections/{collection.name}/import/{waiting.pk}/"
    now_complete = as_rosa.get(address)
    as_rosa.post(address, {"nobody": "on", "name-0": "a", "name-1": "b"})
    work()

    assertContains(shown, "2 topics are not in the collection: “q1” (line 1), “q2” (line 3).")
    assertContains(listed, "bm25.run, llm.qrels, nist.qrels")
    assert Passage.objects.filter(passage_id="d0").exists()
    assertContains(now_complete, "data-whose")
    assert Run.objects.get(name="bm25").ranking.count() == 3
    assert Judgment.objects.count() == 6


@pytest.mark.django_db
def test_a_second_look_keeps_what_was_answered_and_can_be_taken_back(as_rosa: Client, collection: Collection) -> None:
    lines = "".join(f"t0 0 d{n} {n % 4}\n" for n in range(200))
    files = {"a.qrels": lines, "b.qrels": lines + "t0 0 d200 10\n", "unclear.txt": "t0 d0 1\nt0 d1 2\n"}
    preview = str(uploaded(as_rosa, collection, files, without_texts="on")["Location"])
    work()

    seen = []
    for sent in ({"format-0": "qrels"}, {"stray_grades": "widen"}, {"stray_grades": "ungraded"}):
        as_rosa.post(preview, {"again": "1", **sent})
        work()
        upload = Upload.objects.get()
        outcome = ImportOutcome.read(upload.outcome)
        shown = as_rosa.get(preview).context["again"]
        seen.append((upload.said["formats"], list(outcome.problems), shown and shown["stray_grades"].value()))

    formats: dict[str, str] = {"unclear.txt": "qrels"}
    assert seen == [(formats, [], "ungraded"), (formats, [], "widen"), (formats, [], "ungraded")]


@pytest.mark.django_db
def test_a_file_waits_with_what_was_said_of_it_alone(as_rosa: Client, collection: Collection) -> None:
    files = {"nist.qrels": "t0 0 t0-p0 1\n", "llm.qrels": "q9 0 t0-p0 1\n"}
    preview = str(uploaded(as_rosa, collection, files)["Location"])
    work()
    as_rosa.post(preview, {"people": ["nist.qrels"], "name-0": "llama", "name-1": "NIST"})
    work()

    uploaded(as_rosa, collection, {"topics.tsv": "q9\twho\n"})
    as_rosa.post(f"/collections/{collection.name}/import/{Upload.objects.latest('pk').pk}/")
    work()

    [waited] = Upload.objects.filter(name="llm.qrels")
    outcome = ImportOutcome.read(waited.outcome)
    assert list(waited.said["raters"]) == ["llm.qrels"]
    assert (outcome.changed, outcome.waits, list(outcome.problems)) == (True, False, [])


@pytest.mark.django_db
def test_one_file_alone_is_recognised_and_needs_no_worker(as_rosa: Client, collection: Collection) -> None:
    preview = str(uploaded(as_rosa, collection, {"topics.tsv": TOPICS})["Location"])

    assertContains(as_rosa.get(preview), "2")
    as_rosa.post(preview)

    assert Topic.objects.filter(topic_id__in=["q1", "q2"]).count() == 2
    assert not Upload.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("files", "fields", "said"),
    [
        (ALL, {"file_format": "run"}, "Several files are recognised by their content"),
        ({"": ""}, {}, "empty"),
    ],
)
def test_a_choice_that_does_not_fit_is_explained(
    as_rosa: Client, collection: Collection, files: dict[str, str], fields: dict[str, Any], said: str
) -> None:
    files = {name or "empty": content for name, content in files.items()}

    assertContains(uploaded(as_rosa, collection, files, **fields), said, status_code=422)


@pytest.mark.django_db
def test_two_files_of_one_name_are_refused(as_rosa: Client, collection: Collection) -> None:
    twice = [SimpleUploadedFile("a.tsv", TOPICS.encode()) for _ in range(2)]

    response = as_rosa.post(f"/collections/{collection.name}/import/", {"file_format": "files", "file": twice})

    assertContains(response, "“a.tsv” was chosen twice.", status_code=422)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("packed", "said"),
    [
        ({"data/topics.tsv": TOPICS, "data/README.md": "# Data", "data/LICENSE": "MIT"}, "Topics, 2 topics"),
        ({"[Content_Types].xml": "<Types/>", "xl/workbook.xml": "<x/>"}, "This is an Office document."),
        ({"README.md": "# Data"}, "There is no file in the zip."),
    ],
)
def test_a_zip_is_taken_for_what_it_holds(
    as_rosa: Client, collection: Collection, packed: dict[str, str], said: str
) -> None:
    content = BytesIO()
    with ZipFile(content, "w") as archive:
        for name, text in packed.items():
            archive.writestr(name, text)
    sent = SimpleUploadedFile("a.zip", content.getvalue())

    preview = as_rosa.post(f"/collections/{collection.name}/import/", {"file_format": "files", "file": sent})
    work()

    assertContains(as_rosa.get(preview["Location"]), said)


# --- By the API ----------------------------------------------------------------------------------


def posted(client: Client, collection: Collection, files: dict[str, str], **fields: Any) -> Any:
    sent = [SimpleUploadedFile(name, content.encode()) for name, content in files.items()]
    return client.post(f"/api/v1/collections/{collection.name}/files/", {"file": sent} | fields)


@pytest.mark.django_db
@pytest.mark.parametrize(("count", "status"), [(200, 202), (201, 400)])
def test_two_hundred_files_are_posted_and_more_are_refused_in_json(
    as_rosa: Client, collection: Collection, count: int, status: int
) -> None:
    response = posted(as_rosa, collection, {f"topics-{n}.tsv": f"q{n}\twho is {n}\n" for n in range(count)})

    assert response.status_code == status
    assert response["Content-Type"] == "application/json"


@pytest.mark.django_db
def test_files_are_posted(as_rosa: Client, collection: Collection) -> None:
    first = posted(as_rosa, collection, {"topics.tsv": TOPICS})
    again = posted(as_rosa, collection, {"topics.tsv": TOPICS})
    many = posted(as_rosa, collection, ALL, judge="llm.qrels=llama", people="nist.qrels", relevant_from="2")
    work()
    state = as_rosa.get(f"/api/v1/uploads/{many.json()['id']}/").json()

    assert (first.status_code, again.status_code, many.status_code) == (201, 200, 202)
    assert first.json()["counts"] == [["topics", 2, 0]]
    assert state["state"] == "imported"
    details = state["outcome"]["details"]
    assert {file["name"]: file["waits"] for file in details["files"]} == dict.fromkeys(ALL, "")
    assert details["studies"] == [Study.objects.get().name]
    assert Rater.objects.filter(kind="judge", name="llama").exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("fields", "where"),
    [
        ({"rater": "NIST"}, "rater"),
        ({"judge": "=x"}, "judge"),
        ({"study": "nowhere"}, "study"),
        ({"people": "nits.qrels"}, "file"),
        ({"format": "topics.tsv=nonsense"}, "file"),
        ({"relevant_from": "many"}, "relevant_from"),
    ],
)
def test_what_is_posted_wrongly_is_named(
    as_rosa: Client, collection: Collection, fields: dict[str, str], where: str
) -> None:
    response = posted(as_rosa, collection, {"topics.tsv": TOPICS}, **fields)

    assert response.status_code == 400
    assert where in response.json()
    assert not Upload.objects.exists()


@pytest.mark.django_db
def test_a_broken_file_says_where(as_rosa: Client, collection: Collection) -> None:
    response = posted(as_rosa, collection, {"bm25.run": "t0 Q0 t0-p0 x 1 bm25\n"})

    assert response.status_code == 400
    assert "line 1" in response.json()["file"][0]
    assert not Upload.objects.exists()


# --- In a browser --------------------------------------------------------------------------------


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_dropped_files_are_shown_and_imported(
    open_page: Callable[..., Page], sign_in: SignIn, rosa: User, collection: Collection, tmp_path: Path
) -> None:
    phone = open_page(viewport={"width": 390, "height": 844}, reduced_motion="reduce")
    sign_in(phone, rosa)
    phone.goto(f"/collections/{collection.name}/import/")
    expect(phone.get_by_role("radio", name="Recognise by content")).to_be_checked()
    expect(phone.get_by_label("Rater", exact=True)).to_be_hidden()

    phone.get_by_label("Files", exact=True).set_input_files(written(tmp_path / "in", ALL))
    phone.get_by_role("button", name="Preview").click()
    expect(phone.get_by_text("waiting for a worker")).to_be_visible()
    work()
    expect(phone.get_by_role("heading", name="Files")).to_be_visible()
    expect(phone.get_by_role("row", name="bm25.run")).to_contain_text("3 ranked passages")
    for theme in ("light", "dark"):
        show_in(phone, theme)
        check_accessibility(phone)
        check_no_sideways_scroll(phone)
    phone.get_by_label("Rater of llm.qrels").fill("llama-70b")
    tally = phone.locator("[data-tally-said]")
    expect(tally).to_have_text("1 file is people’s, 1 file LLM judges’.")
    phone.get_by_label("llm.qrels", exact=True).check()
    expect(tally).to_have_text("2 files are people’s, 0 files LLM judges’.")
    phone.get_by_label("llm.qrels", exact=True).uncheck()
    phone.get_by_role("button", name="Import").click()
    expect(phone.get_by_text("being imported")).to_be_visible()
    work()

    expect(phone.get_by_text("is imported: 2 topics, 3 passages")).to_be_visible()
    assert Rater.objects.get(kind="judge").name == "llama-70b"


@pytest.mark.parametrize(
    ("names", "people"),
    [
        (["people.qrels", "opal.qrels", "larch.qrels"], {"people.qrels"}),
        (["NIST-2023.txt", "opal.qrels"], {"NIST-2023.txt"}),
        (["a.qrels", "b.qrels"], set()),
        (["qrels.txt"], set()),
        (["NISTRetrieval-gpt.qrels", "NISTRetrieval-llama.qrels", "official.qrels"], {"official.qrels"}),
        (["nist-gpt.qrels", "nist-llama.qrels"], set()),
    ],
)
def test_one_file_is_peoples_where_a_whole_word_of_its_name_says_so(names: list[str], people: set[str]) -> None:
    assert set(people_among(names)) == people
