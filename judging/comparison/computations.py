"""What workers compute for *Prompt versions, reply by reply*, each a function of a study and what was asked."""

from __future__ import annotations

from typing import Any

from collection.models import Criterion, Study
from judging.comparison.figures import Comparison, compare, difference_of, differences
from judging.data.human_labels import topics_to_compare
from judging.models import Judge


def side_by_side(study: Study, *, criterion: int, judges: list[int]) -> Comparison:  # noqa: ARG001
    """Compare the judges that fit the criterion. They are asked for by name so that a new one is not left out."""
    return compare(_criterion(study, criterion))


def two_side_by_side(study: Study, *, criterion: int, judges: list[int]) -> dict[str, Any]:
    """Return by how much one agrees more often than the other, and where they differ if there is a development part."""
    chosen, found = _criterion(study, criterion), Judge.objects.select_related("rater").in_bulk(judges)
    pair = [found[pk] for pk in judges]
    answer: dict[str, Any] = {"difference": difference_of(chosen, pair)}
    if topics_to_compare(study)[1]:
        answer["rows"], answer["differing"] = differences(chosen, pair)
    return answer


def _criterion(study: Study, pk: int) -> Criterion:
    return study.criteria.select_related("study__collection", "scale").get(pk=pk)
