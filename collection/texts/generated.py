"""What of a study's texts a model wrote: requests, elements, reports and passages that it asks about, and how."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.db.models import QuerySet, Value

from collection.models import Item, Passage, Rater, Report, RubricElement, Study, Topic
from collection.texts.model_families import families_in, families_of


@dataclass(frozen=True)
class Generated:
    """So many texts of a sort that were made in the same way; `of` counts all that the study asks about."""

    what: str
    n: int
    of: int
    pipeline: str
    model: str
    prompt: str
    prompt_version: str
    prompt_hash: str
    review: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def asked_texts(study: Study) -> dict[str, QuerySet[Any]]:
    """Return what the study asks about that a model may have written, by what it is."""
    items = Item.objects.filter(study=study).order_by()
    return {
        "requests": Topic.objects.filter(pk__in=items.values("topic")),
        "rubric elements": RubricElement.objects.filter(pk__in=items.exclude(element=None).values("element")),
        "reports": Report.objects.filter(pk__in=items.exclude(report=None).values("report")),
        "passages": Passage.objects.filter(pk__in=items.exclude(passage=None).values("passage")),
    }


def generated_in(study: Study) -> list[Generated]:
    """Return what a model wrote of what the study asks about, the most frequent making first."""
    sorts = asked_texts(study)
    made = [
        rows.filter(attributes__has_key="generated").order_by().values_list(Value(what), "attributes__generated")
        for what, rows in sorts.items()
    ]
    makings: dict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for what, said in made[0].union(*made[1:], all=True):
        makings[what][_making(said)] += 1
    return [
        Generated(what, n, of, *making)
        for what, rows in sorts.items()
        if what in makings
        for of in [rows.count()]
        for making, n in makings[what].most_common()
    ]


def _making(said: object) -> tuple[str, ...]:
    """Return how it was made; an imported file may say anything there."""
    told: Mapping[str, Any] = said if isinstance(said, dict) else {}
    names = ("pipeline", "model", "prompt", "prompt_version", "prompt_hash", "review")
    return tuple(str(told.get(name) or "unknown")[:300] for name in names)


@dataclass(frozen=True)
class OwnTexts:
    """What a judge is asked about that a model of one of its own families wrote; `n` and `of` as in Generated."""

    judge: Rater
    families: tuple[str, ...]
    makings: tuple[Generated, ...]

    @property
    def in_words(self) -> str:
        """Say how much of what the study asks about it is, and who wrote it."""
        counts: Counter[str] = Counter()
        of: dict[str, int] = {}
        for one in self.makings:
            counts[one.what] += one.n
            of[one.what] = one.of
        told = " and ".join(f"{n:,} of {of[what]:,} {what}" for what, n in counts.items())
        models = ", ".join(sorted({one.model for one in self.makings}))
        return f"{told} that this study asks about were written by {models}"

    def as_dict(self) -> dict[str, Any]:
        written = [{name: getattr(one, name) for name in ("what", "n", "of", "model")} for one in self.makings]
        return {"families": list(self.families), "written": written}


def own_texts(judges: Iterable[Rater], makings: Sequence[Generated]) -> list[OwnTexts]:
    """Return those of the judges that are of the family of a model that wrote what they are asked about."""
    written = [(one, families_in(one.model)) for one in makings]
    found = []
    for judge in judges if any(families for _, families in written) else ():
        theirs = families_of(judge)
        own = tuple(one for one, families in written if families & theirs)
        if own:
            shared = frozenset[str]().union(*(families_in(one.model) for one in own)) & theirs
            found.append(OwnTexts(judge, tuple(sorted(shared)), own))
    return found
