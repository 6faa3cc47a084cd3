"""How raters are called in what is published: judges by their names, people by numbers unless names are asked for."""

from __future__ import annotations

from collections import Counter

from django.db.models import QuerySet

from collection.completeness import judges_of_studies
from collection.models import Judgment, Rater, Study
from evaluation.data.judgments import distinct_names
from stats.completeness import Completeness, complete_first


def study_raters(study: Study) -> list[Rater]:
    """Return everybody with a judgment in the study, excluded or not, in the order in which they were stored."""
    judgments = Judgment.objects.of_study(study)
    return list(Rater.objects.filter(pk__in=judgments.values("rater")).order_by("pk"))


def judges_of(study: Study) -> QuerySet[Rater]:
    """Return the judges with a judgment in the study, by name."""
    judgments = Judgment.objects.of_study(study)
    return Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=judgments.values("rater")).order_by("name", "pk")


def marked_judges_of(study: Study) -> list[tuple[Rater, Completeness]]:
    """Return the same judges with how complete each is, unfinished and failing ones last."""
    known = judges_of_studies([study])
    judges = ((judge, known.worst_of(judge.pk)) for judge in judges_of(study))
    return complete_first(judges, of=lambda pair: pair[1])


def judges_beside(study: Study) -> QuerySet[Rater]:
    """Return the judges that judged in any study of the study's collection: its people may be held against them."""
    judgments = Judgment.objects.filter(criterion__study__collection=study.collection_id)
    return Rater.objects.filter(kind=Rater.Kind.JUDGE, pk__in=judgments.values("rater")).order_by("name", "pk")


def published_names(study: Study, *, names: bool = False) -> dict[int, str]:
    """Return a name for each of the study's raters, by primary key; no two share one.

    Without `names`, people are "assessor 1", "assessor 2", …: in the order in which they were stored, with the excluded
    among them, so that a number means the same person in every file of the study. Judges and simulations are no
    people and keep their names.
    """
    raters = study_raters(study)
    if names:
        return dict(zip((rater.pk for rater in raters), distinct_names(raters), strict=True))
    called: dict[int, str] = {}
    n_people = 0
    for rater, own in zip(raters, distinct_names(raters), strict=True):
        if rater.kind == Rater.Kind.ASSESSOR and not rater.simulated:
            n_people += 1
            called[rater.pk] = f"assessor {n_people}"
        else:
            called[rater.pk] = own
    times = Counter(called.values())
    return {pk: name if times[name] == 1 else f"{name} ({pk})" for pk, name in called.items()}
