"""Nugget banks and assignments: into versions, elements and judgments, and out again equal."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.timezone import now

from collection.exporting.nugget_banks import HeldOut, exported_bank, exported_nugget_scores
from collection.formats.problems import BrokenFile, InputFile, ReferencesMissing
from collection.importing.datasets.nugget_banks import bank_name_of, import_nugget_banks, topic_of_file
from collection.importing.rows import Imported
from collection.judgments.recording import imported_rater
from collection.models import (
    Arm,
    BankEntry,
    BankVersion,
    Collection,
    Judgment,
    NuggetReference,
    Passage,
    Rater,
    Report,
    RubricElement,
    Split,
    Study,
    Topic,
    User,
)
from tests.collection.files import everything, jsonl, refused, run_command
from tests.collection.formats.test_nugget_banks import ALL, ASSIGNED, CLAIMS, LIST, RESEARCH, SHORT, V3
from tests.factories import a_suggestion

pytestmark = pytest.mark.django_db
Bring = Callable[..., Imported]


@pytest.fixture
def empty(rosa: User) -> Collection:
    return Collection.objects.create(name="empty", owner=rosa)


@pytest.fixture
def bring(empty: Collection, tmp_path: Path, rosa: User) -> Bring:
    def of(*topics: dict[str, Any], bank: str = "b", **options: Any) -> Imported:
        defaults: dict[str, Any] = {"with_topics": True, "by": rosa, "at": now()}
        file = InputFile(jsonl(tmp_path / "nuggets_t1.jsonl", *topics), name="nuggets_t1.jsonl")
        options = options | {name: value for name, value in defaults.items() if name not in options}
        return import_nugget_banks(file=file, collection=empty, bank=bank, **options)

    return of


def out(bank: str = "b", number: int = 0, **options: Any) -> list[dict[str, Any]]:
    versions = BankVersion.objects.filter(bank__name=bank).order_by("number")
    version = versions.get(number=number) if number else versions.last()
    assert version
    return [json.loads(line) for line in exported_bank(version, **options)]


@pytest.mark.parametrize("name", list(ALL))
def test_what_comes_in_goes_out_equal_and_the_same_again_changes_nothing(name: str, bring: Bring) -> None:
    told = bring(copy.deepcopy(ALL[name]))

    assert out() == [ALL[name]]
    assert told.new["bank versions"] == 1
    assert not bring(copy.deepcopy(ALL[name])).changed
    assert BankVersion.objects.count() == 1


def test_an_object_over_many_lines_comes_in_too(empty: Collection, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "bank.json"
    path.write_text(json.dumps(V3, indent=2))

    run_command(capsys, "import", path, "--collection", "empty", "--with-topics")

    assert out("bank") == [V3]


def test_topics_that_a_file_does_not_name_stay_and_changed_content_is_another_element(bring: Bring) -> None:
    bring(V3, CLAIMS | {"query_id": "t2"})
    changed = copy.deepcopy(V3)
    del changed["nugget_bank"]["Who checks?"]["answers"]["An engineer"]

    told = bring(changed, note="fewer answers")

    assert out() == [changed, CLAIMS | {"query_id": "t2"}]
    assert out(number=1) == [V3, CLAIMS | {"query_id": "t2"}]
    assert told.new["rubric elements"] == 1
    edited = RubricElement.objects.get(replaces__isnull=False)
    assert (edited.text, edited.replaces and edited.replaces.element_id) == ("Who checks?", "q-1")


def test_offsets_are_kept_in_code_points_and_written_as_they_came(bring: Bring, empty: Collection) -> None:
    text = "Jährlich, \U0001f309, prüft eine."
    Passage.objects.create(collection=empty, passage_id="p1", text=text)
    place = text.index("prüft")
    named = {
        "utf-8": len(text[:place].encode()),
        "utf-16": len(text[:place].encode("utf-16-le")) // 2,
        "code_points": 13,
    }
    references: list[dict[str, Any]] = [
        {"doc_id": "p1", "text": "prüft", "offsets": {
            "start_offset": start, "end_offset": start + (6 if encoding == "utf-8" else 5), "encoding": encoding}}
        for encoding, start in named.items()
    ]  # fmt: skip
    bank = {"query_id": "t1", "claim_bank": {"A": {"claim": "A", "references": references}}}

    bring(bank)

    assert set(NuggetReference.objects.values_list("start", "end")) == {(place, place + 5)}
    assert [text[one.start : one.end] for one in NuggetReference.objects.all()] == ["prüft"] * 3
    assert out() == [bank]
    references[0]["offsets"]["start_offset"] += 1
    with pytest.raises(BrokenFile, match="line 1: “prüft” is not at 18 to 23 of “p1”"):
        bring(bank, bank="other")


def test_offsets_into_a_text_that_is_not_here_wait_as_they_came(bring: Bring) -> None:
    told = bring(V3)

    assert told.flaws == {"references to texts that are not here, kept as they came": ["p1"]}
    assert NuggetReference.objects.get(docno="p1").start is None


def test_the_same_nugget_in_another_form_keeps_its_element(bring: Bring) -> None:
    bring(LIST)
    weighted = {"qid": "t1", "rubrics": [{"criterion": "Ropes are wetted.", "weight": -2}]}

    told = bring(weighted, bank="rubric")

    assert told.known["rubric elements"] == 1
    assert out("rubric", form="autonuggetizer") == [
        {"query": LIST["query"], "qid": "t1", "nuggets": [{"text": "Ropes are wetted.", "importance": "failed"}]}
    ]
    assert out("b", form="v3")[0]["claim_bank"]["Ropes are wetted."]["claim"] == "Ropes are wetted."


def test_importances_and_weights_are_the_versions_own(bring: Bring) -> None:
    bring(RESEARCH)
    heavier = copy.deepcopy(RESEARCH)
    heavier["rubrics"][0]["weight"] = 9
    bring(heavier)

    weights = BankEntry.objects.filter(element__text="Names a cost").order_by("version__number")

    assert list(weights.values_list("weight", flat=True)) == [4.5, 9]
    assert out(number=1) == [RESEARCH]


def test_the_short_form_is_about_the_topic_of_its_files_name(bring: Bring) -> None:
    bring(SHORT)

    assert Topic.objects.get().topic_id == "t1"
    assert topic_of_file("banks/nuggets_12.revised.json") == "12"
    assert bank_name_of("banks/My bank.v2.jsonl") == "my-bank"


def test_broken_lines_are_named_and_nothing_is_kept(bring: Bring) -> None:
    before = everything()

    with pytest.raises(BrokenFile, match=r"line 2: The topic “t1” stands in line 1 already(.|\n)*line 3: Nugget 1"):
        bring(LIST, LIST, {"qid": "t3", "nuggets": [{"text": ""}]})
    with pytest.raises(ReferencesMissing, match="1 topic is not in the collection: “t1”"):
        bring(LIST, with_topics=False)
    with pytest.raises(BrokenFile, match="These are assignments"):
        bring(ASSIGNED)

    assert everything() == before


# --- Assignments ----------------------------------------------------------------------------------


def test_assignments_become_judgments_and_go_out_equal(
    empty: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = ASSIGNED | {"run_id": "r2", "answer_text": "Iron rusts.", "response_length": 2}
    file = jsonl(tmp_path / "assigned.jsonl", ASSIGNED, other)

    run_command(capsys, "import", file, "--collection", "empty", "--with-topics", "--judge", "assigned.jsonl=gpt")
    again = run_command(capsys, "import", file, "--collection", "empty", "--judge", "assigned.jsonl=gpt")
    written = run_command(capsys, "export_assignments", "--study", "empty-nuggets", "--rater", "gpt")
    scores = run_command(capsys, "export_assignments", "--study", "empty-nuggets", "--rater", "gpt", "--scores")

    assert [json.loads(line) for line in written.splitlines()] == [ASSIGNED, other]
    assert "nothing new" in again
    assert Rater.objects.get(name="gpt").kind == Rater.Kind.JUDGE
    assert Judgment.objects.filter(ungraded="unreadable", grade=None).count() == 2
    assert Report.objects.get(run__name="r2").text == "Iron rusts."
    # By hand: one vital, supported; of four 1 + ½ + 0, and one ungraded.
    assert json.loads(scores.splitlines()[0]) == {
        "qid": "t1", "run_id": "r1", "strict_vital_score": 1.0, "strict_all_score": 0.25,
        "strict_weighted_score": 0.4, "vital_score": 1.0, "all_score": 0.375, "weighted_score": 0.5, "ungraded": 1,
    }  # fmt: skip
    assert out("assigned")[0]["nuggets"][1] == {"text": "Ropes are wetted.", "importance": "failed"}


def test_assignments_of_another_text_or_other_nuggets_are_refused(empty: Collection, tmp_path: Path) -> None:
    command = ["import_nuggets", "--collection", "empty", "--with-topics", "--judge", "gpt"]
    text = jsonl(tmp_path / "a.jsonl", ASSIGNED, ASSIGNED | {"answer_text": "Other."})
    nugget = copy.deepcopy(ASSIGNED) | {"run_id": "r2"}
    nugget["nuggets"][0]["text"] = "Other."
    nuggets = jsonl(tmp_path / "b.jsonl", ASSIGNED, nugget)

    assert "line 2: The report “r1 on t1” is already there with another text" in refused(*command, text)
    assert "line 2: “Other.” is none of the topic’s nuggets" in refused(*command, nuggets)
    assert not Report.objects.exists()


def test_assignments_go_to_the_nuggets_of_a_bank_that_is_here(bring: Bring, empty: Collection, tmp_path: Path) -> None:
    plain = {**LIST, "nuggets": [{name: one[name] for name in ("text", "importance")} for one in ASSIGNED["nuggets"]]}
    bring(plain)
    before = RubricElement.objects.count()

    run_command_quietly(jsonl(tmp_path / "a.jsonl", ASSIGNED))

    assert RubricElement.objects.count() == before
    assert BankVersion.objects.count() == 1
    assert Judgment.objects.count() == 4


def run_command_quietly(file: Path, *more: str) -> None:
    from django.core.management import call_command

    call_command("import_nuggets", str(file), "--collection", "empty", "--rater", "Ada", *more, verbosity=0)


def test_assignments_hold_what_people_said_before_they_saw_a_judge(
    empty: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str], client: Client, rosa: User
) -> None:
    run_command_quietly(jsonl(tmp_path / "a.jsonl", ASSIGNED), "--with-topics")
    judge = imported_rater(empty, kind=Rater.Kind.JUDGE, name="gpt", source="x")
    full, _, partial, _ = Judgment.objects.order_by("pk")
    a_suggestion(full, Arm.VERIFY, judge)
    a_suggestion(partial, Arm.AFTER, judge, own=0)
    address = "/collections/empty/studies/empty-nuggets/assignments.jsonl?rater=Ada"
    client.force_login(rosa)

    asked = "export_assignments", "--study", "empty-nuggets", "--rater", "Ada"
    written = json.loads(run_command(capsys, *asked))
    scores = json.loads(run_command(capsys, *asked, "--scores"))
    page = client.get(address)

    before = [one["assignment"] for one in ASSIGNED["nuggets"]]
    assert before == ["support", "failed", "partial_support", "not_support"]
    assert [one["assignment"] for one in written["nuggets"]] == ["failed", "failed", "not_support", "not_support"]
    assert (scores["all_score"], scores["ungraded"]) == (0, 2)
    assert json.loads(b"".join(page.streaming_content)) == written  # type: ignore[attr-defined]

    full.criterion.study.exclusions.create(rater=full.rater, reason="asleep", excluded_by=rosa, excluded_at=now())

    assert "no judgments of nuggets that count" in refused(*asked)
    assert client.get(address).status_code == 404


def test_scores_of_a_judge_are_not_written_where_topics_are_held_out(rosa: User, study: Study) -> None:
    Split.objects.create(study=study, test_share=0.5, seed="x", made_at=now(), made_by=rosa)
    criterion = study.criteria.all()[0]
    judge = imported_rater(study.collection, kind=Rater.Kind.JUDGE, name="gpt", source="x")

    with pytest.raises(HeldOut):
        list(exported_nugget_scores(criterion, judge))


# --- Downloads ------------------------------------------------------------------------------------


def test_banks_are_downloaded_by_those_who_see_the_collection(
    client: Client, bring: Bring, rosa: User, mallory: User
) -> None:
    bring(LIST)
    address = "/collections/empty/banks/b/nuggets.jsonl"
    client.force_login(rosa)
    there = client.get(address)
    client.force_login(mallory)

    assert json.loads(b"".join(there.streaming_content)) == LIST  # type: ignore[attr-defined]
    assert client.get(address).status_code == 404


def test_what_is_not_there_is_not_found(client: Client, bring: Bring, rosa: User) -> None:
    queries = ["version=2", "version=x", "form=other"]
    bring(LIST)
    client.force_login(rosa)

    assert {
        query: client.get(f"/collections/empty/banks/b/nuggets.jsonl?{query}").status_code for query in queries
    } == dict.fromkeys(queries, 404)


def test_the_short_form_of_several_topics_is_refused(client: Client, bring: Bring, rosa: User) -> None:
    bring(LIST, {**LIST, "qid": "t2"})
    client.force_login(rosa)
    address = "/collections/empty/banks/b/nuggets.jsonl?form=short"

    assert "choose one topic" in client.get(address, follow=True).content.decode()
    assert client.get(f"{address}&topic=t2").status_code == 200
