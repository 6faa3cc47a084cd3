"""What was accepted becomes part of the collection: sub-questions, key points with their spans, nuggets, passages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import md5
from typing import Any

from django.db import transaction
from django.db.models import Max

from collection.banks.versions import NewEntry, entries_of, make_version
from collection.models import (
    BankVersion,
    ElementSpan,
    NuggetBank,
    Passage,
    RubricElement,
    Topic,
    User,
)
from judging.building.builds import State
from judging.building.calls import pipeline_of
from judging.building.review import UNREAD
from judging.building.sources import CannotBuild
from judging.models import Build, Product

KINDS = {kind.value: kind for kind in RubricElement.Kind}


@dataclass(frozen=True)
class Added:
    """How many were added, how many stood there with the same words, and the bank’s version if one was made."""

    new: int
    known: int
    version: BankVersion | None = None


def waiting_for_addition(build: Build) -> Any:
    """Return the accepted products of the last step that are not in the collection."""
    last = pipeline_of(build).steps[-1].name
    return build.products.filter(
        step=last, call__set_aside=False, state__in=Product.COUNTS, element=None, passage=None
    ).select_related("topic", "call", "reviewed_by")


@transaction.atomic
def add_to_collection(build: Build, *, bank: str = "", by: User | None, at: datetime) -> Added:
    """Add what was accepted and is not there. Nuggets make the next version of the bank of this name.

    Raises CannotBuild where the build is at work, where nothing is accepted, or where nuggets have no bank.
    """
    locked = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
    if locked.state in (*Build.ACTIVE, State.REVIEW):
        raise CannotBuild("The build has not come to its end: wait for it, or cancel it.")
    makes = pipeline_of(locked).makes
    products = list(waiting_for_addition(locked).order_by("topic_id", "call_id", "position"))
    if not products:
        raise CannotBuild("Nothing is accepted that is not in the collection already.")
    if makes == "passage":
        added = _add_passages(products)
    elif makes == "nugget":
        added = _add_nuggets(locked, products, bank=bank, by=by, at=at)
    else:
        added = _add_elements(products, KINDS[makes])
    Product.objects.bulk_update(products, ["element", "passage"])
    return added


def making_of(product: Product) -> dict[str, Any]:
    """Return how a product was made: what every element or passage of it carries in its attributes."""
    build, call = product.build, product.call
    prompt = build.prompts[product.step]
    unread = product.state == Product.State.ACCEPTED and product.reviews.filter(text=UNREAD).exists()
    making = {
        "build": build.pk,
        "pipeline": build.pipeline,
        "step": product.step,
        "engine": build.engine,
        "model": build.model or call.engine_identity,
        "answered_by": call.engine_identity,
        "prompt": prompt["name"],
        "prompt_version": prompt["version"],
        "prompt_hash": prompt["hash"],
        "sampling": call.sampling,
        "call": call.pk,
        "review": f"{product.state} {UNREAD}" if unread else product.state,
        "reviewed_by": product.reviewed_by.username if product.reviewed_by else "",
        "reviewed_at": product.reviewed_at.isoformat() if product.reviewed_at else "",
    }
    return making | ({"raw": product.raw} if product.state == Product.State.EDITED else {})


def _by_topic(products: Iterable[Product]) -> Mapping[Topic, list[Product]]:
    found: dict[Topic, list[Product]] = defaultdict(list)
    for product in products:
        found[product.topic].append(product)
    return found


def _add_elements(products: Sequence[Product], kind: RubricElement.Kind) -> Added:
    """Give each product its element: one of the same kind and words that is there, or a new one behind the others."""
    new = known = 0
    for topic, of_topic in _by_topic(products).items():
        there = list(topic.rubric_elements.filter(kind=kind))
        by_text = {element.text: element for element in there if not element.masked}
        taken = {element.element_id for element in there}
        position = topic.rubric_elements.filter(kind=kind).aggregate(last=Max("position"))["last"]
        position = -1 if position is None else position
        for product in of_topic:
            element = by_text.get(product.text)
            if element is None:
                position += 1
                element = RubricElement.objects.create(
                    topic=topic,
                    kind=kind,
                    element_id=_free(f"{topic.topic_id[:160]}/{_md5(product.text)}", taken),
                    position=position,
                    text=product.text,
                    importance=product.data.get("importance", ""),
                    attributes={"generated": making_of(product)},
                )
                _add_spans(element, product)
                by_text[product.text] = element
                taken.add(element.element_id)
                new += 1
            else:
                known += 1
            product.element = element
    return Added(new, known)


def _md5(text: str) -> str:
    """Return what RUBRIC names a question by, behind its topic."""
    return md5(text.strip().encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def _free(name: str, taken: set[str]) -> str:
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _add_spans(element: RubricElement, product: Product) -> None:
    """Keep where the documents say it: spans of passages whose text is held and still says that there."""
    spans = product.data.get("spans", [])
    passages = Passage.objects.filter(collection=element.topic.collection_id)
    held = {one.passage_id: one for one in passages.filter(passage_id__in=[span["docno"] for span in spans])}
    places = {(span["docno"], span["start"], span["end"]): span["quote"] for span in spans}
    good = {
        place: quote
        for place, quote in places.items()
        if (passage := held.get(place[0])) and (passage.text or "")[place[1] : place[2]] == quote
    }
    ElementSpan.objects.bulk_create(
        ElementSpan(element=element, passage=held[docno], start=start, end=end, quote=quote)
        for (docno, start, end), quote in good.items()
    )


def _add_nuggets(build: Build, products: Sequence[Product], *, bank: str, by: User | None, at: datetime) -> Added:
    """Add the nuggets as elements, and behind what the bank holds as its next version."""
    name = bank.strip() or build.pipeline
    if not name.replace("-", "").replace("_", "").isalnum() or len(name) > 100:
        raise CannotBuild(f"“{name}” is not a name of a bank: use letters, digits, - and _.")
    found, _ = NuggetBank.objects.get_or_create(collection=build.collection, name=name)
    added = _add_elements(products, RubricElement.Kind.NUGGET)
    newest = found.versions.order_by("number").last()
    held = entries_of(newest) if newest else {}
    topics: dict[int, list[NewEntry]] = {}
    for topic, of_topic in _by_topic(products).items():
        entries = list(held.get(topic.pk, []))
        there = {entry.element_id for entry in entries}
        for product in of_topic:
            assert product.element is not None  # _add_elements gave it
            if product.element.pk not in there:
                there.add(product.element.pk)
                entries.append(NewEntry(product.element.pk, product.data.get("importance", "")))
        topics[topic.pk] = entries
    version = make_version(bank=found, topics=topics, by=by, at=at, note=f"written by {build.model or build.engine}")
    return Added(added.new, added.known, version)


def _add_passages(products: Sequence[Product]) -> Added:
    """Add the passages as `topic:document#n`, n through the topic (CRUX's published code)."""
    new = known = 0
    for topic, of_topic in _by_topic(products).items():
        passages = Passage.objects.filter(collection=topic.collection_id)
        prefix = f"{topic.topic_id}:"
        there = {one.passage_id: one for one in passages.filter(passage_id__startswith=prefix)}
        by_text = {(one.document_id, one.text): one for one in there.values()}
        number = len(there)
        for product in of_topic:
            docno = product.data["docno"]
            passage = by_text.get((docno, product.text))
            if passage is None:
                while (passage_id := f"{prefix}{docno}#{number}"[-300:]) in there:
                    number += 1
                passage = Passage(
                    collection=topic.collection,
                    passage_id=passage_id,
                    text=product.text,
                    document_id=docno,
                    attributes={"generated": making_of(product)},
                )
                passage.save()
                there[passage_id] = by_text[docno, product.text] = passage
                number += 1
                new += 1
            else:
                known += 1
            product.passage = passage
    return Added(new, known)
