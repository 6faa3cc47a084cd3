"""A study's judgments as scores of tools for LLM applications."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice

from django.db.models import QuerySet

from collection.formats.scores.rows import SCORED_BY, RaterKind
from collection.formats.scores.tools import ScoreRow, SeveralCriteria, written_scores
from collection.judgments.rater_names import names_in_files
from collection.judgments.rationales import rationales_of
from collection.judgments.unaided import without_the_aided
from collection.models import Judgment, Passage, RankedPassage, Rater, Study
from collection.models.studies import TaskType

CHUNK = 2_000
MOST_CONTEXTS = 20


def exported_scores(study: Study, form: str, *, criterion: str = "") -> Iterator[str]:
    """Return the lines of the study's file: of all criteria, or one. Raises SeveralCriteria where the form needs one.

    UMBRELA's has judgments of passages for their topic alone, Ragas's those of reports, with the first passages of
    their run's ranking. People who judge here are numbered, as in all published files, and simulations say so in their
    name. No form has a place for the arm of a suggestion or an exclusion, so labels given or changed with a judge's
    help, and those of excluded raters, are left out.
    """
    if form == "alt_test" and not criterion:
        names = list(study.criteria.values_list("name", flat=True))
        if len(names) > 1:
            raise SeveralCriteria(f"AltTest’s file is of one criterion. Choose one of {', '.join(names)}.")
    judgments = without_the_aided(Judgment.objects.of_study(study).without_the_excluded())
    if criterion:
        judgments = judgments.filter(criterion__name=criterion)
    if form == "umbrela":
        judgments = judgments.filter(item__task_type=TaskType.RELEVANCE, item__passage__text__isnull=False)
    if form == "ragas":
        judgments = judgments.filter(item__report__isnull=False, item__other_report__isnull=True)
    return written_scores(_rows(judgments, form, names_in_files(study)), form)


def score_file(study: Study, form: str) -> str:
    """Return what the file is called: a log and AltTest's labels are one JSON value, the others a value a line."""
    return f"{study.name}-{form}.{'json' if form in ('inspect', 'alt_test') else 'jsonl'}"


def _rows(judgments: QuerySet[Judgment], form: str, called: Mapping[int, str]) -> Iterator[ScoreRow]:
    """Yield a row for each judgment; those of an item follow one another."""
    related = ("item__topic", "criterion", "rater")
    with_texts = {"umbrela": ("item__passage",), "ragas": ("item__report",)}.get(form, ())
    ordered = judgments.select_related(*related, *with_texts)
    ordered = ordered.order_by("item__item_id", "item_id", "criterion__name", "rater__kind", "rater", "id")
    contexts = lru_cache(maxsize=64)(_contexts)
    rows = ordered.iterator(CHUNK)
    while some := list(islice(rows, CHUNK)):
        reasons = _rationales(some)
        for one in some:
            item = one.item
            text = item.judged_text.text if with_texts else ""
            yield ScoreRow(
                item.item_id,
                one.criterion.name,
                one.grade,
                called[one.rater_id],
                _kind(one.rater),
                one.ungraded,
                reasons.get((one.rater_id, one.criterion_id, one.item_id), ""),
                one.judged_at.isoformat(),
                query=item.topic.request,
                text=text or "",
                contexts=contexts(item.report.run_id, item.topic_id) if form == "ragas" and item.report else (),
            )


def _kind(rater: Rater) -> RaterKind:
    if rater.kind != Rater.Kind.JUDGE:
        return "human"
    return "code" if rater.attributes.get(SCORED_BY) == "code" else "LLM"


def _rationales(judgments: list[Judgment]) -> dict[tuple[int, int, int], str]:
    """Return each judgment's reason, by rater, criterion and item."""
    asked: dict[tuple[Rater, int], list[int]] = defaultdict(list)
    criteria = {one.criterion_id: one.criterion for one in judgments}
    for one in judgments:
        asked[one.rater, one.criterion_id].append(one.item_id)
    return {
        (rater.pk, criterion, item): reason
        for (rater, criterion), items in asked.items()
        for item, reason in rationales_of(rater, criteria[criterion], items).items()
    }


def _contexts(run: int, topic: int) -> tuple[str, ...]:
    """Return the texts of the first passages that the run ranked for the topic, as far as they are here."""
    ranked = RankedPassage.objects.filter(run=run, topic=topic).order_by("rank")
    ids = list(ranked.values_list("passage_id", flat=True)[:MOST_CONTEXTS])
    stored = Passage.objects.filter(collection__runs=run, passage_id__in=ids, text__isnull=False)
    texts = dict(stored.values_list("passage_id", "text"))
    return tuple(text for one in ids if (text := texts.get(one)))
