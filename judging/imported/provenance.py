"""Who made grades elsewhere: model, tool, prompt and version, kept with the judge, and the files they came in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.core.exceptions import ValidationError

from collection.formats.problems import InputFile
from collection.importing.origins import sha256_of
from collection.judgments.recording import imported_rater
from collection.models import Collection, Rater
from judging.models import Judge

# What is the same for all files of a judge, as pages call it.
ABOUT = {"tool": "tool", "version": "version of the tool", "model": "model", "prompt": "prompt"}


@dataclass(frozen=True)
class Origin:
    """What is known of grades that were made elsewhere. Blank is what nobody said."""

    tool: str
    version: str = ""
    model: str = ""
    prompt: str = ""
    graded_on: date | None = None


def judge_from_elsewhere(
    collection: Collection, *, name: str, origin: Origin, file: InputFile, file_format: str, at: datetime
) -> Rater:
    """Return the collection's imported judge of this name, made if new, with this file among its files.

    What was blank of its origin is filled in; another model, tool, version or prompt is refused, for a judge never
    changes. Raises ValidationError.
    """
    if Judge.objects.filter(name=name).exists():
        raise ValidationError(
            f"“{name}” is a judge of this installation: its grades come from its jobs. Choose another name."
        )
    rater = imported_rater(collection, kind=Rater.Kind.JUDGE, name=name, source=f"{origin.tool}: {file.name}")
    if rater.origin != Rater.Origin.IMPORTED:
        raise ValidationError(f"“{name}” was not imported ({rater.get_origin_display()}). Choose another name.")
    stored: dict[str, Any] = dict(rater.attributes)
    for field, called in ABOUT.items():
        told = getattr(origin, field)
        if told and stored.get(field) and stored[field] != told:
            raise ValidationError(
                f"The {called} of “{name}” is “{_short(stored[field])}”, not “{_short(told)}”. "
                "A judge never changes: choose another name, or give the same value."
            )
        if told:
            stored[field] = told
    sha256 = sha256_of(file.path)
    files: list[dict[str, Any]] = list(stored.get("files", []))
    if sha256 not in {known["sha256"] for known in files}:
        entry = {
            "file": file.name,
            "sha256": sha256,
            "tool": origin.tool,
            "format": file_format,
            "graded_on": origin.graded_on.isoformat() if origin.graded_on else None,
            "imported_at": at.isoformat(),
        }
        stored["files"] = [*files, {key: value for key, value in entry.items() if value is not None}]
    if stored != rater.attributes:
        rater.attributes = stored
        rater.save(update_fields=["attributes"])
    return rater


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:80]}…"
