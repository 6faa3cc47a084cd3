"""The line from documents to published qrels: who wrote what a study asks about, who reviewed it, who judged it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q

from collection.judgments.rater_names import named_raters
from collection.models import Item, Judgment, Rater, Study
from collection.texts.generated import asked_texts, generated_in, own_texts
from evaluation.data.judge_provenance import making_of

REVIEWS = {
    "accepted": "accepted by a person", "edited": "edited by a person",
    "accepted unread": "accepted in a person’s name without being read",
}  # fmt: skip


@dataclass(frozen=True)
class Texts:
    """How many texts of a sort the study asks about, and how many of them a model wrote."""

    what: str
    n: int
    written: int

    @property
    def brought(self) -> int:
        """How many came with files."""
        return self.n - self.written


@dataclass(frozen=True)
class Written:
    """What one build wrote of what the study asks about; `number` is None where it was made on another site.

    `texts` counts by what they are, `reviews` by what became of them, `reviewers` by who decided.
    """

    number: int | None
    pipeline: str
    model: str
    prompts: tuple[str, ...]
    texts: Mapping[str, int]
    reviews: Mapping[str, int]
    reviewers: Mapping[str, int]


@dataclass(frozen=True)
class Judged:
    """Who judged under a criterion: `own` says what of it a model of a judge's own family wrote.

    Qrels are of all people together or of one judge (`alone`), simulated or not.
    """

    rater: str
    kind: str
    model: str
    judgments: int
    ungraded: int
    own: str
    alone: bool


@dataclass(frozen=True)
class CriterionLine:
    criterion: str
    question: str
    items: int
    raters: tuple[Judged, ...]

    @property
    def published(self) -> Iterator[tuple[str, int, str]]:
        """Yield whose qrels there are, from how many judgments, and the query that asks for them."""
        people = sum(one.judgments for one in self.raters if not one.alone)
        if people:
            yield "assessors", people, urlencode({"criterion": self.criterion})
        for one in self.raters:
            if one.alone:
                yield one.rater, one.judgments, urlencode({"criterion": self.criterion, "rater": one.rater})


@dataclass(frozen=True)
class Line:
    """All of it, in the order in which it came to be."""

    passages: int
    documents: int
    topics: int
    runs: int
    texts: tuple[Texts, ...]
    builds: tuple[Written, ...]
    criteria: tuple[CriterionLine, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def line_of(study: Study) -> Line:
    """Return how the study's judgments came to be. People are called by their names: it is for its researchers."""
    collection = study.collection
    passages = collection.passages.aggregate(n=Count("pk"), documents=Count("document_id", distinct=True))
    texts, builds = _texts(study)
    return Line(
        passages["n"], passages["documents"], collection.topics.count(), collection.runs.count(), texts, builds,
        _criteria(study),
    )  # fmt: skip


def _texts(study: Study) -> tuple[tuple[Texts, ...], tuple[Written, ...]]:
    texts, makings = [], defaultdict(list)
    here = set(study.collection.builds.values_list("pk", flat=True))
    for what, rows in asked_texts(study).items():
        made = rows.filter(attributes__has_key="generated").values_list("attributes__generated", flat=True)
        told = [said if isinstance(said, dict) else {} for said in made]
        if n := rows.count():
            texts.append(Texts(what, n, len(told)))
        for said in told:
            number = said.get("build")
            known = number if isinstance(number, int) and number in here else None
            makings[known, _said(said, "pipeline"), _said(said, "model")].append((what, said))
    return tuple(texts), tuple(
        Written(
            number,
            pipeline,
            model,
            tuple(sorted({f"{_said(one, 'prompt')} version {_said(one, 'prompt_version')}" for _, one in of})),
            # Templates ask a Counter for "items" as one of its keys.
            dict(Counter(what for what, _ in of)),
            dict(Counter(REVIEWS.get(_said(one, "review"), _said(one, "review")) for _, one in of)),
            dict(Counter(_said(one, "reviewed_by") for _, one in of if one.get("reviewed_by"))),
        )
        for (number, pipeline, model), of in sorted(makings.items(), key=lambda one: (one[0][0] or 0, *one[0][1:]))
    )


def _said(making: Mapping[str, Any], name: str) -> str:
    """Return what is told of a making; an imported file may say anything there."""
    return str(making.get(name) or "unknown")[:300]


def _criteria(study: Study) -> tuple[CriterionLine, ...]:
    raters = {rater.pk: (rater, name) for rater, name in named_raters(study, names=True)}
    judges = [rater for rater, _ in raters.values() if rater.kind == Rater.Kind.JUDGE]
    own = {one.judge.pk: one.in_words for one in own_texts(judges, generated_in(study))}
    judgments = Judgment.objects.of_study(study).order_by("criterion", "rater").values_list("criterion", "rater")
    counts = judgments.annotate(n=Count("pk"), ungraded=Count("pk", filter=Q(grade=None)))
    judged: dict[int, list[Judged]] = defaultdict(list)
    for criterion, pk, n, ungraded in counts:
        rater, name = raters[pk]
        kind = "simulation" if rater.simulated else "judge" if rater.kind == Rater.Kind.JUDGE else "person"
        judged[criterion].append(
            Judged(name, kind, making_of(rater).model, n, ungraded, own.get(pk, ""), rater in judges)
        )
    items = Item.objects.filter(study=study).order_by().values_list("task_type").annotate(n=Count("pk"))
    asked = dict(items)
    return tuple(
        CriterionLine(one.name, one.question, asked.get(one.task_type, 0), tuple(judged[one.pk]))
        for one in study.criteria.order_by("position", "pk")
    )
