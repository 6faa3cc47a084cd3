"""Small collections with simulated grades, to show tables and figures whose data no paper publishes.

Everything is drawn from a seeded generator; texts are words in no order. What is shown of them shows what the product
can make of such data, and nothing about real systems.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from random import Random
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.management import call_command

from annotate.studies.design import StudyDesign
from annotate.studies.lifecycle import make_study, open_study
from collection.formats.jsonl import (
    CollectionLine,
    ElementSpanLine,
    Line,
    PassageLine,
    RankingLine,
    ReportLine,
    RubricElementLine,
    RunLine,
    SystemLine,
    TopicLine,
    written_line,
)
from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.judgments.services import NewJudgment, add_judgments
from collection.models import Collection, Criterion, RankedPassage, Rater, Scale, Study, User
from collection.scales import ScaleShape
from judging.judges.report_rating import add_report_rating
from stats.measures.crux import required_subset
from stats.measures.grades import GradeTable

SEED = 2025
AT = datetime(2026, 1, 1, tzinfo=UTC)
CRUX, SAMPLED = "crux-simulated", "contexts-simulated"
LONG2RAG, DOCUMENTS, SCORES = "long2rag-simulated", "documents-simulated", "scores-simulated"
WORDS = ("tide", "stone", "river", "winter", "market", "harbour", "letter", "signal", "garden", "copper", "window")
SOURCE = f"A simulation, seed {SEED}: tests/published/simulated.py states it."


def make_simulations() -> None:
    """Make the studies. Needs the user “papers”."""
    make_crux()
    make_contexts()
    make_long2rag()
    make_documents()
    make_scores()


def opened_study(lines: Iterable[Line], name: str, task_types: Sequence[str], **settings: Any) -> Study:
    """Import the lines as a collection and open a study of the same name on it."""
    owner = User.objects.get(username="papers")
    collection = Collection.objects.create(name=name, owner=owner)
    _import(collection, lines)
    return _opened(collection, task_types, **settings)


def _import(collection: Collection, lines: Iterable[Line]) -> None:
    with NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        file.writelines(map(written_line, lines))
        file.flush()
        import_collection(file=InputFile(Path(file.name), name=f"{collection.name}.jsonl"), collection=collection)


def _opened(collection: Collection, task_types: Sequence[str], **settings: Any) -> Study:
    """Open a study of the collection's name on it."""
    name, owner = collection.name, collection.owner
    study = make_study(
        StudyDesign(collection=collection, name=name, title=name, task_types=task_types, **settings), by=owner, at=AT
    )
    open_study(study=study, at=AT)
    return study


def simulated_rater(study: Study, name: str, kind: str = Rater.Kind.JUDGE) -> Rater:
    return Rater.objects.create(
        collection=study.collection, kind=kind, name=name, origin=Rater.Origin.SIMULATED, source=SOURCE
    )


def drawn_text(chance: Random, n: int) -> str:
    """Return so many words, ten a sentence."""
    words = [chance.choice(WORDS) for _ in range(n)]
    sentences = [" ".join(words[start : start + 10]).capitalize() for start in range(0, n, 10)]
    return ". ".join(sentences) + "."


# --- CRUX: Tables 1 to 5, Figure 5 ----------------------------------------------------------------

TOPICS, QUESTIONS, RELEVANT, OTHERS, RANKED = 10, 10, 14, 36, 20
RETRIEVERS = {"lexical": 0.8, "dense": 1.0, "sparse": 1.1}
RERANKERS = {
    "none": 0.0,
    "diverse": -0.3,
    "small": 0.3,
    "pointwise": 0.5,
    "listwise": 0.9,
    "first": 1.1,
    "setwise": 1.0,
}
BOUNDS = ("oracle", "direct", "summary")


@dataclass(frozen=True)
class SimulatedTopic:
    """What passages and reports truly say of the topic's questions: grades 0 to 5, by name and question."""

    name: str
    passages: dict[str, dict[str, int]]
    rankings: dict[str, list[str]]
    reports: dict[str, dict[str, int]]


def make_crux() -> Study:
    """Make 21 pipelines, three bounds and a judge who errs by a grade in 15 of 100 cases."""
    chance = Random(f"{SEED}/crux")
    topics = [_crux_topic(chance, f"topic-{number:02}") for number in range(1, TOPICS + 1)]
    study = opened_study(_crux_lines(chance, topics), CRUX, ["answerability", "rating"], depth=RANKED)
    _judged(chance, study, topics)
    return study


