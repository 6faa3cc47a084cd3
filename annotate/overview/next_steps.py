"""What a researcher does next in a study: the one or two things that it waits for most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from django.urls import reverse

from annotate.models import CrowdEntry, Enrolment
from annotate.review.adjudication import count_disagreements
from annotate.studies.progress import by_task_type
from collection.models import Judgment, Rater, Study
from stats.plurals import counted

MOST = 2


@dataclass(frozen=True)
class Step:
    """A thing to do: what the link or button says, why, and where it leads. `posts`: it is a button that does it."""

    does: str
    because: str
    address: str
    posts: bool = False


def next_steps(study: Study) -> tuple[Step, ...]:
    """Return the first steps, the most urgent before others; none where nothing waits."""
    return tuple(islice(_steps(study), MOST))


def _steps(study: Study) -> Iterator[Step]:
    judged_by = _judged_by(study)
    by_people, by_judges = (judged_by[kind] for kind in (Rater.Kind.ASSESSOR, Rater.Kind.JUDGE))
    page = reverse("annotate:study", args=[study.name])
    left = sum(row.places - row.submitted for row in by_task_type(study))
    if study.state == Study.State.DRAFT and not by_people:
        yield from _before_work(study, page)
        return
    if study.state == Study.State.PAUSED and left:
        does = reverse("annotate:study_open", args=[study.name])
        yield Step("Resume the study", f"{counted(left, 'places')} are left.", does, posts=True)
    if study.state == Study.State.OPEN and left:
        yield from _more_people(study, page)
    if not by_judges:
        yield Step(
            "Start a judge",
            "An LLM can grade the same items, and is then compared with people.",
            reverse("judging:jobs", args=[study.name]),
        )
    if by_people and (n := count_disagreements(study)):
        yield Step(
            f"Decide {counted(n, 'disagreements')}",
            "People say yes and no about the same item; a third person decides.",
            reverse("annotate:disagreements", args=[study.name]),
        )
    if by_people & by_judges:
        yield Step(
            "Calibrate a judge",
            "Correct its scores with what people said of the same items.",
            reverse("evaluation:calibration", args=[study.name]),
        )
    if by_people and not left:
        yield Step(
            "Publish", "Qrels, data card, and a bundle to check.", reverse("evaluation:publish", args=[study.name])
        )


def _before_work(study: Study, page: str) -> Iterator[Step]:
    if not _people(study):
        yield Step("Add people", "Nobody is in the study yet.", f"{page}#people")
    does = reverse("annotate:study_open", args=[study.name])
    yield Step("Open the study", "Then its tasks are made and given out.", does, posts=True)


def _more_people(study: Study, page: str) -> Iterator[Step]:
    """Yield that people lack, unless strangers come by an entry."""
    lacking = study.overlap - _people(study)
    if lacking > 0 and not CrowdEntry.objects.filter(study=study).exists():
        needed = f"{lacking} more {'is' if lacking == 1 else 'are'} needed"
        because = f"Each task is for {counted(study.overlap, 'assessors')}: {needed}."
        yield Step("Invite people", because, f"{page}#people")


def _people(study: Study) -> int:
    return Enrolment.objects.filter(study=study, left_at=None).count()


def _judged_by(study: Study) -> dict[str, set[int]]:
    """Return by kind of rater the criteria that were judged under."""
    criteria = list(study.criteria.values_list("pk", flat=True))
    return {
        kind: {pk for pk in criteria if Judgment.objects.filter(criterion=pk, rater__kind=kind).exists()}
        for kind in (Rater.Kind.ASSESSOR, Rater.Kind.JUDGE)
    }
