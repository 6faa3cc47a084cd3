from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now
from pytest_django.asserts import assertContains
from pytest_django.fixtures import Settings

from collection.exporting.labels import exported_labels
from collection.importing.background import work_on_upload
from collection.models import (
    Collection,
    Highlight,
    Item,
    Judgment,
    RankedPassage,
    Rater,
    RubricElement,
    Study,
    Upload,
    User,
)

RUBRIC = Path(settings.BASE_DIR).parent / "shared" / "data" / "rubric"
GRADED = RUBRIC / "DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
needs_rubric = pytest.mark.skipif(not RUBRIC.is_dir(), reason=f"the graded TREC DL 2019 passages are not at {RUBRIC}")


def a_passage(name: str, grades: dict[str, int], *, relevance: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "paragraph_id": name,
        "text": f"{name} is a stone.",
        "paragraph_data": {
            "judgments": [{"relevance": relevance}],
            "rankings": [{"method": "alpha", "rank": 0, "score": 2.5}],
        },
        "exam_grades": [
            {
                "llm": "flan",
                "prompt_info": {"prompt_class": "SelfRated"},
                "self_ratings": [{"question_id": key, "self_rating": grade} for key, grade in grades.items()],
                **more,
            }
        ],
    }


def graded_file(folder: Path, passages: list[dict[str, Any]]) -> Path:
    path = folder / "graded.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(["t1", passages]).encode()))
    return path


def bank_file(folder: Path, questions: dict[str, str]) -> Path:
    items = [{"question_id": key, "question_text": text} for key, text in questions.items()]
    path = folder / "bank.jsonl"
    path.write_text(json.dumps({"query_id": "t1", "query_text": "Why stones?", "items": items}))
    return path


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    return graded_file(
        tmp_path,
        [
            a_passage("p1", {"q1": 4, "q2": 0}, relevance=3),
            a_passage("p2", {"q1": 1}, llm_response_errors={"q2": {"message": "no grade"}}),
        ],
    )


def bring(path: Path, **options: Any) -> None:
    call_command("import_rubric", str(path), study="stones", owner="rosa", quiet=True, verbosity=0, **options)


def test_brings_texts_rankings_grades_and_relevance(graded: Path, rosa: User) -> None:
    bring(graded)

    study = Study.objects.get(name="stones")
    judge, people = Rater.objects.order_by("kind").reverse()
    assert (judge.kind, judge.name, judge.attributes["model"]) == ("judge", "flan · SelfRated", "flan")
    assert (people.kind, people.name, people.origin) == ("assessor", "NIST", "imported")
    assert study.collection.passages.get(passage_id="p1").text == "p1 is a stone."
    assert list(RankedPassage.objects.values_list("run__name", "rank", "score")) == [("alpha", 0, 2.5)] * 2
    assert set(Item.objects.values_list("item_id", flat=True)) == {
        "rating/t1/p1/q1",
        "rating/t1/p1/q2",
        "rating/t1/p2/q1",
        "rating/t1/p2/q2",
        "relevance/t1/p1",
        "relevance/t1/p2",
    }
    assert judge.judgments.get(item__item_id="rating/t1/p1/q1").grade == 4
    assert people.judgments.get(item__item_id="relevance/t1/p1").grade == 3


def test_an_unreadable_reply_is_ungraded_and_never_a_one(graded: Path, rosa: User) -> None:
    bring(graded)

    judgment = Judgment.objects.get(item__item_id="rating/t1/p2/q2")
    assert (judgment.grade, judgment.ungraded) == (None, "unreadable")


def test_the_bank_gives_requests_and_questions_their_texts(graded: Path, tmp_path: Path, rosa: User) -> None:
    bring(graded, bank=bank_file(tmp_path, {"q1": "Which stone?", "q2": "Whose stone?"}))

    assert Collection.objects.get().topics.get().request == "Why stones?"
    assert list(RubricElement.objects.values_list("text", flat=True)) == ["Which stone?", "Whose stone?"]


def test_a_question_that_the_bank_lacks_refuses_the_whole_file(graded: Path, tmp_path: Path, rosa: User) -> None:
    said = r"1 rubric element is not in the collection: “q2” \(line 1\). Import the question bank too"
    with pytest.raises(CommandError, match=said):
        bring(graded, bank=bank_file(tmp_path, {"q1": "Which stone?"}))

    assert not Collection.objects.exists()


