"""Who may be a member of an ensemble: a judge of this installation, or one whose grades came in from elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from collection.completeness import JudgesOfStudies
from collection.models import Collection, Criterion, Judgment, Rater, Scale, Study, User
from judging.judges.registry import BadJudge
from judging.models import EnsembleMember, Judge, PromptTemplate

OF_OTHERS = "an imported judge of a collection that is not yours"


@dataclass(frozen=True)
class ImportedMember:
    """An imported judge with a criterion under which it graded: what it grades, on which scale, and where.

    It answers what an ensemble asks of its members, as a Judge does; nothing here can ask it for a grade.
    """

    rater: Rater
    criterion: Criterion

    engine = ""
    weak = False
    template: PromptTemplate | None = None

    @property
    def name(self) -> str:
        """What forms, the API and commands call it. Judges of this installation have no stroke in their names."""
        return f"{self.criterion.study.name}/{self.criterion.name}/{self.rater.name}"

    def __str__(self) -> str:
        return self.rater.name

    @property
    def content_hash(self) -> str:
        """A hash over who it is: an imported judge never changes, though more of its grades may come in."""
        parts = json.dumps(["imported", self.criterion.study.collection.name, self.rater.name])
        return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def task_type(self) -> str:
        return self.criterion.task_type

    @property
    def criterion_name(self) -> str:
        return self.criterion.name

    @property
    def scale(self) -> Scale:
        return self.criterion.scale

    @property
    def scale_id(self) -> int:
        return self.criterion.scale_id

    @property
    def examples_from(self) -> Study:
        """The study outside whose collection it grades nothing, as a judge's examples say of it."""
        return self.criterion.study


Member = Judge | ImportedMember


def members_named(names: Sequence[str], studies: QuerySet[Study]) -> list[Member]:
    """Return the judges of these names, and the imported ones of these studies, named STUDY/CRITERION/NAME.

    Raises BadJudge, naming the one that there is not.
    """
    return [_imported(name, studies) if "/" in name else _judge(name) for name in names]


def _judge(name: str) -> Judge:
    judge = Judge.objects.select_related("rater", "template", "scale", "examples_from").filter(name=name).first()
    if judge is None:
        raise BadJudge(f"No judge is called “{name}”. An imported one is named STUDY/CRITERION/NAME.")
    return judge


def _imported(name: str, studies: QuerySet[Study]) -> ImportedMember:
    study, criterion_name, called = [*name.split("/", 2), ""][:3]
    criteria = Criterion.objects.filter(study__in=studies, study__name=study, name=criterion_name)
    criterion = criteria.select_related("study__collection", "scale").first()
    raters = Rater.objects.filter(kind=Rater.Kind.JUDGE, origin=Rater.Origin.IMPORTED, name=called)
    rater = raters.filter(collection=criterion.study.collection_id).first() if criterion else None
    if criterion is None or rater is None or not Judgment.objects.filter(criterion=criterion, rater=rater).exists():
        raise BadJudge(f"“{name}” names no imported grades: write STUDY/CRITERION/NAME, as New ensemble lists them.")
    return ImportedMember(rater, criterion)


def imported_members(found: JudgesOfStudies) -> list[ImportedMember]:
    """Return the imported judges among those that judged in some studies, once for each criterion."""
    raters = Rater.objects.filter(origin=Rater.Origin.IMPORTED, collection__isnull=False)
    by_pk = raters.in_bulk({rater for _, rater in found.found})
    criteria = Criterion.objects.select_related("study__collection", "scale").in_bulk(
        {criterion for criterion, rater in found.found if rater in by_pk}
    )
    members = [ImportedMember(by_pk[rater], criteria[pk]) for pk, rater in found.found if rater in by_pk]
    return sorted(members, key=lambda member: member.name)


def name_to(user: User, member: EnsembleMember) -> str:
    """Return the member's name as this user may read it: an imported judge is its collection's."""
    imported = member.rater
    known = imported is None or Collection.objects.of(user).filter(raters=imported).exists()
    return str(member) if known else OF_OTHERS
