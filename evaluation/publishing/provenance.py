"""What published files say of where they come from: code, study, scale, guidelines, raters, each with its hash."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import Count, QuerySet

from collection.judgments.declarations import declarations_of, declared_types
from collection.models import Criterion, Exclusion, Guideline, Item, Judgment, Rater, Study
from collection.models.texts import text_hash
from collection.texts.generated import Generated, generated_in, own_texts
from evaluation.data.topic_sample import topic_sample_of
from stats.agreement.report import plain_grade


def hash_of(found: Any) -> str:
    """Return the SHA-256 of what JSON can say of it, in one way of writing JSON."""
    canonical = json.dumps(found, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


@cache
def code_version() -> dict[str, str | None]:
    """Return the version of this code, and its git commit where it runs from a checkout."""
    return {"assize": settings.VERSION, "commit": git_commit(Path(settings.BASE_DIR) / ".git")}


def git_commit(folder: Path) -> str | None:
    """Return the commit that is checked out, read from git's own files; None where this is no checkout."""
    try:
        head = (folder / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head or None
        ref = head.removeprefix("ref: ")
        if (folder / ref).exists():
            return (folder / ref).read_text().strip()
        packed = (folder / "packed-refs").read_text()
    except OSError:
        return None
    found = re.search(rf"^([0-9a-f]+) {re.escape(ref)}$", packed, re.MULTILINE)
    return found.group(1) if found else None


def requirement_versions() -> dict[str, str]:
    """Return the installed version of each package that Assize requires."""
    listed = (settings.BASE_DIR / "requirements.txt").read_text()
    names = sorted(set(re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==", listed, re.MULTILINE)), key=str.lower)
    installed = {_plain(found.metadata["Name"]): found.version for found in metadata.distributions()}
    return {name: installed[_plain(name)] for name in names if _plain(name) in installed}


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def about_study(study: Study) -> dict[str, Any]:
    """Return what the study is, with its collection and what is declared of its labels, as far as that counts."""
    collection, sample, generated = study.collection, topic_sample_of(study), generated_in(study)
    declared = {**declarations_of(study), "random_sample": bool(declared_types(study))}
    return {
        "name": study.name,
        "title": study.title,
        "overlap": study.overlap,
        **({"topics": str(sample)} if sample else {}),
        **({"frame": study.frame} if study.frame else {}),
        **({"declared": declared} if any(declared.values()) else {}),
        **({"generated": [one.as_dict() for one in generated]} if generated else {}),
        "collection": {"name": collection.name, "title": collection.title, "licence": collection.licence},
    }


def about_criterion(criterion: Criterion) -> dict[str, Any]:
    """Return what is asked under the criterion, with its scale and hashes, and how its threshold was moved."""
    scale = criterion.scale
    asked = {
        "name": criterion.name,
        "task_type": criterion.task_type,
        "question": criterion.question,
        "threshold": plain_grade(criterion.threshold),
        "scale": {"name": scale.name, "level": scale.level, "points": scale.points, "sha256": scale.content_hash},
    }
    changes = [
        {
            "before": plain_grade(change.before),
            "after": plain_grade(change.after),
            "changed_at": change.changed_at.isoformat(),
        }
        for change in criterion.threshold_changes.all()
    ]
    return {**asked, "sha256": hash_of(asked), "threshold_changes": changes}


def about_guidelines(study: Study, judgments: QuerySet[Judgment]) -> list[dict[str, Any]]:
    """Return the study's guideline versions, oldest first, with how many of the judgments were made under each."""
    times = dict(judgments.order_by().values_list("guideline").annotate(Count("pk")))
    return [
        {
            "version": guideline.version,
            "sha256": text_hash(guideline.markdown),
            "judgments": times.get(guideline.pk, 0),
        }
        for guideline in Guideline.objects.filter(study=study).order_by("version")
    ]


def about_rater(rater: Rater, name: str, generated: Sequence[Generated] = ()) -> dict[str, Any]:
    """Return who the rater is. What tells a person from others stays out: only judges' and simulations' details.

    Of a judge it says what of the study's `generated` texts a model of its own family wrote.
    """
    about: dict[str, Any] = {
        "name": name,
        "kind": rater.kind,
        "origin": rater.origin,
        "simulated": rater.simulated,
        "sha256": rater.content_hash,
    }
    if rater.kind == Rater.Kind.JUDGE or rater.simulated:
        about |= {"source": rater.source, "attributes": rater.attributes}
    if rater.kind == Rater.Kind.JUDGE and (own := own_texts([rater], generated)):
        about["same_family_as_writer"] = own[0].as_dict()
    return about


def about_exclusions(exclusions: Sequence[Exclusion], called: dict[int, str], *, names: bool) -> list[dict[str, Any]]:
    """Return who is excluded and since when; why, only with names, for a reason is free text about a person."""
    return [
        {
            "name": called.get(exclusion.rater_id, "somebody without judgments"),
            "excluded_at": exclusion.excluded_at.isoformat(),
            **({"reason": exclusion.reason} if names else {}),
        }
        for exclusion in exclusions
    ]


def items_hash(study: Study, task_type: str) -> str:
    """Return a hash over the items of a task type and the hashes of their texts."""
    rows = Item.objects.filter(study=study, task_type=task_type).values_list(
        "item_id", "passage__text_sha256", "report__text_sha256", "other_report__text_sha256"
    )
    digest = hashlib.sha256()
    for row in sorted(tuple(cell or "" for cell in row) for row in rows.iterator(chunk_size=10_000)):
        digest.update(("\t".join(row) + "\n").encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