def test_relevance_may_come_from_qrels(graded: Path, tmp_path: Path, rosa: User) -> None:
    qrels = tmp_path / "qrels"
    qrels.write_text("t1 0 p1 2\nt1 0 p9 1\n")

    bring(graded, qrels=qrels, assessors="TREC", relevant_from=2.0)

    judgments = Judgment.objects.filter(rater__name="TREC").order_by("item__item_id")
    assert list(judgments.values_list("item__item_id", "grade")) == [("relevance/t1/p1", 2), ("relevance/t1/p9", 1)]
    assert Study.objects.get().criteria.get(name="relevance").threshold == 2


def test_the_same_file_twice_changes_nothing(graded: Path, rosa: User, capsys: pytest.CaptureFixture[str]) -> None:
    bring(graded)
    bring(graded)

    assert "Everything was already there: nothing changed." in capsys.readouterr().out
    assert Judgment.objects.count() == 6


def test_another_grade_for_a_stored_judgment_is_refused(graded: Path, tmp_path: Path, rosa: User) -> None:
    bring(graded)
    graded_file(tmp_path, [a_passage("p1", {"q1": 5, "q2": 0}, relevance=3)])

    with pytest.raises(
        CommandError, match=r"“flan · SelfRated” has already judged “rating/t1/p1/q1”.* with 4; here it is 5"
    ):
        bring(graded)


def test_a_grade_off_the_scale_is_refused(tmp_path: Path, rosa: User) -> None:
    path = graded_file(tmp_path, [a_passage("p1", {"q1": 7})])

    with pytest.raises(CommandError, match=r"7 is not a grade of “rating”. Its grades are 0, 1, 2, 3, 4, 5"):
        bring(path)

    assert not Study.objects.exists()


def test_an_unknown_owner_is_refused(graded: Path, db: None) -> None:
    with pytest.raises(CommandError, match="There is no user “rosa”"):
        bring(graded)


# --- Judges, reasons, kinds ----------------------------------------------------------------------


def a_grading(grades: dict[str, int], **more: Any) -> dict[str, Any]:
    grading: dict[str, Any] = a_passage("", grades, **more)["exam_grades"][0]
    return grading


def test_two_attempts_in_one_file_are_two_raters(tmp_path: Path, rosa: User) -> None:
    passage = a_passage("p1", {"q1": 4})
    passage["exam_grades"] += [a_grading({"q1": 2}), a_grading({"q2": 3})]

    bring(graded_file(tmp_path, [passage, a_passage("p2", {"q1": 1})]))

    grades = Judgment.objects.filter(criterion__name="rating").order_by("rater__name", "item__item_id")
    assert list(grades.values_list("rater__name", "item__item_id", "grade")) == [
        ("flan · SelfRated", "rating/t1/p1/q1", 4),
        ("flan · SelfRated", "rating/t1/p1/q2", 3),
        ("flan · SelfRated", "rating/t1/p2/q1", 1),
        ("flan · SelfRated · attempt 2", "rating/t1/p1/q1", 2),
    ]


def test_what_a_model_wrote_beside_a_grade_is_kept(tmp_path: Path, rosa: User) -> None:
    answers = [["q1", "4"], ["q2", "is a stone"], ["q3", "It names no owner: 0"]]
    errors = {"q4": {"response": "I cannot say.", "failure_reason": "no digit"}}
    passage = a_passage("p1", {"q1": 4, "q2": 5, "q3": 0}, answers=answers, llm_response_errors=errors)

    bring(graded_file(tmp_path, [passage]))

    kept = Highlight.objects.order_by("judgment__item__item_id")
    assert list(kept.values_list("judgment__item__element__element_id", "purpose", "quote", "start", "end")) == [
        ("q2", "rationale", "is a stone", 3, 13),
        ("q3", "rationale", "It names no owner: 0", None, None),
        ("q4", "rationale", "I cannot say.", None, None),
    ]


def test_kinds_of_elements_are_those_that_are_stored(tmp_path: Path, collection: Collection, rosa: User) -> None:
    bank = {"query_id": "t1", "query_text": "Why?", "items": [{"nugget_id": "q1", "nugget_text": "Stones last."}]}
    (tmp_path / "bank.jsonl").write_text(json.dumps(bank))
    path = graded_file(tmp_path, [a_passage("p1", {"q1": 4})])

    call_command("import", str(tmp_path / "bank.jsonl"), str(path), collection=collection.name, quiet=True)

    judgment = Judgment.objects.get(criterion__name="rating")
    assert judgment.item.element is not None
    assert (judgment.item.element.kind, judgment.item.element.text) == ("nugget", "Stones last.")


