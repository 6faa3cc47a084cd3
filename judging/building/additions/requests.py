"""An accepted request becomes its topic's."""

from __future__ import annotations

from collections.abc import Sequence

from collection.collections.requests import RequestInUse, set_requests
from judging.building.additions.making import Added, Adding, by_topic, making_of
from judging.building.sources import CannotBuild
from judging.models import Product


def add_requests(products: Sequence[Product], adding: Adding) -> Added:
    """Give each topic its request. What was its request before is added no longer. Raises CannotBuild."""
    of_topics = by_topic(products)
    if twice := next((topic for topic, found in of_topics.items() if len(found) > 1), None):
        raise CannotBuild(f"Two requests are accepted for “{twice.topic_id}”. Reject one.")
    made = {topic.pk: (found[0].text, making_of(found[0])) for topic, found in of_topics.items()}
    try:
        new = set_requests(adding.build.collection, made)
    except RequestInUse as refused:
        raise CannotBuild(str(refused)) from refused
    Product.objects.filter(request_of__in=made).update(request_of=None)
    for product in products:
        product.request_of = product.topic
    return Added(new, len(made) - new)
