"""Accepted passages become passages of the collection, and a run that ranks them for their topic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from collection.models import Passage, RankedPassage, Run, System, Topic
from judging.building.additions.making import Added, Adding, by_topic, making_of
from judging.building.sources import CannotBuild
from judging.models import Build, Product


def add_passages(products: Sequence[Product], adding: Adding) -> Added:
    """Add the passages as `topic:document#n`, n through the topic (CRUX's published code), and rank them in this order.

    The run is called like that of the documents, `NAME-passages`: it says which passages are a topic's own, P*.
    """
    new = known = 0
    run = _run_of(adding.build)
    for topic, of_topic in by_topic(products).items():
        passages = Passage.objects.filter(collection=topic.collection_id)
        prefix = f"{topic.topic_id}:"
        made = passages.filter(passage_id__startswith=prefix, passage_id__contains="#")
        there = {one.passage_id: one for one in made}
        by_text = {(one.document_id, one.text): one for one in there.values()}
        number = len(there)
        for product in of_topic:
            docno = product.data["docno"]
            passage = by_text.get((docno, product.text))
            if passage is None:
                named = prefix + docno.removeprefix(prefix)
                while (passage_id := f"{named}#{number}"[-300:]) in there:
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
        _rank(run, topic, [product.passage.passage_id for product in of_topic if product.passage])
    return Added(new, known)


def _run_of(build: Build) -> Run:
    """Return the run of what is made of these documents, made if new. Raises CannotBuild where its name is taken."""
    name = f"{build.options['documents'][:190]}-passages"
    found = Run.objects.filter(collection=build.collection, name=name).first()
    if found is None:
        system, _ = System.objects.get_or_create(collection=build.collection, name=name)
        making = {"pipeline": build.pipeline, "documents": build.options["documents"]}
        source = Run.objects.filter(collection=build.collection, name=build.options["documents"]).first()
        made: dict[str, Any] = {"name": name, "made_from": source, "attributes": {"generated": making}}
        return Run.objects.create(collection=build.collection, system=system, **made)
    if "generated" not in found.attributes:
        raise CannotBuild(
            f"The collection has a run “{name}” that no build made. Give the run of documents another name."
        )
    return found


def _rank(run: Run, topic: Topic, passages: Sequence[str]) -> None:
    """Rank these passages behind those that are ranked."""
    ranked = RankedPassage.objects.filter(run=run, topic=topic)
    there = set(ranked.values_list("passage_id", flat=True))
    fresh = [one for one in dict.fromkeys(passages) if one not in there]
    RankedPassage.objects.bulk_create(
        RankedPassage(run=run, topic=topic, passage_id=one, rank=rank, score=1 / rank)
        for rank, one in enumerate(fresh, start=len(there) + 1)
    )
