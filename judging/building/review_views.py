"""Review of what a model wrote: read, accept, edit or reject, one or many at once, by mouse or keyboard."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from collection.accounts.views import SignedInRequest
from collection.models import Collection
from judging.building.calls import step_of
from judging.building.pipelines import MAKES
from judging.building.review import NotReviewable, decide, products_to_review, review_counts
from judging.building.review_forms import DecisionForm
from judging.models import Product, ProductReview

PRODUCTS_A_PAGE = 50


@require_http_methods(["GET", "POST"])
@login_required
@never_cache
def build_review(request: SignedInRequest, name: str, pk: int) -> HttpResponse:
    """The products of the step that is worked on; posting decides about those that are chosen."""
    collection = get_object_or_404(Collection.objects.of(request.user), name=name)
    build = get_object_or_404(collection.builds, pk=pk)
    products = products_to_review(build)
    state = request.GET.get("state", "")
    shown = products.filter(state=state) if state in Product.State.values else products
    page = Paginator(shown, PRODUCTS_A_PAGE).get_page(request.GET.get("page"))
    keys = list(products.values_list("pk", flat=True)) if request.method == "POST" else []
    form = DecisionForm(request.POST or None, keys=keys)

    if form.is_valid():
        sent = form.cleaned_data
        try:
            decide(build, sent["product"], sent["decision"], text=sent["text"], by=request.user, at=now())
        except NotReviewable as refusal:
            form.add_error(None, str(refusal))
        else:
            query = request.GET.urlencode()
            return redirect(f"{reverse('judging:build_review', args=[name, pk])}{'?' if query else ''}{query}")

    mine = dict(
        ProductReview.objects.filter(product__in=list(page), reviewer=request.user).values_list("product", "decision")
    )
    step = step_of(build)
    context = {
        "collection": collection,
        "build": build,
        "step": step,
        "makes": MAKES[step.makes],
        "page": page,
        "rows": [(product, mine.get(product.pk, "")) for product in page],
        "counts": review_counts(build, step.name),
        "states": Product.State.choices,
        "state": state,
        "form": form,
    }
    return render(request, "judging/build_review.html", context, status=422 if form.errors else 200)
