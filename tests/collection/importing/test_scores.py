"""Judgments as scores of other tools: out, in, and refused."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from collection.exporting.scores import exported_scores
from collection.formats.problems import InputFile
from collection.formats.scores.rows import Unsaid
from collection.formats.scores.tools import LABELS, READERS, ScoreRow, form_of, read_scores, written_scores
from collection.models import Arm, Item, Judgment, Passage, Rater, Study, Topic, User
from collection.models.studies import TaskType
from tests.annotate.factories import NOON
from tests.evaluation.judged import criterion_of, judge_items, report_items
from tests.factories import a_judge_rater, a_study, a_suggestion

ROWS = [
    ScoreRow("i/1", "rating", 3.0, "ada", "human", rationale="It says so.", at="2026-01-02T03:04:05+00:00"),
    ScoreRow("i/2", "rating", 0.5, "gpt", "LLM", at="2026-01-02T03:04:05+00:00"),
    ScoreRow("i/2", "rating", None, "words", "code", ungraded="cut_off", at="2026-01-02T03:04:05+00:00"),
]


SAYING_ALL = [form for form in READERS if form not in ("umbrela", "alt_test")]


def read(folder: Path, lines: list[str] | str, form: str = "", unsaid: Unsaid | None = None) -> list[ScoreRow]:
    (folder / "file.jsonl").write_text("".join(lines))
    with InputFile(folder / "file.jsonl") as file:
        return [row for _, row in read_scores(file, form, unsaid)]


@pytest.mark.parametrize("form", SAYING_ALL)
def test_what_is_written_is_read_equal_and_its_form_is_told(tmp_path: Path, form: str) -> None:
    rows = [replace(row, at="") for row in ROWS] if form == "ragas" else ROWS

    assert read(tmp_path, list(written_scores(rows, form))) == rows


def test_umbrela_is_known_by_its_texts_and_status_0_is_ungraded(tmp_path: Path) -> None:
    rows = [
        ScoreRow("", "relevance", 2.0, "gpt-4o", "LLM", query="Who?", text="Ada."),
        ScoreRow("", "relevance", None, "gpt-4o", "LLM", ungraded="unreadable", query="Who?", text="Ben."),
    ]
    lines = list(written_scores(rows, "umbrela"))

    assert [json.loads(line)["result_status"] for line in lines] == [1, 0]
    assert read(tmp_path, lines, "umbrela") == rows
    failed = json.loads(lines[0]) | {"judgment": 0, "result_status": 0}
    (row,) = read(tmp_path, json.dumps(failed), "umbrela")
    assert (row.value, row.ungraded) == (None, "unreadable")


# As the tools' own servers and clients write them (docs/formats.md says which versions).
OF_TOOLS: dict[str, tuple[Any, list[ScoreRow]]] = {
    "langfuse": (
        {
            "data": [
                {
                    "id": "s-1", "traceId": "i/1", "observationId": None, "name": "rating", "value": 1,
                    "stringValue": "True", "dataType": "BOOLEAN", "source": "ANNOTATION", "comment": None,
                    "authorUserId": "ada", "metadata": None, "timestamp": "2026-01-02T03:04:05Z",
                },
                {
                    "id": "s-2", "traceId": "i/2", "name": "rating", "value": None, "stringValue": "partly",
                    "dataType": "CATEGORICAL", "source": "EVAL", "comment": "So so.", "metadata": {},
                },
                {
                    "id": "s-3", "subject": {"kind": "trace", "id": "i/3"}, "name": "rating", "value": False,
                    "dataType": "BOOLEAN", "source": "API", "environment": "default",
                },
            ],
            "meta": {"page": 1, "totalItems": 2},
        },
        [
            ScoreRow("i/1", "rating", 1.0, "ada", "human", at="2026-01-02T03:04:05Z"),
            ScoreRow("i/2", "rating", None, "somebody", "LLM", rationale="So so.", label="partly"),
            ScoreRow("i/3", "rating", 0.0, "somebody", "code"),
        ],
    ),
    "phoenix": (
        {
            "data": [
                {
                    "id": "U3", "span_id": "67f6740bbe1ddc3f", "name": "correctness", "annotator_kind": "HUMAN",
                    "result": {"label": "correct", "score": 0.85, "explanation": "It answers."},
                    "metadata": {"model": "gpt-4"}, "identifier": "", "user_id": "VXNlcjoy", "source": "APP",
                    "created_at": "2026-01-02T03:04:05+00:00", "updated_at": "2026-01-02T03:04:05+00:00",
                }
            ],
            "next_cursor": None,
        },
        [
            ScoreRow(
                "67f6740bbe1ddc3f", "correctness", 0.85, "VXNlcjoy", "human", rationale="It answers.",
                at="2026-01-02T03:04:05+00:00",
            )
        ],
    ),
    "mlflow": (
        {
            "assessments": [
                {
                    "assessment_id": "a-1", "assessment_name": "grounded", "trace_id": "tr-1", "span_id": None,
                    "source": {"source_type": "LLM_JUDGE", "source_id": "gpt-4o"}, "feedback": {"value": "yes"},
                    "create_time": "2026-01-02T03:04:05.000Z", "rationale": "Each claim is.", "valid": True,
                },
                {
                    "assessment_id": "a-0", "assessment_name": "grounded", "trace_id": "tr-1", "valid": False,
                    "source": {"source_type": "LLM_JUDGE", "source_id": "gpt-4o"}, "feedback": {"value": "no"},
                },
            ]
        },
        [
            ScoreRow(
                "tr-1", "grounded", None, "gpt-4o", "LLM", rationale="Each claim is.", at="2026-01-02T03:04:05.000Z",
                label="yes",
            )
        ],
    ),
    "opentelemetry": (
        {
            "resourceLogs": [
                {
                    "resource": {"attributes": []},
                    "scopeLogs": [
                        {
                            "logRecords": [
                                {"eventName": "gen_ai.client.inference.operation.details", "attributes": []},
                                {
                                    "timeUnixNano": "1767323045000000000", "spanId": "eee19b7ec3c1b174",
                                    "eventName": "gen_ai.evaluation.result",
                                    "attributes": [
                                        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "Relevance"}},
                                        {"key": "gen_ai.evaluation.score.value", "value": {"intValue": "4"}},
                                    ],
                                },
                            ]
                        }
                    ],
                }
            ]
        },
        [ScoreRow("eee19b7ec3c1b174", "Relevance", 4.0, "somebody", "LLM", at="2026-01-02T03:04:05+00:00")],
    ),
    "inspect": (
        {
            "version": 2, "status": "success",
            "eval": {"created": "2026-01-02T03:04:05+00:00", "task": "t", "dataset": {}, "model": "m", "config": {}},
            "samples": [
                {
                    "id": 7, "epoch": 1, "input": "?", "target": "x",
                    "scores": {"model_graded_qa": {"value": "C", "answer": "x", "explanation": "GRADE: C"}},
                }
            ],
        },
        [ScoreRow("7", "model_graded_qa", 1.0, "somebody", "LLM", rationale="GRADE: C")],
    ),
    "ragas": (
        {
            "user_input": "Who?", "retrieved_contexts": ["Ada did."], "response": "Ada.", "reference": "Ada",
            "faithfulness": 1.0, "answer_relevancy": None,
        },
        [
            ScoreRow("", name, value, "somebody", "LLM", why, query="Who?", text="Ada.", contexts=("Ada did.",))
            for name, value, why in (("faithfulness", 1.0, ""), ("answer_relevancy", None, "unreadable"))
        ],
    ),
}  # fmt: skip


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", OF_TOOLS)
def test_what_tools_write_is_told_and_read(tmp_path: Path, form: str, indent: int | None) -> None:
    written, expected = OF_TOOLS[form]

    assert form_of(written) == form
    assert read(tmp_path, json.dumps(written, indent=indent), "", Unsaid(rater="somebody")) == expected


def test_ragas_is_read_as_csv_too_where_only_numbers_are_metrics(tmp_path: Path) -> None:
    table = "user_input,retrieved_contexts,response,faithfulness,style,note\nWho?,\"['Ada did.']\",Ada.,0.5,,plain\n"

    rows = read(tmp_path, table)

    assert [(row.criterion, row.value, row.rater) for row in rows] == [
        ("faithfulness", 0.5, "ragas"),
        ("style", None, "ragas"),
    ]
    (noted,) = read(tmp_path, table, "ragas", Unsaid(criterion="note"))
    assert (noted.label, noted.query, noted.text) == ("plain", "Who?", "Ada.")


@pytest.mark.parametrize("form", sorted(set(LABELS) - {"alt_test", "inspect"}))
def test_no_form_makes_a_number_of_a_missing_grade(form: str) -> None:
    *_, line = written_scores(ROWS, form)

    assert not {0, 3.0, 0.5} & {value for value in numbers(json.loads(line)) if form != "umbrela"}
    if form == "umbrela":
        assert json.loads(line)["judgment"] is None
    elif form == "ragas":
        assert json.loads(line)["rating"] is None
    else:
        assert "cut_off" in line


def numbers(found: Any) -> list[float]:
    if isinstance(found, dict):
        return [number for value in found.values() for number in numbers(value)]
    return [found] if isinstance(found, int | float) and not isinstance(found, bool) else []


@pytest.mark.django_db
def test_a_studys_judgments_go_out_by_page_api_and_command(judged: Study, client: Client, rosa: User) -> None:
    client.force_login(rosa)
    printed = StringIO()
    call_command("export_scores", "--study", judged.name, "--as", "phoenix", stdout=printed)

    page = client.get(f"/collections/{judged.collection.name}/studies/{judged.name}/scores/", {"as": "phoenix"})
    api = client.get(f"/api/v1/studies/{judged.name}/scores/", {"as": "phoenix"})

    lines = [json.loads(line) for line in printed.getvalue().splitlines()]
    assert page.getvalue() == api.getvalue() == printed.getvalue().encode()
    assert len(lines) == Judgment.objects.of_study(judged).count() == 18
    assert sum(line["result"]["label"] == "ungraded" for line in lines) == 1
    assert {line["annotator_kind"] for line in lines} == {"HUMAN", "LLM"}
    assert 'value="langfuse"' in client.get(f"/studies/{judged.name}/publish/").content.decode()
    labels = client.get(f"/api/v1/studies/{judged.name}/scores/", {"as": "alt_test", "criterion": "answerability"})
    assert {name: len(found) for name, found in json.loads(labels.getvalue()).items()} == {
        "assessor 1": 6,
        "assessor 2": 6,
        "small-judge": 5,
    }


@pytest.mark.django_db
@pytest.mark.parametrize("form", sorted(set(LABELS) - {"umbrela"}))
def test_no_form_names_an_account_and_simulations_say_so(judged: Study, form: str) -> None:
    User.objects.filter(username="ada").update(username="ada@example.org", email="ada@example.org")
    Rater.objects.filter(name="ada").update(name="ada@example.org")
    Rater.objects.filter(name="ben").update(origin=Rater.Origin.SIMULATED)

    written = "".join(exported_scores(judged, form, criterion="answerability"))

    assert "example.org" not in written
    assert "assessor 1" in written
    assert "ben (simulated)" in written


@pytest.mark.django_db
@pytest.mark.parametrize("form", sorted(set(LABELS) - {"umbrela"}))
def test_what_a_judge_aided_and_who_is_excluded_stays_here(judged: Study, rosa: User, form: str) -> None:
    judge = Rater.objects.get(name="small-judge")
    seen_first, changed, kept, *_ = Judgment.objects.filter(rater__name="ada").order_by("pk")
    a_suggestion(seen_first, Arm.VERIFY, judge)
    a_suggestion(changed, Arm.AFTER, judge, own=0)
    a_suggestion(kept, Arm.AFTER, judge, own=kept.grade)
    ben = Rater.objects.get(name="ben")
    judged.exclusions.create(rater=ben, reason="asleep", excluded_by=rosa, excluded_at=NOON)

    written = "".join(exported_scores(judged, form, criterion="answerability"))

    assert written.count('"assessor 1"') == (1 if form == "alt_test" else 4)
    assert "small-judge" in written
    assert "assessor 2" not in written
    if form == "alt_test":
        assert len(json.loads(written)["assessor 1"]) == 4


@pytest.mark.django_db
@pytest.mark.parametrize("form", SAYING_ALL)
def test_scores_come_in_as_judgments_and_the_same_again_changes_nothing(
    judged: Study, tmp_path: Path, form: str, client: Client, rosa: User
) -> None:
    items = list(Item.objects.filter(study=judged).order_by("pk")[:2])
    rows = [
        ScoreRow(items[0].item_id, "answerability", 1.0, "carla", "human", rationale="It does."),
        ScoreRow(items[1].item_id, "answerability", None, "new-llm", "LLM", ungraded="refused"),
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(written_scores(rows, form)))

    call_command("import_scores", str(path), study=judged.name, form=form)
    client.force_login(rosa)
    sent = {"file": SimpleUploadedFile("s.jsonl", path.read_bytes()), "form": form}
    again = client.post(f"/api/v1/studies/{judged.name}/scores/", sent)

    by_rater = {judgment.rater.name: judgment for judgment in Judgment.objects.select_related("rater")}
    assert (by_rater["carla"].grade, by_rater["carla"].rater.kind) == (1.0, Rater.Kind.ASSESSOR)
    assert (by_rater["new-llm"].ungraded, by_rater["new-llm"].rater.kind) == ("refused", Rater.Kind.JUDGE)
    assert again.status_code == 200, again.content
    assert not any(again.json()["new"].values())


@pytest.mark.django_db
@pytest.mark.parametrize("form", SAYING_ALL)
def test_what_came_in_goes_out_equal_with_its_rationale(judged: Study, tmp_path: Path, form: str) -> None:
    Judgment.objects.all().delete()
    items = list(Item.objects.filter(study=judged).order_by("item_id")[:2])
    at = "" if form == "ragas" else "2026-01-02T03:04:05+00:00"
    sent = [
        ScoreRow(items[0].item_id, "answerability", 1.0, "carla", "human", "", "  It does.\nTwice. ", at),
        ScoreRow(items[0].item_id, "answerability", 0.0, "words", "code", at=at),
        ScoreRow(items[1].item_id, "answerability", None, "new-llm", "LLM", "refused", "I’d rather not.", at),
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(written_scores(sent, form)))
    call_command("import_scores", str(path), study=judged.name)

    came = read(tmp_path, list(exported_scores(judged, form)))

    assert [replace(row, query="", text="", contexts=()) for row in came] == sent


@pytest.mark.django_db
def test_errors_show_why_an_imported_judge_graded_so(judged: Study, tmp_path: Path, client: Client, rosa: User) -> None:
    item = Item.objects.filter(study=judged).order_by("pk")[0]
    path = tmp_path / "scores.jsonl"
    rows = [ScoreRow(item.item_id, "answerability", 0.0, "llm", "LLM", rationale="<b>Nothing</b> says so.")]
    path.write_text("".join(written_scores(rows, "mlflow")))
    call_command("import_scores", str(path), study=judged.name)
    client.force_login(rosa)

    shown = client.get(f"/studies/{judged.name}/errors/items/", {"criterion": "answerability", "rater": "llm"})

    assert "Reason of llm" in (page := shown.content.decode())
    assert "&lt;b&gt;Nothing&lt;/b&gt; says so." in page


@pytest.mark.django_db
def test_a_label_is_the_grade_of_that_name_and_ragas_finds_its_item_by_the_texts(study: Study, tmp_path: Path) -> None:
    study = a_study(study.collection, name="relevance", task_types=["relevance"])
    relevance = study.criteria.get()
    topic, passage = Topic.objects.all()[0], Passage.objects.all()[0]
    item = Item.objects.create(study=study, task_type=TaskType.RELEVANCE, item_id="r", topic=topic, passage=passage)
    best = relevance.scale.points[-1]
    line = {"user_input": item.topic.request, "response": passage.text, "relevance": best["name"].upper()}
    path = tmp_path / "ragas.jsonl"
    path.write_text(json.dumps(line))

    call_command("import_scores", str(path), study=study.name, criterion="relevance")

    assert Judgment.objects.get().grade == best["value"]
    for other, said in (({"relevance": "lovely"}, "is not a grade of"), ({"response": "Else."}, "no such text")):
        path.write_text(json.dumps({**line, **other}))
        with pytest.raises(CommandError, match=said):
            call_command("import_scores", str(path), study=study.name, criterion="relevance")


@pytest.mark.django_db
def test_what_is_wrong_is_refused_with_its_line_and_nothing_is_kept(
    judged: Study, tmp_path: Path, client: Client, rosa: User
) -> None:
    before = Judgment.objects.count()
    item = Item.objects.filter(study=judged).first()
    assert item is not None
    good = ScoreRow(item.item_id, "answerability", 1.0, "carla", "human")
    path = tmp_path / "scores.jsonl"

    for bad, said in (
        (ScoreRow("nowhere", "answerability", 1.0, "carla", "human"), "nowhere"),
        (ScoreRow(item.item_id, "answerability", 7.0, "dora", "human"), "7"),
        (ScoreRow(item.item_id, "answerability", 1.0, "", "human"), "who judged"),
    ):
        path.write_text("".join(written_scores([good, bad], "mlflow")))
        with pytest.raises(CommandError, match=r"scores.jsonl, line 2") as refused:
            call_command("import_scores", str(path), study=judged.name, form="mlflow")
        assert said in str(refused.value)

    client.force_login(rosa)
    sent = {"file": SimpleUploadedFile("s.jsonl", path.read_bytes()), "form": "mlflow"}
    assert client.post(f"/api/v1/studies/{judged.name}/scores/", sent).status_code == 400
    assert Judgment.objects.count() == before


@pytest.mark.django_db
def test_alt_test_needs_its_criterion(judged: Study, tmp_path: Path) -> None:
    item = Item.objects.filter(study=judged).first()
    assert item is not None
    path = tmp_path / "labels.json"
    path.write_text(json.dumps({"carla": {item.item_id: 1}, "dora": {item.item_id: 0}}, indent=1))

    with pytest.raises(CommandError, match="Name it"):
        call_command("import_scores", str(path), study=judged.name, form="alt_test")
    call_command("import_scores", str(path), study=judged.name, form="alt_test", criterion="answerability")

    grades = Judgment.objects.filter(rater__name__in=["carla", "dora"]).values_list("rater__name", "grade")
    assert dict(grades) == {"carla": 1.0, "dora": 0.0}


@pytest.fixture
def judged(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Ada, Ben and a judge have graded six items; one of the judge's replies cannot be read."""
    items = report_items(study)
    criterion = criterion_of(study)
    judge_items(criterion, ada_as_rater, items, [1, 1, 0, 0, 1, 0])
    judge_items(criterion, ben_as_rater, items, [1, 0, 0, 0, 1, 1])
    judge_items(criterion, a_judge_rater(study.collection, "small-judge"), items, [1, 1, 0, 1, None, 0])
    return study