def test_nuggets_without_a_bank_are_nuggets_until_it_comes(graded: Path, tmp_path: Path, rosa: User) -> None:
    passage = a_passage("p1", {})
    passage["exam_grades"][0]["self_ratings"] = [{"nugget_id": "n1", "self_rating": 3}]
    bring(graded_file(tmp_path, [passage]))
    before = list(RubricElement.objects.values_list("kind", "element_id", "text"))
    bank = {"query_id": "t1", "query_text": "Why?", "items": [{"nugget_id": "n1", "nugget_text": "Stones last."}]}
    (tmp_path / "bank.jsonl").write_text(json.dumps(bank))

    call_command("import", str(tmp_path / "bank.jsonl"), collection="stones", quiet=True)

    assert before == [("nugget", "n1", "n1")]
    assert list(RubricElement.objects.values_list("kind", "element_id", "text")) == [("nugget", "n1", "Stones last.")]
    assert Collection.objects.get().topics.get().request == "Why?"


def test_a_models_relevance_is_a_judges(tmp_path: Path, rosa: User) -> None:
    umbrela = {"llm": "gpt", "prompt_info": {"prompt_class": "Umbrela"}, "correctAnswered": True, "self_ratings": 2}
    yes_or_no = {"llm": "gpt", "prompt_info": {"prompt_class": "Sun"}, "correctAnswered": True, "answer": "Yes."}
    passage = a_passage("p1", {"q1": 4}, relevance=3) | {"grades": [umbrela, yes_or_no]}

    bring(graded_file(tmp_path, [passage]))

    relevance = Judgment.objects.filter(item__task_type="relevance").order_by("rater__name")
    assert list(relevance.values_list("rater__kind", "rater__name", "criterion__name", "grade")) == [
        ("assessor", "NIST", "relevance", 3),
        ("judge", "gpt · Sun", "relevant", 1),
        ("judge", "gpt · Umbrela", "relevance", 2),
    ]


def test_relevance_has_a_scale_with_its_grades(tmp_path: Path, rosa: User) -> None:
    bring(graded_file(tmp_path, [a_passage("p1", {"q1": 4}, relevance=4), a_passage("p2", {"q1": 4})]))

    assert Study.objects.get().criteria.get(name="relevance").scale.values == [0, 4]


# --- Into a collection that is there --------------------------------------------------------------


def test_what_the_collection_knows_better_stays(graded: Path, tmp_path: Path, rosa: User) -> None:
    files = {
        "topics.jsonl": '{"qid": "t1", "title": "Stones", "request": "Why stones, then?"}\n',
        "corpus.jsonl": '{"docid": "p1", "title": "Granite", "text": "p1 is a stone."}\n',
        "alpha.run": "t1 Q0 p1 1 2.5 alpha\n",
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    bank = bank_file(tmp_path, {"q1": "Which stone?", "q2": "Whose stone?"})
    paths = [tmp_path / name for name in files]
    call_command("import", *map(str, paths), collection="stones", owner="rosa", quiet=True)

    call_command("import", str(graded), str(bank), collection="stones", quiet=True)

    collection = Collection.objects.get()
    assert collection.topics.get().request == "Why stones, then?"
    assert collection.passages.get(passage_id="p1").title == "Granite"
    assert set(RankedPassage.objects.values_list("passage_id", "rank")) == {("p1", 1), ("p2", 0)}
    assert Judgment.objects.filter(criterion__name="rating").count() == 4


def test_another_text_of_a_passage_is_refused(graded: Path, tmp_path: Path, rosa: User) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"docid": "p1", "text": "p1 was a stone."}\n')
    call_command("import", str(tmp_path / "corpus.jsonl"), collection="stones", owner="rosa", quiet=True)

    with pytest.raises(CommandError, match="line 1: The passage “p1” is already there with another text"):
        call_command("import", str(graded), collection="stones", with_topics=True, quiet=True)


def test_peoples_relevance_is_not_taken_twice(
    graded: Path, tmp_path: Path, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "nist.qrels").write_text("t1 0 p1 3\nt1 0 p2 0\n")
    paths = [str(graded), str(tmp_path / "nist.qrels")]

    call_command("import", *paths, collection="stones", owner="rosa", with_topics=True, quiet=True)

    people = Rater.objects.filter(kind="assessor", judgments__isnull=False).distinct()
    assert list(people.values_list("name", flat=True)) == ["nist"]
    assert "People’s relevance in graded.jsonl.gz is not taken" in capsys.readouterr().out
    assert Study.objects.get().name == "stones-rubric"


# --- By page and POST -----------------------------------------------------------------------------


