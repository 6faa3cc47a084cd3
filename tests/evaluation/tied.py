"""A relevance study whose runs have many tied scores, and ranks that put the tied passages the other way round."""

from __future__ import annotations

import random

import pytest

from collection.models import Collection, Item, Passage, RankedPassage, Rater, Run, Study, System, Topic
from tests.evaluation.judged import criterion_of, judge_items
from tests.factories import a_judge_rater, a_study

N_TOPICS, N_PASSAGES, N_RUNS = 12, 20, 5


def a_relevance_item(study: Study, topic: Topic, passage: Passage) -> Item:
    item_id = f"relevance/{topic.topic_id}/{passage.passage_id}"
    return Item(study=study, task_type="relevance", item_id=item_id, topic=topic, passage=passage)


def a_run_of(collection: Collection, name: str, ranking: dict[Topic, list[tuple[str, int, float]]]) -> Run:
    """A run of its own system with these passages, ranks and scores."""
    system = System.objects.create(collection=collection, name=name)
    run = Run.objects.create(collection=collection, system=system, name=name)
    RankedPassage.objects.bulk_create(
        RankedPassage(run=run, topic=topic, passage_id=docno, rank=rank, score=score)
        for topic, lines in ranking.items()
        for docno, rank, score in lines
    )
    return run


@pytest.fixture
def tied(collection: Collection, ada_as_rater: Rater) -> Study:
    """Twelve topics of twenty passages that Ada and a judge graded 0 to 3; five runs, whose scores take four values.

    The better the run, the higher it scores what is relevant. Ranks put tied passages by docno ascending.
    """
    chance = random.Random(3)
    study = a_study(collection, name="tied", task_types=("relevance",))
    collection.runs.all().delete()
    rankings: list[dict[Topic, list[tuple[str, int, float]]]] = [{} for _ in range(N_RUNS)]
    items: list[Item] = []
    by_ada: list[float | None] = []
    by_judge: list[float | None] = []
    for number in range(N_TOPICS):
        topic = Topic.objects.create(collection=collection, topic_id=f"q{number}", request="Why?")
        passages = Passage.objects.bulk_create(
            Passage(collection=collection, passage_id=f"q{number}-d{place:02}", text="So it is.")
            for place in range(N_PASSAGES)
        )
        grades = [float(chance.choice([0, 0, 0, 1, 2, 3])) for _ in passages]
        by_ada += grades
        by_judge += [chance.choice([grade, 0.0, 3.0]) for grade in grades]
        items += [a_relevance_item(study, topic, passage) for passage in passages]
        for place, ranking in enumerate(rankings):
            scored = [
                (float(round(grade * place / N_RUNS + chance.random())), passage.passage_id)
                for grade, passage in zip(grades, passages, strict=True)
                if chance.random() < 0.8
            ]
            by_rank = sorted(scored, key=lambda one: (-one[0], one[1]))
            ranking[topic] = [(docno, rank, score) for rank, (score, docno) in enumerate(by_rank, start=1)]
    Item.objects.bulk_create(items)
    judge_items(criterion_of(study, "relevance"), ada_as_rater, items, by_ada)
    judge_items(criterion_of(study, "relevance"), a_judge_rater(collection, "small-judge"), items, by_judge)
    for place, ranking in enumerate(rankings):
        a_run_of(collection, f"run{place}", ranking)
    return study
