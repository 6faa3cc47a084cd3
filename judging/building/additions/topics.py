"""What was accepted about topics becomes attributes of them, by which frames draw; new questions become topics."""

from __future__ import annotations

from collections.abc import Sequence

from collection.models import Item, Topic
from collection.models.studies import TaskType
from collection.question_categories import CATEGORY, SEED, category_of
from judging.building.additions.elements import free_name, md5_of
from judging.building.additions.making import Added, Adding, by_topic, making_of
from judging.building.sources import CannotBuild
from judging.building.topic_attributes import NoAttribute, attributes_in
from judging.models import Product

# Where a topic keeps how its attributes were made, and what stood there before.
MAKING = "generated_attributes"


def add_topic_attributes(products: Sequence[Product], _: Adding) -> Added:
    """Give the topics the attributes; what they had under these names is kept with their making. Raises CannotBuild."""
    grouped = by_topic(products)
    topics = Topic.objects.select_for_update().filter(pk__in=[topic.pk for topic in grouped]).order_by("pk")
    held = {topic.pk: topic for topic in topics}
    asked = Item.objects.filter(topic__in=held, task_type=TaskType.QUESTION_FIT)
    judged = set(asked.values_list("topic_id", flat=True))
    new = known = 0
    for found, of_topic in grouped.items():
        topic = held[found.pk]
        for product in of_topic:
            try:
                said = attributes_in(product.data["attribute"], product.text)
            except NoAttribute as wrong:
                raise CannotBuild(
                    f"“{product.text}” of topic {topic.topic_id}: {wrong}. Edit it in the review."
                ) from wrong
            held_as = category_of(topic.attributes)
            if topic.pk in judged and said.get(CATEGORY, held_as) != held_as:
                raise CannotBuild(
                    f"A study asks how well the question of topic {topic.topic_id} fits its category, “{held_as}”, "
                    f"so it keeps that one: reject “{product.text}” in the review."
                )
            if all(topic.attributes.get(name) == value for name, value in said.items()):
                known += 1
            else:
                before = {name: topic.attributes[name] for name in said if name in topic.attributes}
                making = making_of(product) | ({"before": before} if before else {})
                makings = topic.attributes.get(MAKING, {}) | dict.fromkeys(said, making)
                topic.attributes = topic.attributes | said | {MAKING: makings}
                new += 1
            product.became_topic = topic
    Topic.objects.bulk_update(held.values(), ["attributes"], batch_size=500)
    return Added(new, known)


def add_questions(products: Sequence[Product], adding: Adding) -> Added:
    """Make a topic of each question that the collection does not ask yet, with its category, domain and seed."""
    collection = adding.build.collection
    held = list(Topic.objects.filter(collection=collection).order_by("pk"))
    by_text = {topic.request.strip().casefold(): topic for topic in held}
    taken = {topic.topic_id for topic in held}
    new = known = 0
    for product in products:
        topic = by_text.get(product.text.strip().casefold())
        if topic is None:
            said = {**product.data["attributes"], SEED: product.topic.topic_id, "way": product.data["way"]}
            topic = Topic.objects.create(
                collection=collection,
                topic_id=free_name(f"{product.topic.topic_id[:160]}/{md5_of(product.text)}", taken),
                request=product.text,
                attributes=said | {"generated": making_of(product)},
            )
            by_text[product.text.strip().casefold()] = topic
            taken.add(topic.topic_id)
            new += 1
        else:
            known += 1
        product.became_topic = topic
    return Added(new, known)
