"""Key points of builds with their scores, and what people decided about each in the review."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from django.db.models import Count, Max

from collection.models import Collection
from judging.models import Product, ProductReview


def scored_builds_of(collection: Collection) -> dict[int, str]:
    """Return the builds whose key points have scores and were reviewed, with what wrote these, by their numbers."""
    products = _scored(collection).filter(reviews__isnull=False).order_by("build").distinct()
    rows = products.values_list("build", "build__model", "build__engine")
    return {build: model or engine for build, model, engine in rows}


def reviewed_points_of(collection: Collection, build: int) -> list[dict[str, Any]]:
    """Return the scored key points of the build: `topic` by its key, `score`, `said` by reviewer, True to keep it.

    An edit keeps a point. What was accepted unread says nothing, nor do words on a point that not all reviewers whom
    the build wants have read: until then each sees their own alone.
    """
    said: dict[int, dict[str, bool]] = defaultdict(dict)
    points = _scored(collection).filter(build=build)
    reviews = ProductReview.objects.filter(product__in=points).exclude(text=ProductReview.UNREAD)
    for product, who, decision in reviews.values_list("product", "reviewer__username", "decision"):
        said[product][who] = decision in Product.COUNTS
    rows = points.order_by("pk").values_list("pk", "topic", "data", "build__reviewers")
    return [
        {"topic": topic, "score": data["score"], "said": said[pk] if len(said[pk]) >= reviewers else {}}
        for pk, topic, data, reviewers in rows
    ]


def state_of_reviews(collection: Collection) -> str:
    """Return what changes whenever what people decided about scored key points does."""
    found = _scored(collection).aggregate(
        points=Count("pk", distinct=True), n=Count("reviews"), at=Max("reviews__decided_at")
    )
    return f"{found['points']} {found['n']} {found['at']}"


def _scored(collection: Collection) -> Any:
    products = Product.objects.filter(build__collection=collection, call__set_aside=False)
    return products.filter(data__has_key="score", data__score__isnull=False)