def page_import(client: Client, study: Study, name: str, content: str, **sent: str) -> Any:
    """Send the file to the page, and return its preview's address with its content."""
    file = SimpleUploadedFile(name, content.encode())
    chosen = {"file_format": "files", "file": file, "study": study.name, **sent}
    response = client.post(f"/collections/{study.collection.name}/import/", chosen)
    assert response.status_code == 302, response.content.decode()
    return response["Location"], client.get(response["Location"]).content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("form", SAYING_ALL)
def test_the_import_page_knows_scores_by_their_content(judged: Study, client: Client, rosa: User, form: str) -> None:
    before = Judgment.objects.count()
    item = Item.objects.filter(study=judged).order_by("pk")[0]
    rows = [ScoreRow(item.item_id, "answerability", 1.0, "carla", "LLM", rationale="It does.", at="2026-01-02T03:04Z")]
    client.force_login(rosa)

    address, page = page_import(client, judged, "any.txt", "".join(written_scores(rows, form)))

    assert "Scores of other tools, 1 judgment" in page
    assert "data-whose" not in page
    assert Judgment.objects.count() == before
    client.post(address)
    judgment = Judgment.objects.get(rater__name="carla")
    assert (judgment.grade, judgment.highlights.get().quote) == (1.0, "It does.")


