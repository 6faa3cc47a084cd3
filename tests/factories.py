"""Makes small valid rows for tests. Each function gives what a test does not care about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.timezone import now

from collection.accounts.account import make_token
from collection.models import (
    Arm,
    Collection,
    Criterion,
    ElementSpan,
    Guideline,
    Item,
    Judgment,
    Passage,
    Rater,
    Report,
    RubricElement,
    Run,
    Study,
    Suggestion,
    System,
    Topic,
    User,
)
from collection.models.texts import text_hash
from collection.questions.shapes import TASK_TYPES

PASSWORD = "correct horse battery"


def a_user(username: str, **fields: Any) -> User:
    return User.objects.create_user(username=username, password=PASSWORD, **fields)


def a_token(user: User, **fields: Any) -> str:
    """Return the key of a token that this person has just made."""
    return make_token(user=user, at=now(), **{"name": "script", "days": 7, **fields})[1]


def rater_of(user: User) -> Rater:
    """The rater that this person is, made if new."""
    rater, _ = Rater.objects.get_or_create(user=user, defaults={"kind": Rater.Kind.ASSESSOR, "name": user.username})
    return rater


def a_judge_rater(collection: Collection, name: str = "judge") -> Rater:
    return Rater.objects.create(kind=Rater.Kind.JUDGE, name=name, collection=collection)


def a_collection(*, owner: User, name: str = "bridges") -> Collection:
    """Two topics of three sub-questions and two key points, two passages each, one run with a report each."""
    collection = Collection.objects.create(name=name, title=name.title(), owner=owner)
    run = Run.objects.create(
        collection=collection, system=System.objects.create(collection=collection, name="alpha"), name="alpha-1"
    )
    topics = Topic.objects.bulk_create(
        Topic(collection=collection, topic_id=f"t{t}", title=f"Topic {t}", request=f"Report on subject {t}.")
        for t in range(2)
    )
    Report.objects.bulk_create(
        Report(run=run, topic=topic, text=text, text_sha256=text_hash(text))
        for t, topic in enumerate(topics)
        for text in [f"Fact 0 of subject {t} is here. 🌉 Fact 1 is here too.\nAnd that is all of it."]
    )
    passages = Passage.objects.bulk_create(
        Passage(
            collection=collection,
            passage_id=f"t{t}-p{p}",
            title=f"Passage {p}",
            text=text,
            text_sha256=text_hash(text),
        )
        for t in range(2)
        for p in range(2)
        for text in [f"Passage {p} says fact {p} of subject {t}. It says little else."]
    )
    elements = RubricElement.objects.bulk_create(
        RubricElement(topic=topic, kind=kind, element_id=f"t{t}-{letter}{p}", position=p, text=text.format(p=p, t=t))
        for t, topic in enumerate(topics)
        for kind, letter, n, text in (
            (RubricElement.Kind.SUB_QUESTION, "q", 3, "What is fact {p} of subject {t}?"),
            (RubricElement.Kind.KEY_POINT, "k", 2, "Fact {p} of subject {t} is known."),
        )
        for p in range(n)
    )
    key_points = [element for element in elements if element.kind == RubricElement.Kind.KEY_POINT]
    ElementSpan.objects.bulk_create(
        ElementSpan(element=key_point, passage=passage, start=0, end=len(quote), quote=quote)
        for key_point, passage in zip(key_points, passages, strict=True)
        for quote in [f"{(passage.text or '').split('.')[0]}."]
    )
    return collection


def a_study(
    collection: Collection,
    *,
    name: str = "bridges-study",
    task_types: Sequence[str] = ("answerability", "rating", "key_point"),
    **fields: Any,
) -> Study:
    """A draft study with the criteria of these task types and one guideline; no items."""
    study = Study.objects.create(collection=collection, name=name, created_by=collection.owner, **fields)
    Guideline.objects.create(study=study, version=1, markdown="Read *everything* first.")
    asked = [(task_type, criterion) for task_type in task_types for criterion in TASK_TYPES[task_type].criteria]
    Criterion.objects.bulk_create(
        Criterion(
            study=study,
            task_type=TASK_TYPES[task_type].task_type,
            name=criterion.name,
            question=criterion.question,
            scale=criterion.scale.stored(),
            threshold=criterion.threshold,
            position=position,
        )
        for position, (task_type, criterion) in enumerate(asked)
    )
    return study


def an_item(study: Study, task_type: str, *, topic: Topic, element: RubricElement, text: Report | Passage) -> Item:
    item = new_item(study, task_type, topic=topic, element=element, text=text)
    item.save()
    return item


def new_item(study: Study, task_type: str, *, topic: Topic, element: RubricElement, text: Report | Passage) -> Item:
    """The same, for whoever stores many at once."""
    return Item(
        study=study,
        task_type=task_type,
        item_id=f"{task_type}/{text}/{element.element_id}",
        topic=topic,
        element=element,
        report=text if isinstance(text, Report) else None,
        passage=text if isinstance(text, Passage) else None,
    )


def a_suggestion(
    judgment: Judgment, arm: Arm, judge: Rater, *, own: float | None = None, shown: bool = True
) -> Suggestion:
    """What the judgment's rater was shown of the judge; `own` is what they had said before."""
    at = judgment.judged_at
    return Suggestion.objects.create(
        item=judgment.item, criterion=judgment.criterion, rater=judgment.rater, arm=arm, probability=0.25, judge=judge,
        grade=1, drawn_at=at, shown_at=at if shown else None, own_grade=own,
    )  # fmt: skip