def make_contexts() -> Study:
    """Make three retrievers, 16 contexts of each as `sample_contexts` draws them, a report from each, and the judge."""
    chance = Random(f"{SEED}/contexts")
    topics = [_crux_topic(chance, f"topic-{number:02}", others=106, depth=60) for number in range(1, TOPICS + 1)]
    topics = [
        replace(
            one,
            rankings={run: one.rankings[run] for run in DRAWN_FROM},
            reports={run: one.reports[run] for run in DRAWN_FROM},
        )
        for one in topics
    ]
    owner = User.objects.get(username="papers")
    collection = Collection.objects.create(name=SAMPLED, owner=owner)
    _import(collection, (one for one in _crux_lines(chance, topics) if not isinstance(one, ReportLine)))
    for run in DRAWN_FROM[1:]:
        call_command("sample_contexts", "--collection", SAMPLED, "--run", run, "--seed", str(SEED), stdout=StringIO())
    by_name = {topic.name: topic for topic in topics}
    drawn: dict[tuple[str, str], list[dict[str, int]]] = defaultdict(list)
    rows = RankedPassage.objects.filter(run__collection=collection, run__attributes__has_key="sample")
    for run, topic, docno in rows.order_by("run", "topic", "rank").values_list(
        "run__name", "topic__topic_id", "passage_id"
    ):
        drawn[topic, run].append(by_name[topic].passages[docno])
    for (topic, run), context in drawn.items():
        by_name[topic].reports[run] = _crux_report(chance, context)
    _import(
        collection,
        [
            ReportLine(run=run, topic_id=topic, text=drawn_text(chance, chance.randint(150, 250)))
            for topic, run in drawn
        ],
    )
    study = _opened(collection, ["answerability", "rating"], depth=10)
    _judged(chance, study, topics)
    return study


def _judged(chance: Random, study: Study, topics: Sequence[SimulatedTopic]) -> None:
    """Add the judge, who errs by a grade in 15 of 100 cases."""
    rating, of_reports = study.criteria.get(name="rating"), add_report_rating(study)
    judge = simulated_rater(study, "simulated judge")
    by_name = {topic.name: topic for topic in topics}
    items = study.items.values_list(
        "pk", "task_type", "topic__topic_id", "passage__passage_id", "report__run__name", "element__element_id"
    )
    rows = []
    for pk, task_type, topic, passage, run, question in items.order_by("pk"):
        of_passage = task_type == "rating"
        truth = (by_name[topic].passages if of_passage else by_name[topic].reports)[passage or run][question]
        seen = truth + (chance.choice((-1, 1)) if chance.random() < 0.15 else 0)
        criterion = rating if of_passage else of_reports
        rows.append(NewJudgment(pk, criterion.pk, judge.pk, float(min(max(seen, 0), 5)), AT))
    add_judgments(rows)


# Which runs contexts are drawn from, with the oracle that tells what can be answered.
DRAWN_FROM = ("oracle", *(f"{retriever} + none" for retriever in RETRIEVERS))


def _crux_topic(chance: Random, name: str, *, others: int = OTHERS, depth: int = RANKED) -> SimulatedTopic:
    questions = [f"{name}/q{number:02}" for number in range(1, QUESTIONS + 1)]
    passages: dict[str, dict[str, int]] = {}
    for number in range(1, RELEVANT + others + 1):
        answered = chance.sample(questions, chance.randint(1, 4)) if number <= RELEVANT else []
        passages[f"{name}:d{number:02}"] = {
            one: chance.randint(3, 5) if one in answered else chance.choice((0, 0, 0, 1, 2)) for one in questions
        }
    table = GradeTable.from_rows(
        (passage, one, float(grade)) for passage, grades in passages.items() for one, grade in grades.items()
    )
    rankings = {"oracle": list(required_subset(table, threshold=3).required)}
    for retriever, skill in RETRIEVERS.items():
        for reranker, boost in RERANKERS.items():
            score = {
                passage: (skill + boost) * sum(grade >= 3 for grade in grades.values()) / 2 + chance.gauss(0, 2.2)
                for passage, grades in passages.items()
            }
            rankings[f"{retriever} + {reranker}"] = sorted(score, key=score.__getitem__, reverse=True)[:depth]
    size = len(rankings["oracle"])
    reports = {run: _crux_report(chance, [passages[one] for one in ranked[:size]]) for run, ranked in rankings.items()}
    reports |= {run: _report_of(chance, dict.fromkeys(questions, share)) for run, share in BY_CHANCE.items()}
    return SimulatedTopic(name, passages, rankings, reports)


# What is answered without a context: by a model alone, and by the text that the questions were made of.
BY_CHANCE = {"direct": 0.25, "summary": 0.95}


def _crux_report(chance: Random, context: Sequence[dict[str, int]]) -> dict[str, int]:
    best = {one: max(passage[one] for passage in context) for one in context[0]}
    return _report_of(chance, {one: 0.85 if grade >= 3 else 0.08 for one, grade in best.items()})


