"""Which version of a study's guidelines somebody has read, and what a newer one says differently."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from typing import Literal

from django.db.models import OuterRef, QuerySet, Subquery

from annotate.models import GuidelineReading
from collection.judgments.compiled_sql import compiled
from collection.models import Guideline, Study, User

WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class Passage:
    """A run of words that two versions have in common, or that one of them has alone."""

    kind: Literal["same", "removed", "added"]
    words: str


@dataclass(frozen=True)
class ShownGuidelines:
    """The version in force, as one reader meets it. `last_read` is what they read before, None for their first time."""

    guideline: Guideline
    is_new: bool
    last_read: str | None

    @property
    def changes(self) -> list[list[Passage]]:
        """What changed since the reader's last version, line by line; nothing where they read none, or this one."""
        if not self.is_new or self.last_read is None:
            return []
        return changed_lines(self.last_read, self.guideline.markdown)


def shown_guidelines(*, study: int, rater: int) -> ShownGuidelines | None:
    """Return the version in force as this rater meets it; None where the study has none. One query."""
    for guideline in _newest(study=study, rater=rater):
        read = guideline.last_read  # type: ignore[attr-defined]
        return ShownGuidelines(guideline, is_new=read != guideline.version, last_read=guideline.last_words)  # type: ignore[attr-defined]
    return None


@compiled
def _newest(*, study: int, rater: int) -> QuerySet[Guideline]:
    read = Guideline.objects.filter(study=OuterRef("study"), readings__user__rater=rater).order_by("-version")
    newest = Guideline.objects.filter(study=study).order_by("-version")[:1]
    return newest.annotate(
        last_read=Subquery(read.values("version")[:1]), last_words=Subquery(read.values("markdown")[:1])
    )


def note_reading(*, study: Study, user: User, version: int, at: datetime) -> None:
    """Note that the person was shown this version. Doing it twice changes nothing."""
    for guideline in study.guidelines.filter(version=version):
        GuidelineReading.objects.get_or_create(guideline=guideline, user=user, defaults={"read_at": at})


def changed_lines(old: str, new: str) -> list[list[Passage]]:
    """Return the lines that differ, each as runs of words that stayed, went or came."""
    before, after = ([line for line in text.splitlines() if line.strip()] for text in (old, new))
    changes = []
    for kind, i, j, k, m in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind != "equal":
            changes.append(list(_words("\n".join(before[i:j]), "\n".join(after[k:m]))))
    return changes


def _words(old: str, new: str) -> Iterator[Passage]:
    before, after = WORD.findall(old), WORD.findall(new)
    for kind, i, j, k, m in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        yield from _passages(kind, before[i:j], after[k:m])


def _passages(kind: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Passage]:
    if kind == "equal":
        yield Passage("same", "".join(before))
        return
    if before:
        yield Passage("removed", "".join(before))
    if after:
        yield Passage("added", "".join(after))
