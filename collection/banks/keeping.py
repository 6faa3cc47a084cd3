"""Keeping changes to a topic's nuggets: the elements that they bring, and the bank's next version with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import md5
from itertools import count

from django.db import transaction

from collection.banks.changes import Change, Key, Standing, as_entries, changed, standing
from collection.banks.versions import entries_of, make_version
from collection.models import BankVersion, NuggetAnswer, NuggetBank, NuggetReference, RubricElement, Topic, User

MADE_BY_PEOPLE = {"is_human": True}


@transaction.atomic
def keep_changes(
    *, bank: NuggetBank, topic: Topic, changes: Sequence[Change], by: User, at: datetime, note: str = ""
) -> BankVersion | None:
    """Make the bank's next version with these changes to a topic's nuggets; None if nothing changes.

    What is worded otherwise is another element, which replaces the former one and has its answers and references. Words
    that an element of the topic has already, which is in no version now, are that element again, with what was judged
    of it. Raises DoesNotFit.
    """
    NuggetBank.objects.select_for_update().get(pk=bank.pk)
    newest = bank.versions.order_by("number").last()
    entries = entries_of(newest, topics=[topic.pk]).get(topic.pk, []) if newest else []
    elements = {one.pk: one for one in RubricElement.objects.filter(topic=topic)}
    texts = {pk: one.text for pk, one in elements.items()}
    nuggets = changed(standing(entries), changes, texts=texts)
    kind = elements[entries[0].element_id].kind if entries else RubricElement.Kind.NUGGET
    made: dict[Key, Key] = {}
    for one in nuggets:
        if one.key < 0:
            here = {other.key for other in nuggets} | set(made.values())
            made[one.key] = _element_for(one, topic, elements, kind, here).pk
    made |= {one.key: one.key for one in nuggets if one.key > 0}
    placed = [
        replace(one, key=made[one.key], parent=None if one.parent is None else made[one.parent]) for one in nuggets
    ]
    return make_version(bank=bank, topics={topic.pk: as_entries(placed)}, by=by, at=at, note=note)


def _element_for(
    nugget: Standing, topic: Topic, elements: dict[int, RubricElement], kind: str, here: set[Key]
) -> RubricElement:
    former = elements.get(nugget.replaces) if nugget.replaces else None
    kind = former.kind if former else kind
    same = (one for one in elements.values() if (one.kind, one.text, one.masked) == (kind, nugget.text, False))
    known = next((one for one in same if one.pk not in here and one.aggregator == nugget.aggregator), None)
    if known:
        return known
    taken = {one.element_id for one in elements.values() if one.kind == kind}
    name = md5(nugget.text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
    element = RubricElement.objects.create(
        topic=topic,
        kind=kind,
        element_id=next(one for n in count(1) if (one := name if n == 1 else f"{name}-{n}") not in taken),
        position=1 + max((one.position for one in elements.values() if one.kind == kind), default=-1),
        text=nugget.text,
        importance=nugget.importance,
        weight=nugget.weight,
        aggregator=nugget.aggregator,
        group=former.group if former else "",
        replaces=former,
    )
    elements[element.pk] = element
    _add_content(element, former, nugget)
    return element


def _add_content(element: RubricElement, former: RubricElement | None, nugget: Standing) -> None:
    """Give the element its former's answers and references, and the place that it is from."""
    answers: dict[int | None, NuggetAnswer | None] = {None: None}
    references = list(former.references.order_by("position")) if former else []
    for answer in former.answers.order_by("position") if former else ():
        old, answer.pk, answer._state.adding, answer.element = answer.pk, None, True, element
        answer.save()
        answers[old] = answer
    for reference in references:
        reference.pk, reference._state.adding, reference.element = None, True, element
        reference.answer = answers[reference.answer_id]
        reference.save()
    if source := nugget.source:
        NuggetReference.objects.create(
            element=element,
            position=1 + max((one.position for one in references), default=-1),
            docno=source.docno,
            start=source.start,
            end=source.end,
            quote=source.quote,
            creator=MADE_BY_PEOPLE,
        )
