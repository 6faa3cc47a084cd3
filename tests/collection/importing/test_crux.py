"""The folder of CRUX's labelling platform: a small one of our own, and the real one where it is at hand."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db.models import Count

from collection.models import (
    Collection,
    Criterion,
    Highlight,
    Item,
    Judgment,
    Passage,
    RankedPassage,
    Rater,
    Report,
    RubricElement,
    Run,
    Study,
    Topic,
    User,
)
from tests.collection.files import everything, jsonl, refused, run_command

REAL = Path(settings.BASE_DIR).parent / "shared" / "data" / "crux"
TIES = "tied scores that the ranks put in another order; by score, ties stand by docno descending, as in trec_eval"
QUESTIONS = ["Who built it?", None, "When was it built?", None]
REPORT = "Ann built it. In 1897 it opened. It opened."


def topic_line(qid: str = "d-1", response: str = REPORT, **fields: Any) -> dict[str, Any]:
    return {
        "qid": qid,
        "topic": "Report on the bridge.",
        "questions": QUESTIONS,
        "type": "oracle",
        "k": 2,
        "docids": ["d-1:0#0"],
        "report": "A person’s summary.",
        "response": response,
    } | fields


def labels_line(qid: str, labels: list[int], spans: dict[str, str]) -> dict[str, Any]:
    return {"id": qid, "question_based_nugget": {"NA": ""} | spans, "answerability": labels, "coverage": 0.1}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return a_folder_of_crux(tmp_path / "crux")


def a_folder_of_crux(folder: Path) -> Path:
    """One topic with four sub-questions, two of them masked; two runs; two annotators; a model."""
    (folder / "annotator1").mkdir(parents=True)
    (folder / "annotator2").mkdir()
    jsonl(
        folder / "documents.jsonl",
        {"id": "d-1:0#0", "contents": "Ann built the bridge."},
        {"id": "d-1:0#1", "contents": "It rains."},
    )
    jsonl(folder / "oracle.jsonl", topic_line(), topic_line("bm25_d-1", "Nobody knows."))
    jsonl(folder / "bm25.jsonl", topic_line(response="Another text, that nobody judged."))
    for run in ("oracle", "bm25"):
        (folder / f"{run}.run").write_text(f"d-1 Q0 d-1:0#0 2 0.5 x_{run}\nd-1 Q0 d-1:0#1 2 0.5 x_{run}\n")
    jsonl(
        folder / "annotator1" / "qlabels.jsonl",
        labels_line("d-1", [1, -2, 1, -2], {"Who built it?": "Ann built it.", "When was it built?": "opened"}),
        labels_line("bm25_d-1", [0, -2, 1, -2], {"Who built it?": "Nobody", "When was it built?": ""}),
    )
    jsonl(
        folder / "annotator2" / "qlabels.jsonl",
        labels_line("d-1", [1, -2, -1, -2], {"Who built it?": "Ann, in 1897", "When was it built?": ""}),
    )
    jsonl(
        folder / "annotator1" / "qrels.jsonl",
        {
            "id": "d-1",
            "document": "d-1:0#0",
            "relevances": {"0": 5, "1": 0, "2": -1, "3": -1},
            "rationales": {"0": "Ann built", "1": "", "2": "", "3": ""},
        },
    )
    jsonl(
        folder / "llm_t1_grades_llama_2_reports.jsonl",
        {"id": "d-1", "model": "llama", "rating": [4, 0, -1, 5]},
    )
    return folder


@pytest.fixture
def study(folder: Path, rosa: User) -> Study:
    call_command("import_crux", str(folder), "--study", "crux", "--owner", "rosa")
    return Study.objects.get()


def grades(criterion: str, rater: str) -> dict[str, float | None]:
    found = Judgment.objects.filter(criterion__name=criterion, rater__name=rater)
    return dict(found.values_list("item__item_id", "grade"))


def test_the_study_is_closed_and_asks_what_the_files_answer(study: Study, rosa: User) -> None:
    assert (study.state, study.overlap, study.created_by) == ("closed", 3, rosa)
    assert list(study.criteria.values_list("name", "task_type", "threshold")) == [
        ("answerability", "answerability", 1),
        ("rating", "rating", 3),
        ("report_rating", "answerability", 3),
    ]


def test_masked_sub_questions_are_kept_and_not_asked_of_reports(study: Study) -> None:
    elements = RubricElement.objects.values_list("element_id", "text", "masked")

    assert list(elements) == [
        ("0", "Who built it?", False),
        ("1", "", True),
        ("2", "When was it built?", False),
        ("3", "", True),
    ]
    asked = Item.objects.filter(task_type="answerability").values_list("item_id", flat=True)
    assert set(asked) == {f"answerability/d-1/{run}/{place}" for run in ("oracle", "bm25") for place in (0, 2)}


def test_labels_are_paired_by_the_questions_text_though_masked_ones_share_a_key(study: Study) -> None:
    assert grades("answerability", "annotator1") == {
        "answerability/d-1/oracle/0": 1,
        "answerability/d-1/oracle/2": 1,
        "answerability/d-1/bm25/0": 0,
        "answerability/d-1/bm25/2": 1,
    }
    quotes = Highlight.objects.filter(judgment__rater__name="annotator1", purpose="support")
    assert dict(quotes.values_list("judgment__item__item_id", "quote")) == {
        "answerability/d-1/oracle/0": "Ann built it.",
        "answerability/d-1/oracle/2": "opened",
        "answerability/d-1/bm25/0": "Nobody",
    }


def test_unjudged_and_masked_become_no_judgment(study: Study) -> None:
    assert grades("answerability", "annotator2") == {"answerability/d-1/oracle/0": 1}


def test_a_span_has_a_place_only_where_it_stands_exactly_once(study: Study) -> None:
    places = Highlight.objects.values_list("quote", "start", "end")

    assert set(places) == {
        ("Ann built it.", 0, 13),
        ("opened", None, None),
        ("Ann, in 1897", None, None),
        ("Nobody", 0, 6),
        ("Ann built", 0, 9),
    }


def test_the_models_grades_are_of_the_same_items_and_a_reply_without_one_is_ungraded(study: Study) -> None:
    judge = Rater.objects.get(kind="judge")

    assert (judge.name, judge.origin) == ("llama", "imported")
    assert grades("report_rating", "llama") == {"answerability/d-1/oracle/0": 4, "answerability/d-1/oracle/2": None}
    assert Judgment.objects.get(grade=None).ungraded == "unreadable"


def test_a_passages_ratings_come_with_their_rationale_even_of_a_masked_question(study: Study) -> None:
    assert grades("rating", "annotator1") == {"rating/d-1/d-1:0#0/0": 5, "rating/d-1/d-1:0#0/1": 0}
    assert Highlight.objects.get(purpose="rationale").quote == "Ann built"


def test_ranks_follow_the_lines_and_scores_stay(study: Study) -> None:
    ranking = RankedPassage.objects.filter(run__name="bm25").order_by("rank")

    assert list(ranking.values_list("passage_id", "rank", "score")) == [("d-1:0#0", 1, 0.5), ("d-1:0#1", 2, 0.5)]


def test_the_report_whose_id_names_its_run_is_the_one_that_was_judged(study: Study) -> None:
    report = Report.objects.get(run__name="bm25")

    assert report.text == "Nobody knows."
    assert report.attributes["text in bm25.jsonl"] == "Another text, that nobody judged."


def test_the_human_summary_is_a_report_of_its_own_run(study: Study) -> None:
    assert Report.objects.get(run__name="human_summary", run__system__name="human").text == "A person’s summary."


def test_every_flaw_is_counted_and_told(folder: Path, rosa: User, capsys: pytest.CaptureFixture[str]) -> None:
    told = run_command(capsys, "import_crux", folder, "--study", "crux", "--owner", "rosa")

    flaws = Study.objects.get().attributes["flaws_of_the_files"]
    assert {what.split(" (")[0]: count for what, count in flaws.items()} == {
        "reports that have another text in another file": 1,
        "answerable without a supporting span": 1,
        "unanswerable with a supporting span": 1,
        "a supporting span is in several places in the text": 1,
        "a supporting span is not word for word in the text": 1,
        "ratings of a masked sub-question": 1,
        "a model’s grades of a masked sub-question": 2,
        TIES: 2,
    }
    assert "1 × answerable without a supporting span: annotator1/qlabels.jsonl line 2, sub-question 2 of d-1" in told
    assert "judged_at is the time of this import" in told


def test_the_same_folder_twice_changes_nothing_and_says_so(
    folder: Path, study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    before = everything()

    told = run_command(capsys, "import_crux", folder, "--study", "crux")

    assert "nothing changed" in told
    assert everything() == before


@pytest.mark.parametrize(
    ("name", "line", "place", "reason"),
    [
        ("annotator1/qlabels.jsonl", labels_line("d-9", [1, 0], {}), 3, "no report of “oracle” on “d-9”"),
        ("annotator1/qlabels.jsonl", labels_line("d-1", [1, 0], {}), 3, "has 4 sub-questions; the line answers 2"),
        ("annotator1/qlabels.jsonl", labels_line("d-1", [7, 0, 0, 0], {}), 3, "not a grade from -2 to 1"),
        ("annotator1/qlabels.jsonl", labels_line("d-1", [0, -2, 0, -2], {}), 3, "has already judged"),
        ("annotator1/qlabels.jsonl", {"id": "d-1"}, 3, "“question_based_nugget” is missing"),
        ("annotator1/qrels.jsonl", {"id": "d-1", "document": "x", "relevances": {"one": 1}}, 2, "not a whole number"),
        (
            "annotator1/qrels.jsonl",
            {"id": "d-1", "document": "x", "relevances": dict.fromkeys("0123", 1)},
            2,
            "no passage “x”",
        ),
        ("oracle.jsonl", topic_line("bm25_d-1", questions=["Another?"]), 3, "questions of the topic “d-1”"),
        ("documents.jsonl", {"id": "d-1:0#0", "contents": "Another."}, 3, "with another text"),
        ("bm25.run", "d-1 Q0 d-1:0#0 2", 3, "4 columns"),
        ("llm_t1_grades_llama_2_reports.jsonl", "nonsense", 2, "not JSON"),
    ],
)
def test_a_broken_file_is_named_with_its_line_and_nothing_is_kept(
    folder: Path, rosa: User, name: str, line: Any, place: int, reason: str
) -> None:
    with (folder / name).open("a") as stream:
        stream.write(line if isinstance(line, str) else json.dumps(line))
    before = everything()

    message = refused("import_crux", folder, "--study", "crux", "--owner", "rosa")

    assert f"{name}, line {place}: " in message
    assert reason in message
    assert everything() == before


def test_a_folder_of_something_else_says_what_is_missing(tmp_path: Path, rosa: User) -> None:
    assert "documents.jsonl" in refused("import_crux", tmp_path, "--study", "crux")


def test_a_study_on_another_collection_is_left_alone(folder: Path, study: Study, rosa: User) -> None:
    message = refused("import_crux", folder, "--study", "crux", "--collection", "other", "--owner", "rosa")

    assert "is on the collection “crux”" in message
    assert not Collection.objects.filter(name="other").exists()


@pytest.mark.django_db
def test_where_nobody_is_a_researcher_one_is_made_who_cannot_sign_in_yet(folder: Path) -> None:
    call_command("import_crux", str(folder), "--study", "crux")

    owner = Collection.objects.get().owner
    assert owner.is_researcher
    assert not owner.has_usable_password()


# --- The real folder -----------------------------------------------------------------------------


@pytest.fixture
def real(db: None) -> Study:
    if not REAL.is_dir():
        pytest.skip(f"CRUX's labels are not at {REAL}")
    call_command("import_crux", str(REAL), "--study", "crux")
    return Study.objects.get()


@pytest.mark.slow
def test_the_real_labels_come_in_whole(real: Study, capsys: pytest.CaptureFixture[str]) -> None:
    judgments = Judgment.objects.of_study(real)

    assert Item.objects.filter(task_type="answerability").count() == 435
    by_rater = judgments.order_by().values_list("criterion__name", "rater__name").annotate(count=Count("pk"))
    assert {(criterion, rater): count for criterion, rater, count in by_rater} == {
        ("answerability", "annotator1"): 435,
        ("answerability", "annotator2"): 435,
        ("answerability", "annotator3"): 435,
        ("rating", "annotator1"): 114,
        ("rating", "annotator2"): 112,
        ("rating", "annotator3"): 4,
        ("report_rating", "meta-llama/Llama-3.1-70B-Instruct"): 157,
    }
    assert Passage.objects.count() == 1_931
    assert Topic.objects.count() == 10
    assert list(Run.objects.values_list("name", flat=True)) == ["bm25", "dr_rankfirst", "human_summary", "oracle"]
    assert RubricElement.objects.filter(masked=True).count() == 5
    assert Criterion.objects.count() == 3

    told = run_command(capsys, "import_crux", REAL, "--study", "crux")
    assert "nothing changed" in told


def test_the_real_labels_flaws_are_counted(real: Study) -> None:
    """Spans belong to questions by their text.

    Paired by place instead, as the masked questions' shared key invites, 16 answerable ones would seem to lack a
    span, 7 unanswerable ones to have one, and 16 spans would stand at masked questions.
    """
    flaws = {what.split(" (")[0]: count for what, count in real.attributes["flaws_of_the_files"].items()}

    assert flaws == {
        "reports that have another text in another file": 10,
        "answerable without a supporting span": 6,
        "a supporting span is not word for word in the text": 42,
        "a supporting span is in several places in the text": 28,
        "a rationale is not word for word in the text": 153,
        "ratings of a masked sub-question": 8,
        "a model’s grades of a masked sub-question": 8,
        TIES: 30,
    }
    assert by_place() == {"answerable without": 16, "unanswerable with": 7, "masked with": 16}


def test_the_real_spans_are_placed_where_they_stand_once(real: Study) -> None:
    support = Highlight.objects.filter(purpose="support")
    rationales = Highlight.objects.filter(purpose="rationale")

    assert (support.count(), support.exclude(start=None).count()) == (643, 573)
    assert (rationales.count(), rationales.exclude(start=None).count()) == (159, 6)
    for highlight in Highlight.objects.exclude(start=None).select_related(
        "judgment__item__report", "judgment__item__passage"
    ):
        text = highlight.judgment.item.judged_text.text or ""
        assert text[highlight.start : highlight.end] == highlight.quote


def by_place() -> dict[str, int]:
    """Count the flaws that appear when the n-th span is taken for the n-th sub-question's."""
    found: Counter[str] = Counter()
    names = {(1, False): "answerable without", (0, True): "unanswerable with", (-2, True): "masked with"}
    for path in sorted(REAL.glob("*/qlabels.jsonl")):
        for line in path.read_text().splitlines():
            record = json.loads(line)
            for span, label in zip(record["question_based_nugget"].values(), record["answerability"], strict=False):
                if name := names.get((label, bool(span.strip()))):
                    found[name] += 1
    return dict(found)
