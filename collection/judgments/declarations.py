"""What researchers declare of a study's labels that no draw and no file says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, Min, Q

from collection.models import Draw, Judgment, RankedPassage, Rater, Study
from stats.ranking.sampled_labels import chance_of_the_top

KEPT_AS = "declared"
PEOPLE = "people"
# A declaration is doubted where chance would bring such labels more seldom.
UNLIKELY = 0.01
IRRELEVANT = "what people, or this judge, do not name is irrelevant, since …; an empty reason takes it back"
CONTRADICTION = (
    "People’s labels cannot both be a random sample of the items and name all that is relevant. Declare one of the two."
)


def declarations_of(study: Study) -> dict[str, Any]:
    """Return what is declared.

    - `random_sample`: whether the items that people labelled are a simple random sample of the study's;
    - `irrelevant`: of which sources (people, or a judge by name) what they do not name is irrelevant, and why.
    """
    kept = study.attributes.get(KEPT_AS)
    kept = kept if isinstance(kept, dict) else {}
    irrelevant = kept.get("irrelevant")
    return {
        "random_sample": bool(kept.get("random_sample")),
        "irrelevant": dict(irrelevant) if isinstance(irrelevant, dict) else {},
    }


def irrelevant_by_origin(study: Study, source: str) -> str:
    """Return why what this source does not name is irrelevant; empty where nobody declared it."""
    return str(declarations_of(study)["irrelevant"].get(source, ""))


def declared_types(study: Study) -> set[str]:
    """Return the task types of which labels are a random sample by declaration: people's, and no sample is stored."""
    if not declarations_of(study)["random_sample"]:
        return set()
    labels = Judgment.objects.filter(criterion__study=study, rater__kind=Rater.Kind.ASSESSOR, grade__isnull=False)
    samples = Draw.objects.filter(item__study=study).exclude(purpose=Draw.Purpose.ACTIVE)
    labelled = set(labels.order_by().values_list("criterion__task_type", flat=True).distinct())
    return labelled - set(samples.order_by().values_list("item__task_type", flat=True).distinct())


def doubt_about_sample(study: Study) -> str:
    """Return, in a sentence, why labels can hardly be the random sample that they are declared to be; empty: no doubt.

    The labelled passages are then the first of the runs' rankings, and no other: where a sample is random that happens
    in fewer than one of a hundred studies.
    """
    types = declared_types(study)
    judged = Judgment.objects.filter(criterion__study=study, item__passage__isnull=False, item__task_type__in=types)
    if not types or not judged.exists():
        return ""
    of_people = Q(rater__kind=Rater.Kind.ASSESSOR, grade__isnull=False)
    pairs = judged.order_by().values_list("item__topic", "item__passage__passage_id")
    labelled = {pair[:2]: bool(pair[2]) for pair in pairs.annotate(n=Count("pk", filter=of_people))}
    ranked = RankedPassage.objects.filter(topic__in={topic for topic, _ in labelled}).order_by()
    best = {row[:2]: row[2] for row in ranked.values_list("topic", "passage_id").annotate(best=Min("rank"))}
    depths = np.array([best.get(pair, np.inf) for pair in labelled])
    is_labelled = np.array(list(labelled.values()), dtype=bool)
    if chance_of_the_top(depths, is_labelled) >= UNLIKELY:
        return ""
    deepest = depths[is_labelled].max()
    return (
        f"All {is_labelled.sum():,} labelled passages are among the first {deepest:.0f} of a run, and "
        f"{(depths > deepest).sum():,} of the {len(depths):,} judged ones are not: a random sample hardly ever is. "
        "If people labelled what stands first, take the declaration back."
    )


def source_and_reason(written: str) -> tuple[str, str]:
    """Return the source and the reason in “SOURCE=REASON”. Raises ValueError."""
    source, sign, reason = written.partition("=")
    if not sign or not source.strip():
        raise ValueError(f"“{written}” is not SOURCE=REASON.")
    return source.strip(), reason.strip()


def sources_to_declare(study: Study) -> list[str]:
    """Return people, where any judged in the study, and the names of its judges."""
    raters = Rater.objects.filter(pk__in=Judgment.objects.of_study(study).order_by().values("rater"))
    found = list(raters.order_by("name").values_list("kind", "name"))
    people = [PEOPLE] if any(kind == Rater.Kind.ASSESSOR for kind, _ in found) else []
    return [*people, *dict.fromkeys(name for kind, name in found if kind == Rater.Kind.JUDGE)]


@transaction.atomic
def declare(study: Study, *, random_sample: bool | None = None, irrelevant: Mapping[str, str] | None = None) -> None:
    """Declare something of the study's labels, or take it back; None changes nothing.

    `irrelevant` has reasons by source; an empty one takes it back, and sources that are not in it do not change. Raises
    ValidationError for sources that judged nothing, and for declarations that contradict each other.
    """
    if random_sample is None and not irrelevant:
        return
    stored = Study.objects.select_for_update().get(pk=study.pk)
    declared = declarations_of(stored)
    if random_sample is not None:
        declared["random_sample"] = random_sample
    if irrelevant:
        there = sources_to_declare(stored)
        if unknown := sorted(set(irrelevant) - set(there)):
            listed = ", ".join(there) or "none yet"
            raise ValidationError(f"“{unknown[0]}” judged nothing in the study “{study.name}”. Sources: {listed}.")
        said = {**declared["irrelevant"], **{source: reason.strip() for source, reason in irrelevant.items()}}
        declared["irrelevant"] = {source: reason for source, reason in said.items() if reason}
    if declared["random_sample"] and PEOPLE in declared["irrelevant"]:
        raise ValidationError(CONTRADICTION)
    stored.attributes = {**stored.attributes, KEPT_AS: declared}
    stored.save(update_fields=["attributes"])
    study.attributes = stored.attributes
