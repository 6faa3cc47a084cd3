"""The sentences of reports as passages, so that what grades passages grades reports sentence by sentence (RUBRIC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import md5
from typing import Any

from django.db import transaction

from collection.judgments.bulk import insert_rows
from collection.models import Collection, Passage, RankedPassage, Report, Run
from collection.texts.report_sentences import reports_without_sentences
from collection.texts.sentences import found_sentences

MOST = 20
AT_ONCE = 500
SUFFIX = "-sentences"
SENTENCES_OF = "sentences_of"


class NoSentences(ValueError):
    """There are no reports to take sentences of, or a run of their name is another's."""


@dataclass(frozen=True)
class SentencePassages:
    """How many passages are new and known, how many lines of rankings are new, and the runs that rank them."""

    new: int
    known: int
    ranked: int
    runs: tuple[Run, ...]


def sentence_id(text: str) -> str:
    """Return what RUBRIC names a sentence by: the MD5 of its UTF-8 without the white space around it."""
    return md5(text.strip().encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class FoundSentences:
    """The sentences of reports: texts by id, how they were made, and the first of each run and topic, in order."""

    texts: dict[str, str]
    made_by: dict[str, Any]
    rankings: dict[tuple[int, int], list[str]]


def sentences_of_reports(collection: Collection, *, runs: Sequence[str] = (), most: int = MOST) -> FoundSentences:
    """Return the first `most` sentences of each of the runs' reports. Nothing is stored."""
    reports = Report.objects.filter(run__collection=collection).exclude(text="")
    if runs:
        reports = reports.filter(run__name__in=runs)
    by_rule = set(reports_without_sentences(collection).values_list("pk", flat=True))
    found = FoundSentences({}, {}, {})
    for report in reports.select_related("run").prefetch_related("sentences").order_by("run__name", "topic_id"):
        named = {sentence_id(text): text for text in _sentences(report, by_rule=report.pk in by_rule)}
        first = list(named)[:most]
        found.rankings[report.run_id, report.topic_id] = first
        for name in first:
            found.texts.setdefault(name, named[name])
            if "generated" in report.attributes:
                found.made_by.setdefault(name, report.attributes["generated"])
    return found


@transaction.atomic
def sentences_as_passages(collection: Collection, *, runs: Sequence[str] = (), most: int = MOST) -> SentencePassages:
    """Make each sentence of the runs' reports a passage, and of each run a ranking: the first `most` in their order.

    A sentence is one passage, however many systems said it, and stands once in a ranking. The run NAME is ranked by
    NAME-sentences, of the same system. Reports without sentences are divided by the rule for passages, which leaves
    them as they are. The same again changes nothing. Raises NoSentences.
    """
    found = sentences_of_reports(collection, runs=runs, most=most)
    if not found.texts:
        raise NoSentences("The collection has no reports to take sentences of.")
    new = _add_passages(collection, found.texts, found.made_by)
    ranking = {run.pk: _ranking_of(run) for run in Run.objects.filter(pk__in={run for run, _ in found.rankings})}
    ranked = _add_rankings(ranking, found.rankings)
    return SentencePassages(new, len(found.texts) - new, ranked, tuple(ranking.values()))


def _sentences(report: Report, *, by_rule: bool) -> list[str]:
    places = found_sentences(report.text) if by_rule else [(one.start, one.end) for one in report.sentences.all()]
    texts = [report.text[start:end].strip() for start, end in places]
    return [text for text in texts if text]


def _add_passages(collection: Collection, texts: dict[str, str], made_by: dict[str, Any]) -> int:
    names = list(texts)
    known: set[str] = set()
    for start in range(0, len(names), AT_ONCE):
        held = Passage.objects.filter(collection=collection, passage_id__in=names[start : start + AT_ONCE])
        known |= set(held.values_list("passage_id", flat=True))
    fresh = [name for name in names if name not in known]
    for name in fresh:
        making = {"generated": made_by[name]} if name in made_by else {}
        Passage(collection=collection, passage_id=name, text=texts[name], attributes=making).save()
    return len(fresh)


def _ranking_of(run: Run) -> Run:
    """Return the run that ranks the sentences of this one, made if it is new."""
    check_ranking(run.collection, run.name)
    made, _ = Run.objects.get_or_create(
        collection=run.collection,
        name=_ranking_name(run.name),
        defaults={"system": run.system, "attributes": {SENTENCES_OF: run.name}},
    )
    return made


def _ranking_name(run: str) -> str:
    return f"{run[: 200 - len(SUFFIX)]}{SUFFIX}"


def check_ranking(collection: Collection, run: str) -> None:
    """Raise NoSentences where another run has the name of the one that would rank this run's sentences."""
    name = _ranking_name(run)
    made = Run.objects.filter(collection=collection, name=name).first()
    if made is not None and made.attributes.get(SENTENCES_OF) != run:
        raise NoSentences(f"There is a run “{name}” that does not rank the sentences of “{run}”. Rename it.")


def _add_rankings(runs: dict[int, Run], rankings: dict[tuple[int, int], list[str]]) -> int:
    there = set(RankedPassage.objects.filter(run__in=runs.values()).values_list("run_id", "topic_id").distinct())
    rows = [
        (runs[run].pk, topic, name, rank, 1 / rank)
        for (run, topic), names in rankings.items()
        if (runs[run].pk, topic) not in there
        for rank, name in enumerate(names, start=1)
    ]
    insert_rows(RankedPassage, ("run", "topic", "passage_id", "rank", "score"), rows)
    return len(rows)
