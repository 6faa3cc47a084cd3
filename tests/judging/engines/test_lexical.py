"""The lexical baseline: its three methods, what its replies explain, and its agreement with people on real data."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.utils.timezone import now
from sklearn.metrics import cohen_kappa_score

from collection.models import Criterion, Item, Judgment, Passage, RankedPassage, Report, Study, Topic
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES, CriterionShape
from collection.retrieval.bm25_of_one_text import PoolStatistics, bm25_share, statistics_of
from judging.data.pool_statistics import pool_statistics
from judging.engines import GradeRequest, Reply, lexical
from judging.engines.lexical import BM25, CUT_POINTS, NO_RULE, PHRASES, LexicalEngine, not_knowing, recall, words_in
from judging.grading.jobs import JudgeDoesNotFit, check_fit, start_job
from judging.judges.registry import BadJudge, engines_for
from judging.models import Completion, Judge
from judging.prompts.criteria import JUDGED_CRITERIA
from judging.prompts.rendering import NO_PASSAGES, NO_WORDS, requests_for
from tests.judging.world import a_lexical_judge, work_through

DATA = Path(settings.BASE_DIR).parent / "shared" / "data"
POOL = ["the harbour bridge of Bristol", "a bridge", "the harbour, the old harbour", "a mountain"]


def graded(engine: LexicalEngine, request: GradeRequest) -> Reply:
    ((_, reply),) = engine.grade([request], stopping=lambda: False)
    return reply


def pool() -> PoolStatistics:
    return statistics_of(POOL, ["harbour bridge"], words_in=words_in)


def test_bm25_is_the_sum_of_the_formula_over_the_most_it_can_be() -> None:
    # Four texts of 3, 1, 3 and 1 words; “harbour” and “bridge” stand in two each, so both weigh ln(1 + 2.5 / 2.5).
    assert pool() == PoolStatistics(4, 2.0, {"harbour": 2, "bridge": 2})
    idf, damping = math.log(2), 0.9 * (1 - 0.4 + 0.4 * 3 / 2)

    both = bm25_share(["harbour", "bridge"], words_in(POOL[0]), pool())
    twice = bm25_share(["harbour", "bridge"], words_in(POOL[2]), pool())

    assert both == pytest.approx((idf / (1 + damping) * 2) / (2 * idf))
    assert twice == pytest.approx((2 * idf / (2 + damping)) / (2 * idf))
    assert bm25_share(["harbour"], words_in(POOL[3]), pool()) == bm25_share([], words_in(POOL[0]), pool()) == 0


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    known = PoolStatistics(100, 2.0, {"bridge": 90, "bristol": 1})

    rare, common = (bm25_share(["bridge", "bristol"], [word, "x"], known) for word in ("bristol", "bridge"))

    assert rare > common > 0


def test_a_reply_explains_its_grade_by_score_and_cut_points() -> None:
    engine = LexicalEngine(cuts=CUT_POINTS["relevance"], method=BM25)
    request = GradeRequest(1, ("0", "1", "2", "3"), "harbour bridge", POOL[0], pool=pool())

    reply = graded(engine, request)

    assert reply.text == (
        "2\nBM25 0.481 of what is possible, over a pool of 4 texts; scores from 0.45 and below 0.5 get this grade."
    )
    assert reply.score == pytest.approx(1 / 2.08)
    assert graded(engine, request).text == reply.text


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("I don't know.", (1, 1)),
        ("Sorry, I do not know the answer.", (1, 1)),
        ("The passage does not say. It is about bridges.", (1, 2)),
        ("This cannot be answered from the passages.", (1, 1)),
        ("There is not enough information to answer.", (1, 1)),
        ("Paris is the capital. Everybody knows it.", (0, 2)),
        ("", (0, 0)),
    ],
)
def test_finds_the_sentences_that_say_that_there_is_no_answer(answer: str, said: tuple[int, int]) -> None:
    assert not_knowing(answer) == said


def test_an_answer_that_gives_one_all_the_same_is_not_unknown() -> None:
    engine = LexicalEngine(cuts=CUT_POINTS["unknown"], method=PHRASES)
    answer = "The date is not known. It stands in Rome. It has three arches. Ada built it."

    reply = graded(engine, GradeRequest(1, ("0", "1"), "Where?", answer))

    assert reply.text.split("\n") == [
        "0", "1 of 4 sentences say that there is no answer, 0.250; scores below 0.5 get this grade."
    ]  # fmt: skip


def test_what_is_impossible_to_ask_stays_ungraded() -> None:
    reply = graded(LexicalEngine(cuts=(0.5,)), GradeRequest(1, ("0", "1"), "", "", impossible=NO_PASSAGES))

    assert (reply.ungraded, reply.error, reply.text) == (Judgment.Ungraded.ENGINE_ERROR, NO_PASSAGES, "")


# --- In a study -----------------------------------------------------------------------------------


def a_criterion(study: Study, shape: CriterionShape, task_type: TaskType) -> Criterion:
    return Criterion.objects.create(
        study=study, task_type=task_type, name=shape.name, question=shape.question, scale=shape.scale.stored(),
        threshold=shape.threshold, position=50,
    )  # fmt: skip


def an_item(study: Study, task_type: TaskType, *, topic: Topic, text: Passage | Report) -> Item:
    return Item.objects.create(
        study=study, task_type=task_type, item_id=f"{task_type}/{topic}/{text}", topic=topic,
        passage=text if isinstance(text, Passage) else None, report=text if isinstance(text, Report) else None,
    )  # fmt: skip


def with_relevance(study: Study) -> Study:
    """Give the study every passage with its topic."""
    for passage in Passage.objects.filter(collection=study.collection):
        topic = study.collection.topics.get(topic_id=passage.passage_id.split("-")[0])
        an_item(study, TaskType.RELEVANCE, topic=topic, text=passage)
    return study


@pytest.mark.django_db
def test_a_job_grades_relevance_by_the_studys_own_pool(study: Study) -> None:
    criterion = a_criterion(with_relevance(study), TASK_TYPES[TaskType.RELEVANCE].criteria[0], TaskType.RELEVANCE)
    judge = a_lexical_judge(criterion)
    work_through(start_job(criterion=criterion, judge=judge, by=None, at=now()))

    items = Item.objects.filter(study=study, task_type=TaskType.RELEVANCE).count()
    texts = Passage.objects.filter(items__study=study).distinct().count()
    replies = Completion.objects.filter(judge=judge)
    assert judge.decoding == {"method": BM25, "cut_points": [0.05, 0.45, 0.5]}
    assert replies.filter(grade__isnull=False).count() == items > 0
    assert all(f"over a pool of {texts:,} texts" in reply.reply for reply in replies)
    assert pool_statistics(study.pk).texts == texts


@pytest.mark.django_db
def test_the_pool_is_counted_again_when_items_are_added(study: Study) -> None:
    first, *others = Passage.objects.filter(collection=study.collection)
    topic = Topic.objects.filter(collection=study.collection)[0]
    an_item(study, TaskType.RELEVANCE, topic=topic, text=first)
    before = pool_statistics(study.pk)

    for passage in others:
        an_item(study, TaskType.RELEVANCE, topic=topic, text=passage)

    assert before.texts == 1
    assert pool_statistics(study.pk).texts == 1 + len(others)


@pytest.mark.django_db
def test_a_baseline_fits_no_other_criterion_of_the_same_scale(study: Study) -> None:
    shapes = {shape.name: shape for shape in TASK_TYPES[TaskType.ANSWER_EVALUATION].criteria}
    unknown, incoherent = (
        a_criterion(study, shapes[name], TaskType.ANSWER_EVALUATION) for name in ("unknown", "incoherent")
    )
    judge = a_lexical_judge(unknown)

    check_fit(judge, unknown)
    assert judge in Judge.objects.fitting(unknown)
    assert judge not in Judge.objects.fitting(incoherent)
    with pytest.raises(JudgeDoesNotFit, match="measures “unknown” and nothing else"):
        check_fit(judge, incoherent)
    with pytest.raises(BadJudge, match="No lexical baseline grades “incoherent”: an answer may be to the point"):
        a_lexical_judge(incoherent)


@pytest.mark.django_db
def test_faithful_looks_for_the_answers_words_in_the_passages_shown(study: Study) -> None:
    criterion = a_criterion(study, TASK_TYPES[TaskType.ANSWER_EVALUATION].criteria[4], TaskType.ANSWER_EVALUATION)
    judge = a_lexical_judge(criterion)
    report = Report.objects.filter(run__collection=study.collection).select_related("topic", "run").first()
    assert report is not None
    item = an_item(study, TaskType.ANSWER_EVALUATION, topic=report.topic, text=report)
    passage = Passage.objects.filter(collection=study.collection).first()
    assert passage is not None
    RankedPassage.objects.filter(run=report.run).delete()

    (without,) = requests_for(judge, [item])
    RankedPassage.objects.create(run=report.run, topic=report.topic, passage_id=passage.passage_id, rank=1, score=1)
    (held,) = requests_for(judge, [item])
    assert without.impossible == NO_PASSAGES
    assert (held.query, held.text, held.impossible) == (report.text, passage.text, "")

    report.text = "It is."
    (wordless,) = requests_for(judge, [item])
    assert wordless.impossible == NO_WORDS


# --- What the documentation says ------------------------------------------------------------------


@pytest.mark.django_db
def test_the_documentation_tells_which_engine_can_grade_which_criterion() -> None:
    page = (Path(settings.BASE_DIR) / "docs" / "engines.md").read_text()
    rows = re.findall(r"^\| [^|]+ \| `(\w+)` \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)
    told = {name: tuple(cell.split(":")[0] != "no" for cell in cells) for name, *cells in rows}

    engines = (Judge.Engine.LEXICAL, Judge.Engine.EMBEDDED, Judge.Engine.VLLM)
    assert told == {
        asked.criterion_name: tuple(
            engine in engines_for(asked.criterion_name, asked.scale.stored()).engines for engine in engines
        )
        for asked in JUDGED_CRITERIA
    }


def test_every_criterion_has_a_lexical_rule_or_a_reason_why_not() -> None:
    assert {*CUT_POINTS, *NO_RULE} == {asked.criterion_name for asked in JUDGED_CRITERIA}
    assert not {*CUT_POINTS} & {*NO_RULE}


# --- Beside people --------------------------------------------------------------------------------


def dl19() -> Iterator[tuple[str, str, str, int]]:
    """Yield topic, request, text and NIST's grade of RUBRIC's graded passages."""
    graded_file = DATA / "rubric" / "DL19-graded-t5-rating-genq-exam-qrels-runs-with-text.jsonl.gz"
    if not graded_file.is_file():
        pytest.skip(f"RUBRIC's graded file is not at {graded_file}")
    with gzip.open(DATA / "rubric" / "dl19-genq.jsonl.gz", "rt") as bank:
        requests = {row["query_id"]: row["query_text"] for row in map(json.loads, bank)}
    with gzip.open(graded_file, "rt") as lines:
        for topic, passages in map(json.loads, lines):
            for passage in passages:
                for judgment in passage["paragraph_data"]["judgments"]:
                    yield topic, requests[topic], passage["text"], judgment["relevance"]


@pytest.mark.slow
def test_relevance_agrees_with_nist_as_the_documentation_says() -> None:
    rows = list(dl19())
    known = statistics_of({text for _, _, text, _ in rows}, {row[1] for row in rows}, words_in=words_in)
    chosen_on = set(sorted({topic for topic, *_ in rows}, key=int)[::2])
    held_out = [row for row in rows if row[0] not in chosen_on]

    def kappa(of: list[tuple[str, str, str, int]], *, quadratic: bool) -> float:
        scores = [bm25_share(words_in(request), words_in(text), known) for _, request, text, _ in of]
        judged = [sum(score >= point for point in CUT_POINTS["relevance"]) for score in scores]
        people = [grade for *_, grade in of]
        if quadratic:
            return float(cohen_kappa_score(people, judged, weights="quadratic"))
        return float(cohen_kappa_score([grade >= 2 for grade in people], [grade >= 2 for grade in judged]))

    assert (len(rows), len(held_out)) == (9260, len(rows) - sum(row[0] in chosen_on for row in rows))
    assert kappa(held_out, quadratic=False) == pytest.approx(0.22, abs=0.01)
    assert kappa(held_out, quadratic=True) == pytest.approx(0.27, abs=0.01)
    assert kappa(rows, quadratic=False) == pytest.approx(0.16, abs=0.01)


def test_passages_of_a_question_agree_with_clapnqs_people_as_the_documentation_says() -> None:
    folder = DATA / "clapnq"
    if not folder.is_dir():
        pytest.skip(f"CLAPNQ's files are not at {folder}")
    rows = [
        (recall(row["input"], row["passages"][0]["text"]) >= lexical.CUT_POINTS["passage_for_question"][0], answerable)
        for answerable in (True, False)
        for row in map(json.loads, (folder / f"clapnq_dev_{'' if answerable else 'un'}answerable.jsonl").open())
    ][1::2]

    assert len(rows) == 300
    assert float(cohen_kappa_score(*zip(*rows, strict=True))) == pytest.approx(0.49, abs=0.01)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["citation_support", "citation_need", "answers", "fit"])
def test_why_the_embedded_model_does_not_grade_it_is_said(study: Study, name: str) -> None:
    task_type, shape = next(
        (task_type, shape) for task_type, of in TASK_TYPES.items() for shape in of.criteria if shape.name == name
    )
    criterion = a_criterion(study, shape, TaskType(task_type))

    offered = engines_for(name, criterion.scale)

    assert Judge.Engine.EMBEDDED not in offered.engines
    assert offered.no_embedded.startswith(f"The embedded model does not grade “{name}”: ")
    assert engines_for("answerability", study.criteria.get(name="answerability").scale).no_embedded == ""