def _report_of(chance: Random, shares: dict[str, float]) -> dict[str, int]:
    """Return the grades of a report that answers each question with this probability."""
    return {
        one: chance.randint(3, 5) if chance.random() < share else chance.choice((0, 0, 1, 2))
        for one, share in shares.items()
    }


def _crux_lines(chance: Random, topics: Sequence[SimulatedTopic]) -> Iterator[Line]:
    yield CollectionLine(name=CRUX, description=SOURCE)
    for run in topics[0].reports:
        retriever = "bound" if run in BOUNDS else run.split(" + ")[0]
        yield SystemLine(name=run, attributes={"retriever": retriever})
        yield RunLine(name=run, system=run)
    for topic in topics:
        yield TopicLine(topic_id=topic.name, request=f"Report on {topic.name}: {drawn_text(chance, 12)}")
        for question in topic.reports["oracle"]:
            text = f"What is said of {chance.choice(WORDS)} and {chance.choice(WORDS)}?"
            yield RubricElementLine(topic_id=topic.name, kind="sub_question", element_id=question, text=text)
        for passage in topic.passages:
            yield PassageLine(passage_id=passage, text=drawn_text(chance, chance.randint(80, 150)))
        for run in topic.reports:
            said = sum(grade >= 3 for grade in topic.reports[run].values())
            yield ReportLine(
                run=run, topic_id=topic.name, text=drawn_text(chance, 150 + 20 * said + chance.randint(0, 80))
            )
            for rank, passage in enumerate(topic.rankings.get(run, ()), start=1):
                yield RankingLine(run=run, topic_id=topic.name, passage_id=passage, rank=rank, score=1 / rank)


# --- LONG²RAG: Tables 1 to 3, Figures 4 to 8 -------------------------------------------------------

CATEGORIES = ("factual", "explanatory", "comparative", "subjective", "methodological", "causal", "hypothetical",
              "predictive")  # fmt: skip
DOMAINS = ("history", "biology", "sports", "music", "economics", "film")
MODELS = {"model-a": 0.62, "model-b": 0.52, "model-c": 0.50, "model-d": 0.47, "model-e": 0.44, "model-f": 0.32}
EVALUATORS = {"evaluator 1": (0.92, 0.97), "evaluator 2": (0.98, 0.82)}
PEOPLE = ("simulated person 1", "simulated person 2")
VARIANTS = {"512": 0.9, "1024": 0.94, "2048": 0.96, "snippet": 0.72, "summary": 0.6, "whole": 1.0}
POINTS, QUESTIONS_EACH = 6, 4
# Its system, its attributes, and how much of the points it says.
SimulatedRun = tuple[str, dict[str, str], float]


def make_long2rag() -> Study:
    """Make six models on 32 questions, two evaluators of all points, and two people who say how points are missed."""
    chance = Random(f"{SEED}/long2rag")
    runs: dict[str, SimulatedRun] = {name: (name, {}, skill) for name, skill in MODELS.items()}
    study = _answers(chance, LONG2RAG, runs)
    missed = study.criteria.get(name="why_missed")
    grounded = study.criteria.get(name="grounded")
    people = [simulated_rater(study, name, Rater.Kind.ASSESSOR) for name in PEOPLE]
    rows = []
    items = study.items.filter(report__isnull=False).order_by("pk").values_list("pk", "report__run__name")
    for pk, run in items:
        way = 0 if chance.random() < 0.9 - MODELS[run] / 2 else chance.choice((1, 1, 2))
        for person in people:
            said = chance.random() < MODELS[run]
            rows.append(NewJudgment(pk, grounded.pk, person.pk, float(said), AT))
            if not said:
                seen = way if chance.random() < 0.8 else chance.randint(0, 2)
                rows.append(NewJudgment(pk, missed.pk, person.pk, float(seen), AT))
    add_judgments(rows)
    return study


def make_documents() -> Study:
    """Make two models on documents that were cut, shortened and left whole."""
    runs = {
        f"{model}, {variant}": (model, {"documents": variant}, MODELS[model] * share)
        for model in ("model-a", "model-d")
        for variant, share in VARIANTS.items()
    }
    return _answers(Random(f"{SEED}/documents"), DOCUMENTS, runs)


