"""A small study of relevance whose people judged the top of what four systems rank, and a judge all of it."""

from __future__ import annotations

from collection.models import Item, Passage, RankedPassage, Rater, Run, Study, System, Topic
from tests.evaluation.judged import criterion_of, judge_items
from tests.factories import a_judge_rater, a_study

# What each system ranks, by the passage's number; people judged passages 0 to 2 alone.
RANKED = {"ash": [0, 1, 2], "birch": [1, 0, 3], "cedar": [4, 5, 0], "dogwood": [2, 3, 4]}
PEOPLE: list[float | None] = [3, 2, 0]
JUDGE: list[float | None] = [2, 2, 1, None, 3, 3]
N_TOPICS = 6


def a_study_with_holes(study: Study, people: list[Rater]) -> Study:
    """Six topics of six passages. Of passage 3 the judge's reply is unreadable; `cedar` is of the judge's family."""
    collection = study.collection
    holes = a_study(collection, name="holes", task_types=("relevance",))
    Run.objects.filter(collection=collection).delete()
    topics = [
        Topic.objects.create(collection=collection, topic_id=f"h{n}", request=f"Hole {n}?") for n in range(N_TOPICS)
    ]
    passages = [
        [Passage.objects.create(collection=collection, passage_id=f"{topic}-d{n}", text=f"{n}") for n in range(6)]
        for topic in topics
    ]
    for name, order in RANKED.items():
        family = "owl" if name == "cedar" else "tree"
        system = System.objects.create(collection=collection, name=name, family=family)
        run = Run.objects.create(collection=collection, system=system, name=name)
        RankedPassage.objects.bulk_create(
            RankedPassage(run=run, topic=topic, passage_id=of[n].passage_id, rank=rank, score=10 - rank)
            for topic, of in zip(topics, passages, strict=True)
            for rank, n in enumerate(order, start=1)
        )
    items = [
        Item(study=holes, task_type="relevance", item_id=one.passage_id, topic=topic, passage=one)
        for topic, of in zip(topics, passages, strict=True)
        for one in of
    ]
    Item.objects.bulk_create(items)
    criterion = criterion_of(holes, "relevance")
    judged = [item for place, item in enumerate(items) if place % 6 < len(PEOPLE)]
    for rater in people:
        judge_items(criterion, rater, judged, PEOPLE * N_TOPICS)
    judge = a_judge_rater(collection, "owl-7b")
    judge.attributes = {
        "family": "owl",
        "engine": "openai",
        "model": "owl-7b-instruct",
        "template": {"name": "umbrela", "version": 2, "text": "How *relevant* is {passage}?"},
    }
    judge.save()
    judge_items(criterion, judge, items, JUDGE * N_TOPICS)
    return holes
