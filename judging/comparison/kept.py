"""Where pages and the API get the figures of *Prompt versions*: a worker computes them once, and they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest

from collection.models import Criterion
from collection.web.cached_results import cached_result
from judging.comparison.figures import Comparison
from judging.models import Judge


def kept_comparison(request: HttpRequest, criterion: Criterion) -> Comparison:
    """Return how the judges that fit the criterion compare."""
    found: Comparison = _kept(request, "side_by_side", criterion, Judge.objects.fitting(criterion).order_by("pk"))
    return found


def kept_pair(request: HttpRequest, criterion: Criterion, pair: Sequence[Judge]) -> dict[str, Any]:
    """Return how these two compare: their `difference`, and `rows` and number of the items on which they differ."""
    found: dict[str, Any] = _kept(request, "two_side_by_side", criterion, pair)
    return found


def _kept(request: HttpRequest, kind: str, criterion: Criterion, judges: Any) -> Any:
    kind, shown = f"judging.comparison.computations:{kind}", request.GET.getlist("shown")
    return cached_result(kind, criterion.study, shown=shown, criterion=criterion.pk, judges=[one.pk for one in judges])
