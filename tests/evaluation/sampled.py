"""A study of which people labelled a drawn part and a judge graded all of it."""

from __future__ import annotations

import random

import pytest

from collection.models import Draw, Item, Rater, Report, RubricElement, Run, Study, System, Topic
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.factories import a_judge_rater, new_item

N_TOPICS, N_QUESTIONS, N_DRAWN = 10, 8, 60


def a_sampled_study(study: Study, raters: list[Rater]) -> Study:
    """Two systems answer 8 questions on 10 topics each; a judge grades all 160 items, people a random 60 of them."""
    chance = random.Random(5)
    criterion = criterion_of(study)
    runs = [
        Run.objects.create(
            collection=study.collection,
            system=System.objects.create(collection=study.collection, name=name, family=family),
            name=name,
        )
        for name, family in (("heron", "Wader"), ("ibis", "Stork (fictitious)"))
    ]
    items: list[Item] = []
    for number in range(N_TOPICS):
        topic = Topic.objects.create(
            collection=study.collection,
            topic_id=f"s{number}",
            request=f"Subject {number}?",
            attributes={"domain": "water" if number < 5 else "land"},
        )
        reports = [
            Report.objects.create(run=run, topic=topic, text=f"Words on {number}. " * chance.randint(3, 30))
            for run in runs
        ]
        elements = RubricElement.objects.bulk_create(
            RubricElement(
                topic=topic, kind="sub_question", element_id=f"s{number}-{place}", position=place, text="Why?"
            )
            for place in range(N_QUESTIONS)
        )
        items += [
            new_item(study, "answerability", topic=topic, element=element, text=text)
            for element in elements
            for text in reports
        ]
    Item.objects.bulk_create(items)
    truth = [
        float(chance.random() < (0.65 if item.report and item.report.run.name == "heron" else 0.35)) for item in items
    ]
    seen: list[float | None] = [1 - yes if chance.random() < 0.15 else yes for yes in truth]
    seen[0] = None
    judge_items(criterion, a_judge_rater(study.collection, "stork-7b"), items, seen)
    drawn = sorted(chance.sample(range(len(items)), N_DRAWN))
    for rater in raters:
        said: list[float | None] = [1 - truth[row] if chance.random() < 0.05 else truth[row] for row in drawn]
        judge_items(criterion, rater, [items[row] for row in drawn], said)
    Draw.objects.bulk_create(
        Draw(item=items[row], inclusion_probability=N_DRAWN / len(items), design="simple", drawn_at=AT) for row in drawn
    )
    return study


@pytest.fixture
def sampled(study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    return a_sampled_study(study, [ada_as_rater, ben_as_rater])
