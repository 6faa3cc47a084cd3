"""A fingerprint of all that a study's figures rest on: another one as soon as any of them could be."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Max, Model, Q, QuerySet

from collection.judgments.judged_criteria import read_judged
from collection.models import (
    Adjudication,
    AnswerToRevise,
    BankVersion,
    Collection,
    Criterion,
    Draw,
    ElementSpan,
    Exclusion,
    Guideline,
    Item,
    Judgment,
    Passage,
    RankedPassage,
    Rater,
    Report,
    RubricElement,
    Run,
    SplitTopic,
    Study,
    Suggestion,
    System,
    TextFlag,
    ThresholdChange,
    Topic,
)

# Whose code makes figures.
MAKERS = ("evaluation", "judging", "stats", "collection")


def fingerprint_of(study: Study) -> str:
    """Return a hash of what figures about this study rest on, and of the code that makes them.

    Judgments, exclusions, maskings, splits and readings are those of `Judged.fingerprint`, of all studies of the
    collection, for a study's judges are also held against people of another. Of what is only ever added, number and
    newest key stand for the rest; what may be changed in its place is read whole.
    """
    studies = Study.objects.filter(collection=study.collection_id)
    judged = read_judged(studies)
    seen = [
        *(fingerprint_of_code(), str(settings.DATABASES["default"]["NAME"]), study.pk),
        judged.fingerprint(judged.criteria),
        *(list(rows) for rows in _changeable(study, studies)),
        *(_extent(rows) for rows in _growing(study, studies)),
    ]
    return hashlib.sha256(repr(seen).encode()).hexdigest()


def _changeable(study: Study, studies: QuerySet[Study]) -> Iterator[Iterable[Any]]:
    """Yield what may be changed in its place."""
    of_collection = {"collection": study.collection_id}
    raters = Judgment.objects.filter(criterion__study__in=studies.order_by()).order_by().values("rater")
    yield _whole(Collection.objects.filter(pk=study.collection_id))
    yield _whole(studies)
    yield _whole(Criterion.objects.filter(study__in=studies.order_by()))
    yield _whole(Rater.objects.filter(pk__in=raters))
    yield _whole(System.objects.filter(**of_collection))
    yield _whole(Run.objects.filter(**of_collection))
    yield _whole(Topic.objects.filter(**of_collection), without=("request",))
    with_text = Count("pk", filter=~Q(text_sha256=""))  # a passage that came with its id alone may get its text
    yield [Passage.objects.filter(**of_collection).aggregate(n=Count("pk"), newest=Max("pk"), with_text=with_text)]
    elements = RubricElement.objects.filter(topic__collection=study.collection_id).exclude(masking=None)
    yield elements.order_by("pk").values_list("pk", "masking")
    items = Item.objects.filter(study__in=studies.order_by()).order_by()
    adjudications = Adjudication.objects.filter(item__in=items).order_by("pk")
    yield adjudications.values_list("pk", "grade", "note", "rater")
    suggestions = Suggestion.objects.filter(criterion__study__in=studies.order_by()).order_by()
    yield [suggestions.aggregate(n=Count("pk"), shown=Count("shown_at"), decided=Count("decided_at"))]
    yield _whole(Exclusion.objects.filter(study__in=studies.order_by()))
    yield SplitTopic.objects.filter(split__study__in=studies.order_by()).order_by("pk").values_list("pk", "part")


def _growing(study: Study, studies: QuerySet[Study]) -> Iterator[QuerySet[Any]]:
    """Yield what is only added and removed."""
    of_studies = {"study__in": studies.order_by()}
    yield RubricElement.objects.filter(topic__collection=study.collection_id)
    yield BankVersion.objects.filter(bank__collection=study.collection_id)
    yield ElementSpan.objects.filter(passage__collection=study.collection_id)
    yield Report.objects.filter(run__collection=study.collection_id)
    yield RankedPassage.objects.filter(run__collection=study.collection_id)
    yield Item.objects.filter(**of_studies)
    yield Draw.objects.filter(item__study__in=studies.order_by())
    yield Guideline.objects.filter(**of_studies)
    yield ThresholdChange.objects.filter(criterion__study__in=studies.order_by())
    yield TextFlag.objects.filter(item__study__in=studies.order_by())
    yield AnswerToRevise.objects.filter(answered__study__in=studies.order_by())


def _whole(rows: QuerySet[Any], *, without: tuple[str, ...] = ()) -> Iterable[tuple[Any, ...]]:
    model: type[Model] = rows.model
    names = [field.attname for field in model._meta.concrete_fields if field.name not in without]
    return rows.order_by("pk").values_list(*names)


def _extent(rows: QuerySet[Any]) -> tuple[int, int | None]:
    found = rows.order_by().aggregate(n=Count(F("pk")), newest=Max("pk"))
    return found["n"], found["newest"]


@cache
def fingerprint_of_code() -> str:
    """Return what differs between versions of the code: no figures of another version are shown."""
    paths = sorted(path for name in MAKERS for path in (Path(settings.BASE_DIR) / name).rglob("*.py"))
    files = ((str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    return hashlib.sha256(repr(list(files)).encode()).hexdigest()
