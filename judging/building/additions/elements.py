"""Accepted sub-questions and key points become rubric elements, key points with their spans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from hashlib import md5

from django.db.models import Max

from collection.masking import mask_elements
from collection.models import ElementSpan, Passage, RubricElement
from judging.building.additions.making import Added, Adding, by_topic, making_of
from judging.models import Product

# What a product says of itself that its element keeps as an attribute.
KEPT = ("score",)


def add_sub_questions(products: Sequence[Product], _: Adding) -> Added:
    return add_elements(products, RubricElement.Kind.SUB_QUESTION)


def add_key_points(products: Sequence[Product], adding: Adding) -> Added:
    """Add the key points; new ones whose score is too low are masked, with the score and the threshold as reason."""
    fresh = [product for product in products if product.element is None]
    added = add_elements(products, RubricElement.Kind.KEY_POINT)
    low: dict[float, dict[int, RubricElement]] = defaultdict(dict)
    for product in fresh:
        score, element = product.data.get("score"), product.element
        if score is None or element is None or element.attributes.get("generated", {}).get("call") != product.call_id:
            continue
        if score < product.data["keep_at"]:
            low[product.data["keep_at"]][element.pk] = element
    for keep_at, elements in low.items():
        mask_elements(
            elements=elements.values(),
            reason=f"Its score as a key point, by {adding.build.model or adding.build.engine}, is below {keep_at:g}.",
            by=adding.by,
            at=adding.at,
            basis={"build": adding.build.pk, "keep_at": keep_at},
        )
    return added


def add_own_points(products: Sequence[Product], adding: Adding) -> Added:
    """Add the key points that answers make: KPP counts those of a run that a document says."""
    return add_elements(products, RubricElement.Kind.KEY_POINT, run=adding.build.options["summaries"])


def add_elements(products: Sequence[Product], kind: RubricElement.Kind, *, run: str = "") -> Added:
    """Give each product its element: one of the same kind and words that is there, or a new one behind the others.

    Elements with a `run` are that run's own, and none else's.
    """
    of = {"run": run} if run else {}
    new = known = 0
    for topic, of_topic in by_topic(products).items():
        there = list(topic.rubric_elements.filter(kind=kind))
        by_text = {
            element.text: element
            for element in there
            if not element.masked and element.attributes.get("run", "") == run
        }
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
                    element_id=free_name(f"{topic.topic_id[:160]}/{md5_of(run + product.text)}", taken),
                    position=position,
                    text=product.text,
                    importance=product.data.get("importance", ""),
                    attributes={name: product.data[name] for name in KEPT if name in product.data}
                    | of
                    | {"generated": making_of(product)},
                )
                _add_spans(element, product)
                by_text[product.text] = element
                taken.add(element.element_id)
                new += 1
            else:
                known += 1
            product.element = element
    return Added(new, known)


def md5_of(text: str) -> str:
    """Return what RUBRIC names a question by, behind its topic."""
    return md5(text.strip().encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def free_name(name: str, taken: set[str]) -> str:
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