def _answers(chance: Random, name: str, runs: dict[str, SimulatedRun]) -> Study:
    """Make a study of key points in answers; a run has its system, its attributes and how much it says."""
    words: dict[str, int] = {}
    lengths: dict[tuple[str, str], int] = {}
    lines = list(_long2rag_lines(chance, name, runs, words, lengths))
    study = opened_study(lines, name, ["key_point"], key_points_in="answers", why_missed=True)
    grounded = study.criteria.get(name="grounded")
    judges = {simulated_rater(study, one): rates for one, rates in EVALUATORS.items()}
    items = study.items.filter(report__isnull=False).order_by("pk")
    rows = []
    for pk, topic, run in items.values_list("pk", "topic__topic_id", "report__run__name"):
        far = (words[topic] - 3000) / 3000
        wide = (lengths[run, topic] - 400) / 400
        said = chance.random() < runs[run][2] - 0.12 * far + 0.1 * wide
        for judge, (sensitivity, specificity) in judges.items():
            yes = chance.random() < (sensitivity if said else 1 - specificity)
            rows.append(NewJudgment(pk, grounded.pk, judge.pk, float(yes), AT))
    add_judgments(rows)
    return study


def _long2rag_lines(
    chance: Random,
    name: str,
    runs: dict[str, SimulatedRun],
    words: dict[str, int],
    lengths: dict[tuple[str, str], int],
) -> Iterator[Line]:
    """Yield the collection, and note how many words each topic's documents and each answer have."""
    yield CollectionLine(name=name, description=SOURCE)
    for system in dict.fromkeys(system for system, _, _ in runs.values()):
        yield SystemLine(name=system)
    for run, (system, attributes, _) in runs.items():
        yield RunLine(name=run, system=system, attributes=attributes)
    places = [(category, number) for category in CATEGORIES for number in range(QUESTIONS_EACH)]
    for place, (category, number) in enumerate(places):
        topic = f"{category}-{number + 1}"
        attributes = {"category": category, "domain": DOMAINS[place % len(DOMAINS)]}
        yield TopicLine(topic_id=topic, request=f"{drawn_text(chance, 12)[:-1]}?", attributes=attributes)
        texts = {f"{topic}/d{n}": drawn_text(chance, chance.randint(100, 1900)) for n in range(1, 4)}
        words[topic] = sum(len(text.split()) for text in texts.values())
        yield from (PassageLine(passage_id=passage, text=text) for passage, text in texts.items())
        for n in range(1, POINTS + 1):
            point = f"{topic}/k{n}"
            passage = list(texts)[n % 3]
            yield RubricElementLine(topic_id=topic, kind="key_point", element_id=point, text=drawn_text(chance, 10))
            quote = texts[passage].split(". ", 1)[0]
            yield ElementSpanLine(
                topic_id=topic,
                kind="key_point",
                element_id=point,
                passage_id=passage,
                quote=quote,
                start=0,
                end=len(quote),
            )
        for run in runs:
            lengths[run, topic] = chance.randint(120, 800)
            yield ReportLine(run=run, topic_id=topic, text=drawn_text(chance, lengths[run, topic]))


# --- LONG²RAG: Figure 13 --------------------------------------------------------------------------

STEPS = 20


def make_scores() -> Study:
    """Make 600 points with a score in twentieths and two people, who agree to a point as often as its score says."""
    chance = Random(f"{SEED}/scores")
    lines: list[Line] = [CollectionLine(name=SCORES, description=SOURCE)]
    for number in range(1, 21):
        topic, passage = f"question-{number:02}", f"document-{number:02}"
        lines.append(TopicLine(topic_id=topic, request=drawn_text(chance, 10)))
        lines.append(PassageLine(passage_id=passage, text=drawn_text(chance, 60)))
        quote = lines[-1].text.split(". ", 1)[0]  # type: ignore[union-attr]
        for n in range(1, 31):
            point = f"{topic}/p{n:02}"
            lines.append(
                RubricElementLine(topic_id=topic, kind="key_point", element_id=point, text=drawn_text(chance, 8))
            )
            lines.append(ElementSpanLine(topic, "key_point", point, passage, quote, start=0, end=len(quote)))
    study = opened_study(lines, SCORES, ["key_point"])
    scale = ScaleShape(
        "P(YES)", Scale.Level.INTERVAL, tuple((step / STEPS, f"{step / STEPS:g}", "") for step in range(STEPS + 1))
    )
    criterion = Criterion.objects.create(
        study=study, task_type="key_point", name="helps", question="Does it help to answer the question?",
        scale=scale.stored(), threshold=0.5, position=9,
    )  # fmt: skip
    judge = simulated_rater(study, "simulated scorer")
    people = [simulated_rater(study, name, Rater.Kind.ASSESSOR) for name in PEOPLE]
    rows = []
    for pk in study.items.order_by("pk").values_list("pk", flat=True):
        score = round(chance.random() ** 0.9 * STEPS) / STEPS
        rows.append(NewJudgment(pk, criterion.pk, judge.pk, score, AT))
        truth = chance.random() < min(1.0, score + 0.08)
        for person in people:
            said = truth if chance.random() < 0.93 else not truth
            rows.append(NewJudgment(pk, criterion.pk, person.pk, float(said), AT))
    add_judgments(rows)
    return study
