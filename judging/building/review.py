"""What people make of what a model wrote: accepted, edited or rejected, by whom and when. The raw row stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, QuerySet

from collection.models import User
from judging.building.builds import reviewable
from judging.models import Build, Product, ProductReview

State = Product.State
MOST_CHARACTERS = 20_000
# What stands in an acceptance by which nobody read anything.
UNREAD = ProductReview.UNREAD


class NotReviewable(ValueError):
    """This cannot be decided, or not now; the message says why."""


@dataclass(frozen=True)
class ReviewCounts:
    """How many products are in each state, and how often two people who decided about the same one agreed."""

    proposed: int
    accepted: int
    edited: int
    rejected: int
    seen_by_two: int
    agreed: int

    @property
    def total(self) -> int:
        return self.proposed + self.accepted + self.edited + self.rejected

    @property
    def counting(self) -> int:
        """How many count."""
        return self.accepted + self.edited


def products_to_review(build: Build) -> QuerySet[Product]:
    """Return what may be decided about now, in the order in which it is read."""
    products = build.products.filter(reviewable(build)).select_related("topic", "reviewed_by", "call")
    return products.order_by("topic_id", "call_id", "position")


@transaction.atomic
def decide(
    build: Build,
    products: Sequence[int],
    decision: str,
    *,
    text: str | None = None,
    unread: bool = False,
    by: User,
    at: datetime,
) -> int:
    """Store one person's decision about these products, and what follows for each. Returns how many were decided.

    An edit is about one product and has its new text; `unread` says that nobody read what is accepted. Where two
    people are wanted, a product counts once two agree on what becomes of it; until then it stays proposed. What is in
    the collection already stays as it is. Raises NotReviewable.
    """
    if decision not in State.values:
        raise NotReviewable(f"“{decision}” is not a decision. Use {', '.join(State.values)}.")
    if decision == State.EDITED:
        text = (text or "").strip()
        if len(products) != 1 or not text:
            raise NotReviewable("An edit needs one product and its new text.")
        if len(text) > MOST_CHARACTERS:
            raise NotReviewable(f"A text may have at most {MOST_CHARACTERS:,} characters.")
    locked = Build.objects.select_for_update(no_key=True).get(pk=build.pk)
    rows = list(products_to_review(locked).filter(pk__in=list(products)))
    if len(rows) < len(set(products)):
        raise NotReviewable("Some of these cannot be decided now: their step was done again, or another has begun.")
    if any(row.is_added for row in rows):
        raise NotReviewable("Some of these are in the collection already. Change them there.")
    if decision == State.PROPOSED:
        ProductReview.objects.filter(product__in=rows, reviewer=by).delete()
    else:
        said = text if decision == State.EDITED else UNREAD if unread else ""
        ProductReview.objects.bulk_create(
            (
                ProductReview(product=row, reviewer=by, decision=decision, text=said or "", decided_at=at)
                for row in rows
            ),
            update_conflicts=True,
            unique_fields=["product", "reviewer"],
            update_fields=["decision", "text", "decided_at"],
        )
    for row in rows:
        _settle(row, reviewers=locked.reviewers)
    Product.objects.bulk_update(rows, ["state", "text", "reviewed_by", "reviewed_at"])
    return len(rows)


def _settle(product: Product, *, reviewers: int) -> None:
    """Set what the product is by the last words of its readers."""
    reviews = list(product.reviews.order_by("-decided_at", "-pk"))
    same: dict[tuple[str, str], list[ProductReview]] = {}
    for review in reviews:
        same.setdefault((review.decision, review.text), []).append(review)
    agreed = next((said for said in same.values() if len(said) >= reviewers), None)
    if agreed is None:
        product.state, product.text, product.reviewed_by, product.reviewed_at = State.PROPOSED, product.raw, None, None
        return
    newest = agreed[0]
    product.state = newest.decision
    product.text = newest.text if newest.decision == State.EDITED else product.raw
    product.reviewed_by, product.reviewed_at = newest.reviewer, newest.decided_at


def review_counts(build: Build, step: str) -> ReviewCounts:
    """Count what became of a step's products."""
    products = build.products.filter(step=step, call__set_aside=False).order_by()
    by_state = dict(products.values_list("state").annotate(Count("pk")))
    pairs = ProductReview.objects.filter(product__in=products).values_list("product", "decision", "text")
    words: dict[int, list[tuple[str, str]]] = {}
    for product, decision, text in pairs:
        words.setdefault(product, []).append((decision, text))
    both = [said for said in words.values() if len(said) > 1]
    return ReviewCounts(
        **{state: by_state.get(state, 0) for state in State.values},
        seen_by_two=len(both),
        agreed=sum(len(set(said)) == 1 for said in both),
    )