@pytest.fixture
def _media(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def work() -> None:
    for upload in Upload.objects.at_work():
        work_on_upload(pk=upload.pk, generation=upload.generation, at=now())


def sent(*paths: Path) -> list[SimpleUploadedFile]:
    return [SimpleUploadedFile(path.name, path.read_bytes()) for path in paths]


@pytest.mark.usefixtures("_media")
def test_files_are_dropped_looked_at_and_kept(
    client: Client, graded: Path, tmp_path: Path, collection: Collection, rosa: User
) -> None:
    client.force_login(rosa)
    bank = bank_file(tmp_path, {"q1": "Which stone?", "q2": "Whose stone?"})
    address = f"/collections/{collection.name}/import/"

    preview = client.post(address, {"file_format": "files", "file": sent(graded, bank)})["Location"]
    work()
    shown = client.get(preview)
    untouched = Judgment.objects.exists()
    client.post(preview, {"name-0": "NIST", "people": [graded.name]})
    work()

    assertContains(shown, "RUBRIC graded file")
    assertContains(shown, "RUBRIC question bank")
    assertContains(shown, "data-whose")
    assert not untouched
    assert set(Rater.objects.filter(judgments__isnull=False).values_list("name", flat=True)) == {
        "flan · SelfRated",
        "NIST",
    }
    judge = Rater.objects.get(kind="judge")
    assert judge.attributes["files"][0]["file"] == "graded.jsonl.gz"


@pytest.mark.usefixtures("_media")
@pytest.mark.parametrize(("file_format", "fields"), [("files", {}), ("graded", {"with_topics": "on"})])
def test_a_graded_file_alone_waits_or_makes_what_it_names(
    client: Client, graded: Path, collection: Collection, rosa: User, file_format: str, fields: dict[str, str]
) -> None:
    client.force_login(rosa)
    address = f"/collections/{collection.name}/import/"

    preview = client.post(address, {"file_format": file_format, "file": sent(graded)} | fields)["Location"]
    work()
    shown = client.get(preview)
    client.post(preview, {"people": [graded.name], "name-0": "people"})
    work()

    if fields:
        assertContains(shown, "have their ids instead of texts")
        assert Study.objects.get().name == f"{collection.name}-rubric"
        assert Judgment.objects.filter(criterion__name="rating").count() == 4
    else:
        assertContains(shown, "2 rubric elements are not in the collection: “q1” (line 1), “q2” (line 1).")
        assert not Judgment.objects.exists()


@pytest.mark.usefixtures("_media")
def test_files_are_posted(client: Client, graded: Path, tmp_path: Path, collection: Collection, rosa: User) -> None:
    client.force_login(rosa)
    bank = bank_file(tmp_path, {"q1": "Which stone?", "q2": "Whose stone?"})
    address = f"/api/v1/collections/{collection.name}/files/"

    response = client.post(address, {"file": sent(graded, bank), "rater": "graded.jsonl.gz=NIST"})
    work()

    state = client.get(f"/api/v1/uploads/{response.json()['id']}/").json()
    assert {file["name"]: file["format"] for file in state["outcome"]["details"]["files"]} == {
        "graded.jsonl.gz": "graded",
        "bank.jsonl": "questions",
    }
    assert Rater.objects.get(name="NIST").judgments.count() == 2


@needs_rubric
@pytest.mark.nightly
def test_trec_dl_2019_gives_the_published_leaderboard_and_goes_out_byte_for_byte(
    rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    published: dict[str, float] = {}
    with (RUBRIC / "exam-cover-leaderboard.tsv").open(encoding="utf-8") as file:
        rows: dict[str, float] = {}
        for row in csv.reader(file, delimiter="\t"):
            if row and row[0] == "method":
                rows = {}
            elif len(row) > 7 and row[2] == "+/-" and row[0] != "_overall_":
                rows[row[0]] = float(row[1])
            elif row and row[:2] == ["min_rating", "3"]:
                published = rows

    bring(GRADED, bank=RUBRIC / "dl19-genq.jsonl.gz", relevant_from=2.0)
    capsys.readouterr()
    call_command("leaderboard", study="stones", measure="Cover@20>=3", json=True)

    [source] = json.loads(capsys.readouterr().out)["sources"]
    ours = {system["system"]: system["value"] for system in source["systems"]}
    assert Judgment.objects.filter(criterion__name="rating").count() == 92_600
    assert Judgment.objects.filter(criterion__name="relevance").count() == 9_260
    assert len(published) == 37
    assert ours.keys() == published.keys()
    assert max(abs(ours[system] - score) for system, score in published.items()) < 0.012
    assert source["systems"][0]["system"] == "TUW19-p3-f"

    with gzip.open(GRADED, "rt", encoding="utf-8", newline="") as file:
        written = exported_labels(Study.objects.get(name="stones"), "graded")
        assert [ours == theirs for ours, theirs in zip(written, file, strict=True)] == [True] * 43
