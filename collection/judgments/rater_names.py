"""How raters are called in what is published: judges by name, people who judge here by number unless asked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from collection.models import Judgment, Rater, Study


def distinct_names(raters: Iterable[Rater]) -> list[str]:
    """Return the raters' names; where two share one, with what tells them apart."""
    raters = list(raters)
    names = [rater.name for rater in raters]
    return [
        rater.name if names.count(rater.name) == 1 else f"{rater.name} ({rater.get_kind_display()} {rater.pk})"
        for rater in raters
    ]


def study_raters(study: Study) -> list[Rater]:
    """Return everybody with a judgment in the study, excluded or not, in the order in which they were stored."""
    judgments = Judgment.objects.of_study(study)
    return list(Rater.objects.filter(pk__in=judgments.values("rater")).order_by("pk"))


def published_names(study: Study, *, names: bool = False) -> dict[int, str]:
    """Return a name for each of the study's raters, by primary key; no two share one.

    Without `names`, people who judged here are "assessor 1", "assessor 2", …: in the order in which they were stored,
    with the excluded among them, so that a number means the same person in every file of the study. Who came in with a
    file keeps the name that was given at the import; judges and simulations keep theirs too.
    """
    return {rater.pk: name for rater, name in named_raters(study, names=names)}


def named_raters(study: Study, *, names: bool = False) -> list[tuple[Rater, str]]:
    """Return the study's raters with what `published_names` calls them."""
    raters = study_raters(study)
    if names:
        return list(zip(raters, distinct_names(raters), strict=True))
    called: list[tuple[Rater, str]] = []
    n_people = 0
    for rater, own in zip(raters, distinct_names(raters), strict=True):
        came_in = rater.origin == Rater.Origin.IMPORTED
        if rater.kind == Rater.Kind.ASSESSOR and not rater.simulated and not came_in:
            n_people += 1
            called.append((rater, f"assessor {n_people}"))
        else:
            called.append((rater, own))
    times = Counter(name for _, name in called)
    return [(rater, name if times[name] == 1 else f"{name} ({rater.pk})") for rater, name in called]


def names_in_files(study: Study) -> dict[int, str]:
    """Return what raters are called in files of other formats, by primary key.

    They are called as `published_names` calls them; simulations say that they are.
    """
    return {rater.pk: f"{name} (simulated)" if rater.simulated else name for rater, name in named_raters(study)}
