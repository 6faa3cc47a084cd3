"""The judges of a study, with how complete each is."""

from __future__ import annotations

from django.db.models import QuerySet

from collection.models import Judgment, Rater, Study
from evaluation.data.judgments import completeness_of
from stats.completeness import Completeness, complete_first


def judges_of(study: Study) -> QuerySet[Rater]:
    """Return the judges with a judgment in the study, by name."""
    judgments = Judgment.objects.of_study(study)
    return Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=judgments.values("rater")).order_by("name", "pk")


def marked_judges_of(study: Study) -> list[tuple[Rater, Completeness]]:
    """Return the same judges with how complete each is, unfinished and failing ones last."""
    known = completeness_of(study)
    judges = ((judge, known.worst_of(judge.pk)) for judge in judges_of(study))
    return complete_first(judges, of=lambda pair: pair[1])


def judges_beside(study: Study) -> QuerySet[Rater]:
    """Return the judges that judged in any study of the study's collection: its people may be held against them."""
    judgments = Judgment.objects.filter(criterion__study__collection=study.collection_id)
    return Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=judgments.values("rater")).order_by("name", "pk")