@pytest.mark.django_db
def test_the_import_page_asks_whose_scores_are_that_do_not_say_it(judged: Study, client: Client, rosa: User) -> None:
    item = Item.objects.filter(study=judged).order_by("pk")[0]
    table = f"user_input,response,item_id,answerability\nWho?,Ada.,{item.item_id},1.0\n"
    client.force_login(rosa)

    address, page = page_import(client, judged, "answers.csv", table)
    client.post(address, {"name-0": "gpt-nano", "nobody": "on"})

    assert 'name="name-0" value="answers"' in page
    assert Judgment.objects.get(rater__name="gpt-nano").rater.kind == Rater.Kind.JUDGE


@pytest.mark.django_db
def test_the_import_page_takes_scores_all_or_none_and_into_a_study(judged: Study, client: Client, rosa: User) -> None:
    before = Judgment.objects.count()
    item = Item.objects.filter(study=judged).order_by("pk")[0]
    labels = json.dumps({"carla": {item.item_id: 1}, "dora": {item.item_id: 9}}, indent=1)
    client.force_login(rosa)

    _, unnamed = page_import(client, judged, "labels.json", labels)
    address, refused = page_import(client, judged, "labels.json", labels, criterion="answerability")
    client.post(address)
    sent = {"file_format": "files", "file": SimpleUploadedFile("labels.json", labels.encode())}
    address = client.post(f"/collections/{judged.collection.name}/import/", sent)["Location"]
    waiting = client.get(address).content.decode()

    assert 'name="format-0"' in unnamed
    assert "9 is not a grade of “answerability”" in refused
    assert 'name="format-0"' in waiting
    assert Judgment.objects.count() == before
    file = SimpleUploadedFile("labels.json", labels.encode())
    chosen = {"file_format": "scores", "file": file, "study": judged.name, "criterion": "elegance"}
    page = client.post(f"/collections/{judged.collection.name}/import/", chosen)
    assert (page.status_code, "no criterion “elegance”" in page.content.decode()) == (422, True)


@pytest.mark.django_db
def test_the_command_and_the_api_recognise_scores_among_files(
    judged: Study, tmp_path: Path, client: Client, rosa: User
) -> None:
    item = Item.objects.filter(study=judged).order_by("pk")[0]
    path = tmp_path / "labels.json"
    path.write_text(json.dumps({"carla": {item.item_id: 1}}))
    collection, client.defaults["HTTP_ACCEPT"] = judged.collection, "application/json"
    said = {"collection": collection.name, "study": judged.name, "criterion": "answerability"}

    call_command("import", str(path), quiet=True, rater=["labels.json=people"], **said)
    client.force_login(rosa)
    sent = {"file": SimpleUploadedFile("labels.json", path.read_bytes()), "study": judged.name}
    sent |= {"criterion": "answerability", "rater": "labels.json=people"}
    again = client.post(f"/api/v1/collections/{collection.name}/files/", sent)

    assert Judgment.objects.get(rater__name="carla").rater.kind == Rater.Kind.ASSESSOR
    assert (again.status_code, again.json()["details"]["files"][0]["format"]) == (200, "scores"), again.content
