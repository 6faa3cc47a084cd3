"""CLAPNQ's files in and out: a small one of our own, and the real ones where they are at hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils.timezone import now
from pytest_django.asserts import assertContains

from collection.exporting.clapnq import LeftOut, exported_clapnq
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.datasets.clapnq import import_clapnq
from collection.importing.studies import closed_study_in
from collection.models import (
    AnswerToRevise,
    Collection,
    Highlight,
    Judgment,
    Passage,
    RankedPassage,
    Rater,
    Study,
    Topic,
    User,
    WrittenAnswer,
)
from tests.annotate.writers import a_study_of_writing, answered
from tests.collection.files import everything, jsonl, refused, run_command
from tests.factories import a_user

pytestmark = pytest.mark.django_db

REAL = Path(settings.BASE_DIR).parent / "shared" / "data" / "clapnq"
SENTENCES = ["The lamp is lit at dusk .", "A keeper climbs 🔦 the stairs .", "It is lit at dusk .", "The sea is calm ."]
TEXT = " ".join(SENTENCES) + " "


def an_output(answer: str, chosen: list[int], annotators: list[int], number: int, **meta: Any) -> dict[str, Any]:
    flags = {"has_minimal_answer": False, "non_consecutive": False, "skip": not answer and number > 0} | meta
    return {
        "answer": answer,
        "selected_sentences": [SENTENCES[place] for place in chosen],
        "meta": {"annotator": annotators, "round": number} | flags,
    }


def a_line(name: str, *outputs: dict[str, Any], **fields: Any) -> dict[str, Any]:
    passage = {"title": "The lighthouse", "text": TEXT, "sentences": SENTENCES}
    return {"id": name, "input": "when is the lamp lit", "passages": [passage], "output": list(outputs)} | fields


LINES = [
    a_line("1", an_output("At dusk, by a keeper.", [0, 2], [11, 12], 2, non_consecutive=True)),
    a_line(
        "-2",
        an_output("At dusk.", [0, 2], [11], 1, non_consecutive=True),
        an_output("At dusk, by a keeper.", [0, 1, 2], [13], 2),
    ),
    a_line("3", an_output("At dusk.", [0, 3], [12], 1, non_consecutive=True), an_output("", [], [11], 2)),
    a_line("4", an_output("NA", [0], [11], 1, has_minimal_answer=True), an_output("Dusk.", [], [12], 1)),
    a_line("5", an_output("", [], [], 0)),
    a_line("6", an_output("", [], [12], 1)),
]


@pytest.fixture
def study(rosa: User) -> Study:
    return closed_study_in("clap", name="clap", owner=rosa, source="CLAPNQ files")


def bring(study: Study, path: Path) -> Any:
    return import_clapnq(file=InputFile(path), study=study, at=now())


def brought_out(study: Study) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported_clapnq(study)]


# --- Round trip ---------------------------------------------------------------------------------


def test_what_came_in_comes_out_again(study: Study, tmp_path: Path) -> None:
    bring(study, jsonl(tmp_path / "small.jsonl", *LINES))

    assert brought_out(study) == LINES


@pytest.mark.parametrize("name", ["answerable", "unanswerable"])
def test_the_real_files_come_out_equal_in_content(study: Study, name: str) -> None:
    path = REAL / f"clapnq_dev_{name}.jsonl"
    if not path.is_file():
        pytest.skip(f"CLAPNQ's files are not at {REAL}")

    bring(study, path)

    assert brought_out(study) == [json.loads(line) for line in path.open(encoding="utf-8")]


def test_the_real_answers_are_two_rounds_by_the_files_people(study: Study) -> None:
    path = REAL / "clapnq_dev_answerable.jsonl"
    if not path.is_file():
        pytest.skip(f"CLAPNQ's files are not at {REAL}")

    bring(study, path)

    grades = Counter(Judgment.objects.values_list("criterion__name", "grade"))
    assert grades == {
        # 150 answers that were kept, 136 that were not, and 73 of the pilot rounds
        ("outcome", 5.0): 150 + 136 + 73,
        ("revision", 0.0): 150,
        ("revision", 1.0): 126,
        ("revision", -1.0): 10,
    }
    assert WrittenAnswer.objects.count() == Judgment.objects.count() - 10
    assert AnswerToRevise.objects.count() == 286
    assert Rater.objects.filter(origin="imported").count() == 8
    assert not Highlight.objects.filter(start=None).exists()


# --- In -----------------------------------------------------------------------------------------


def test_brings_the_texts_in_with_their_sentences(study: Study, tmp_path: Path) -> None:
    bring(study, jsonl(tmp_path / "small.jsonl", *LINES))

    passage = Passage.objects.get(passage_id="-2")
    assert passage.text == TEXT
    assert passage.title == "The lighthouse"
    assert [TEXT[a:b] for a, b in passage.attributes["sentences"]] == SENTENCES
    assert Topic.objects.get(topic_id="5").attributes == {"answerable": False}
    assert RankedPassage.objects.filter(run__name="gold", rank=1).count() == 6


def test_brings_the_answers_in_as_two_rounds(study: Study, tmp_path: Path) -> None:
    bring(study, jsonl(tmp_path / "small.jsonl", *LINES))

    rows = Judgment.objects.order_by("item__topic__pk", "pk").values_list(
        "item__topic__topic_id", "criterion__name", "rater__name", "grade", "ungraded", "answer__text"
    )
    assert list(rows) == [
        ("1", "outcome", "11", 5, "", "At dusk, by a keeper."),
        ("1", "revision", "12", 0, "", "At dusk, by a keeper."),
        ("-2", "outcome", "11", 5, "", "At dusk."),
        ("-2", "revision", "13", 1, "", "At dusk, by a keeper."),
        ("3", "outcome", "12", 5, "", "At dusk."),
        ("3", "revision", "11", -1, "", None),
        ("4", "outcome", "11", 5, "", "NA"),
        ("4", "outcome", "12", 5, "", "Dusk."),
        ("6", "outcome", "12", None, "refused", None),
    ]
    handed_on = AnswerToRevise.objects.get(item__topic__topic_id="-2")
    assert handed_on.item.item_id == "answer_revision/-2/-2/1"
    assert handed_on.text == "At dusk."
    assert [span["quote"] for span in handed_on.spans] == [SENTENCES[0], SENTENCES[2]]


def test_the_same_file_again_changes_nothing(study: Study, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "small.jsonl", *LINES)
    bring(study, path)
    before = everything()

    imported = bring(study, path)

    assert not imported.changed
    assert everything() == before


def test_keeps_a_chosen_title_without_a_place(study: Study, tmp_path: Path) -> None:
    line = a_line("1", an_output("At dusk.", [0], [11], 1))
    line["output"][0]["selected_sentences"].insert(0, "The lighthouse")

    imported = bring(study, jsonl(tmp_path / "title.jsonl", line))

    assert "not in the passage" not in str(imported)
    assert Highlight.objects.get(start=None).quote == "The lighthouse"
    assert brought_out(study) == [line]


def test_a_second_reader_sees_the_chosen_title_and_the_same_file_changes_nothing(study: Study, tmp_path: Path) -> None:
    first, second = an_output("At dusk.", [0, 2], [11], 1), an_output("Dusk.", [0], [12], 2)
    first["selected_sentences"].insert(0, "The lighthouse")
    path = jsonl(tmp_path / "title.jsonl", a_line("1", first, second))

    bring(study, path)
    bring(study, path)

    seen = AnswerToRevise.objects.get().spans
    assert seen[0] == {"start": 0, "end": 0, "quote": "The lighthouse"}
    assert [span["quote"] for span in seen[1:]] == [SENTENCES[0], SENTENCES[2]]


def test_keeps_a_sentence_of_no_passage_without_a_place_and_says_so(study: Study, tmp_path: Path) -> None:
    line = a_line("1", an_output("At dusk.", [0], [11], 1))
    line["output"][0]["selected_sentences"].append("A lighthouse elsewhere")

    imported = bring(study, jsonl(tmp_path / "odd.jsonl", line))

    assert "not in the passage" in str(imported)
    assert brought_out(study) == [line]


def test_takes_the_second_of_two_equal_sentences_when_both_were_chosen(study: Study, tmp_path: Path) -> None:
    twice = ["It rains .", "It rains ."]
    passage = {"title": "", "text": "It rains . It rains .", "sentences": twice}
    output = an_output("Rain.", [], [11], 1) | {"selected_sentences": twice}
    line = a_line("1", output, passages=[passage])

    bring(study, jsonl(tmp_path / "twice.jsonl", line))

    assert list(Highlight.objects.values_list("start", flat=True)) == [0, 11]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        ({"id": "1"}, "“input” is missing"),
        (a_line("1", passages=[]), "0 passages"),
        (a_line("1", passages=["x"]), "not a list of objects"),
        (
            a_line("1", passages=[{"title": "", "text": "a b", "sentences": ["b", "a"]}]),
            'Sentence 2, "a", is not in the text',
        ),
        (a_line("1", an_output("Dusk.", [0], [11], 2)), "no answer of round 1 before it"),
        (a_line("1", an_output("Dusk.", [0], [11], 3)), "no round 3"),
        (a_line("1", an_output("Dusk.", [0], [11, 12], 1)), "names 2 people"),
        (a_line("1", an_output("Dusk.", [0], [11, 11], 2)), "different names"),
        (a_line("1", an_output("Dusk.", [0], [], 0)), "names no annotator"),
        (a_line("1", an_output("", [], [11], 1, skip=False)), "The answer is empty"),
        (a_line("1", an_output("Dusk.", [], [11], 1, skip=True)), "A skipped question has an answer"),
        (a_line("1", an_output("Dusk.", [0], [11], 1), an_output("Night.", [0], [11], 2)), "their own answer"),
        (a_line("1", an_output("Dusk.", [0], [11], 1), an_output("Night.", [0], [11], 1)), "another answer"),
        (
            a_line("1", an_output("", [], [], 0), an_output("Night.", [0], [11], 1)),
            "both answers and an output without one",
        ),
        (a_line("1", mood="good"), "field “mood” is unknown"),
    ],
)
def test_refuses_a_broken_line_by_number_and_reason(study: Study, tmp_path: Path, line: Any, reason: str) -> None:
    path = jsonl(tmp_path / "broken.jsonl", LINES[0], line if isinstance(line, str) else line | {"id": "9"})
    before = everything()

    with pytest.raises(BrokenFile) as broken:
        bring(study, path)

    assert "line 2: " in str(broken.value)
    assert reason in str(broken.value)
    assert everything() == before


def test_refuses_other_words_from_the_same_person(study: Study, tmp_path: Path) -> None:
    bring(study, jsonl(tmp_path / "one.jsonl", a_line("1", an_output("At dusk.", [0], [11], 1))))

    with pytest.raises(BrokenFile, match="already written another answer"):
        bring(study, jsonl(tmp_path / "two.jsonl", a_line("1", an_output("At night.", [0], [11], 1))))

    assert WrittenAnswer.objects.get().text == "At dusk."


# --- Out, and the commands ----------------------------------------------------------------------


def test_leaves_out_what_nobody_answered_and_counts_it(study: Study, tmp_path: Path) -> None:
    bring(study, jsonl(tmp_path / "small.jsonl", a_line("1"), a_line("5", an_output("", [], [], 0))))
    told = LeftOut()

    lines = list(exported_clapnq(study, told))

    assert [json.loads(line)["id"] for line in lines] == ["5"]
    assert told.unanswered == 1


def test_people_who_wrote_here_are_numbered_and_the_excluded_left_out(rosa: User) -> None:
    ada, ben = a_user("ada"), a_user("ben")
    writing = a_study_of_writing(owner=rosa, people=[ada, ben], task_types=["written_answer"], overlap=2)
    answered(ada, writing)
    answered(ben, writing)

    def people() -> list[list[object]]:
        return [one["meta"]["annotator"] for line in brought_out(writing) for one in line["output"]]

    assert people() == [["assessor 1"], ["assessor 2"]]
    writing.exclusions.create(rater=ada.rater, reason="asleep", excluded_by=rosa, excluded_at=now())
    assert people() == [["assessor 2"]]


def test_exports_in_as_many_queries_however_many_answers(
    study: Study, tmp_path: Path, django_assert_max_num_queries: Any
) -> None:
    many = [a_line(str(n), an_output("At dusk.", [0, 2], [11], 1), an_output("Dusk.", [0], [12], 2)) for n in range(40)]
    bring(study, jsonl(tmp_path / "many.jsonl", *many))

    with django_assert_max_num_queries(11):
        assert len(brought_out(study)) == 40


def test_the_commands_bring_files_in_and_out(rosa: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = jsonl(tmp_path / "one.jsonl", *LINES[:3]), jsonl(tmp_path / "two.jsonl", *LINES[3:])

    told = run_command(capsys, "import_clapnq", one, two, "--study", "clap", "--owner", "rosa", "--quiet")
    written = run_command(capsys, "export_clapnq", "--study", "clap")

    assert "each counts as complete" in told
    assert [json.loads(line) for line in written.splitlines()] == LINES
    assert Study.objects.get().state == "closed"


def test_the_command_refuses_a_study_on_another_collection(rosa: User, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "one.jsonl", LINES[0])
    closed_study_in("clap", name="clap", owner=rosa, source="CLAPNQ files")

    message = refused("import_clapnq", path, "--study", "clap", "--collection", "other", "--quiet")

    assert "is on the collection “clap”" in message


# --- The pages ----------------------------------------------------------------------------------


def uploaded(client: Client, path: Path, collection: Collection, *, study: str = "") -> str:
    """Send the file to the import page, and return the address of its preview."""
    with path.open("rb") as file:
        response = client.post(
            f"/collections/{collection.name}/import/", {"file_format": "clapnq", "file": file, "study": study}
        )
    assert response.status_code == 302, response.context["form"].errors
    return str(response.headers["Location"])


def test_the_import_page_makes_a_closed_study_where_none_is_chosen(rosa: User, tmp_path: Path, client: Client) -> None:
    client.force_login(rosa)
    collection = Collection.objects.create(name="lamps", owner=rosa)
    preview = uploaded(client, jsonl(tmp_path / "small.jsonl", *LINES), collection)

    shown = client.get(preview)
    assertContains(shown, "written answers")
    assert not Study.objects.exists()
    client.post(preview)

    study = Study.objects.get()
    assert (study.name, study.state) == ("lamps-answers", "closed")
    assertContains(client.get("/collections/lamps/"), "/collections/lamps/studies/lamps-answers/clapnq.jsonl")
    exported = client.get("/collections/lamps/studies/lamps-answers/clapnq.jsonl")
    assert [json.loads(line) for line in exported.getvalue().splitlines()] == LINES


def test_the_import_page_takes_the_answers_into_a_chosen_study(
    study: Study, rosa: User, tmp_path: Path, client: Client
) -> None:
    client.force_login(rosa)

    client.post(uploaded(client, jsonl(tmp_path / "small.jsonl", *LINES), study.collection, study=study.name))

    assert WrittenAnswer.objects.filter(judgment__criterion__study=study).count() == 7
    assert Study.objects.count() == 1


def test_the_preview_shows_a_broken_line(rosa: User, tmp_path: Path, client: Client) -> None:
    client.force_login(rosa)
    collection = Collection.objects.create(name="lamps", owner=rosa)

    shown = client.get(uploaded(client, jsonl(tmp_path / "broken.jsonl", LINES[0], "{"), collection))

    assertContains(shown, "not JSON")
