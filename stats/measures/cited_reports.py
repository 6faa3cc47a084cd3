"""Measures of cited reports: how well citations support sentences, and how much of the nuggets a report answers.

Sources: support and its weighted precision and recall, Thakur et al., Support Evaluation for the TREC 2024 RAG Track
(SIGIR 2025); shares of citations, sentences and nuggets, and their micro and macro means, Mayfield et al., On the
Evaluation of Machine-Generated Reports (ARGUE, SIGIR 2024).

A citation that is not judged is None: it is left out of every share and counted in `Score.ungraded`. A score's bounds
are those of the report as it would be judged in full, so with little judged they are far apart.

Where what is not judged decides how a sentence or a nugget counts, its report has no score (`JUDGED_IN_PART`): by some
of a sentence's citations its best seems worse than it is, “each” of them better, and by some of a report's sentences
the nuggets that are found would be all that are known. Sentences of which nothing is judged are taken to be like the
others, as they are where sentences or reports were drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from stats.intervals import (
    SHARE,
    Estimate,
    Sample,
    effective_number,
    interval,
    jackknife_error,
    mean_interval,
    undefined,
)
from stats.measures.scores import Score
from stats.measures.scores import f1 as harmonic
from stats.plurals import counted

Citations = Literal["all", "first"]

NOTHING_JUDGED = "No citation of the report is judged."
NO_SENTENCE = "The report has no sentence."
JUDGED_IN_PART = "judged in part: what is not judged of its sentences decides how they count"
# With a larger share of reports judged in part, those that are left are no fair sample of all: none has a score.
MOST_IN_PART = 0.1


@dataclass(frozen=True)
class JudgedSentence:
    """A sentence with the support of each of its citations, the strongest citation first; empty where it cites nothing.

    A support is 0–1 (none or contradicted 0, partial ½, full 1), None where the citation is not judged.
    `needs_citation`: of a sentence without one, None where nobody was asked. `holes`: the places of the citations that
    nobody can be asked about, for their documents have no text here.
    """

    support: tuple[float | None, ...]
    needs_citation: bool | None = None
    holes: frozenset[int] = frozenset()

    def askable(self, citations: Citations = "all") -> list[float | None]:
        """Return the support of the citations, or of the first one, without holes."""
        asked = _asked(self, citations)
        return [one for place, one in enumerate(asked) if place not in self.holes]


def support_of_grade(grade: float, *, threshold: float) -> float:
    """Return the support that a grade stands for: full from the threshold up, ½ above 0, else none."""
    return 1.0 if grade >= threshold else 0.5 if grade > 0 else 0.0


def weighted_precision(sentences: Sequence[JudgedSentence], *, citations: Citations = "all") -> Score:
    """Return the mean support of the judged citations, or of the first one of each sentence.

    Sentences that cite nothing are left out.
    """
    asked = [one for sentence in sentences for one in _asked(sentence, citations)]
    judged = [one for one in asked if one is not None]
    settings = {"citations": citations}
    if not asked:
        return Score(None, "The report cites nothing.", settings=settings)
    if not judged:
        return Score(None, NOTHING_JUDGED, ungraded=len(asked), settings=settings)
    return Score(fmean(judged), ungraded=len(asked) - len(judged), settings=settings)


def weighted_recall(sentences: Sequence[JudgedSentence], *, citations: Citations = "all") -> Score:
    """Return the mean over all sentences of their support: that of the best citation, or of the first.

    A sentence that cites nothing has 0, one that cites holes alone is left out. Sentences of which nothing is judged
    count as the mean of the others that cite. Undefined where a better citation than the judged ones may be left.
    """
    settings = {"citations": citations}
    if not sentences:
        return Score(None, NO_SENTENCE, settings=settings)
    unjudged = sum(one is None for sentence in sentences for one in _asked(sentence, citations))
    citing = [asked for sentence in sentences if (asked := sentence.askable(citations))]
    judged = [asked for asked in citing if any(one is not None for one in asked)]
    n_cite_nothing = sum(not sentence.support for sentence in sentences)
    if not judged and (unjudged or not n_cite_nothing):
        return Score(None, NOTHING_JUDGED, ungraded=unjudged, settings=settings)
    best = [max(one for one in asked if one is not None) for asked in judged]
    if any(None in asked and most < 1 for asked, most in zip(judged, best, strict=True)):
        return Score(None, JUDGED_IN_PART, ungraded=unjudged, settings=settings)
    mean = fmean(best) if best else 0.0
    return Score(mean * len(citing) / (len(citing) + n_cite_nothing), ungraded=unjudged, settings=settings)


@dataclass(frozen=True)
class Counts:
    """So many of so many, or so much weight of so much; `unjudged` counts what is left out of both.

    `undecided` counts what some judgments are there of, but not those that decide: with any, there is no share.
    """

    yes: int
    of: int
    unjudged: int = 0
    undecided: int = 0

    @property
    def share(self) -> float | None:
        return self.yes / self.of if self.of and not self.undecided else None

    @property
    def score(self) -> Score:
        if self.undecided:
            return Score(None, JUDGED_IN_PART, self.unjudged)
        if not self.of:
            return Score(None, NOTHING_JUDGED if self.unjudged else "There is nothing to count.", self.unjudged)
        return Score(self.share, ungraded=self.unjudged)


def citation_support(sentences: Sequence[JudgedSentence]) -> Counts:
    """Count the judged citations that support their sentence in full."""
    asked = [one for sentence in sentences for one in sentence.support]
    judged = [one for one in asked if one is not None]
    return Counts(sum(one == 1.0 for one in judged), len(judged), len(asked) - len(judged))


def sentence_support(sentences: Sequence[JudgedSentence]) -> Counts:
    """Count the sentences, with a citation or in need of one, that each of their citations supports in full.

    One that needs a citation and has none is not supported. `unjudged` counts citations; a sentence of which none is
    judged is left out. One judged citation that does not support its sentence decides; while all judged ones do and
    others are left, the sentence is undecided.
    """
    yes = of = unjudged = undecided = 0
    for sentence in sentences:
        judged = [one for one in sentence.support if one is not None]
        unjudged += len(sentence.support) - len(judged)
        full = bool(judged) and all(one == 1.0 for one in judged)
        undecided += full and len(judged) < len(sentence.askable())
        of += bool(judged) or bool(not sentence.support and sentence.needs_citation)
        yes += full
    return Counts(yes, of, unjudged, undecided)


@dataclass(frozen=True)
class AnsweredNugget:
    """Whether a report answers a nugget rightly, None where that is not judged; `importance` as its bank says it.

    `undecided`: no judged sentence answers it, and others are not judged.
    """

    rightly: bool | None
    importance: str = ""
    undecided: bool = False


def nugget_coverage(nuggets: Sequence[AnsweredNugget], *, weighted: bool = False) -> Counts:
    """Count the topic's nuggets that the report answers rightly; one that is not judged is left out.

    `weighted`: a vital nugget counts 2 and any other 1, as in Auto-ARGUE (Walden et al., arXiv 2509.26184).
    """
    weighed = [(one.rightly, WEIGHTS.get(one.importance, 1) if weighted else 1) for one in nuggets]
    return Counts(
        sum(weight for rightly, weight in weighed if rightly),
        sum(weight for rightly, weight in weighed if rightly is not None),
        sum(rightly is None for rightly, _ in weighed),
        sum(one.undecided for one in nuggets),
    )


def too_many_in_part(scores: Iterable[Score]) -> str:
    """Return why none of these reports' scores may stand: too many are judged in part. Empty where they may."""
    judged = [one for one in scores if one.value is not None or one.reason == JUDGED_IN_PART]
    in_part = sum(one.value is None for one in judged)
    if in_part <= MOST_IN_PART * len(judged):
        return ""
    return f"{in_part:,} of {counted(len(judged), 'judged reports')} {'is' if in_part == 1 else 'are'} {JUDGED_IN_PART}"


def f1(one: float | None, other: float | None) -> float | None:
    """Return the harmonic mean of two shares; 0 where both are, None where one is undefined."""
    return None if one is None or other is None else harmonic(one, other)


# --- ARGUE's figures: a share, or the F1 of two ---------------------------------------------------

WEIGHTS = {"vital": 2}
ARGUE = {
    "citation support": ("citation support",),
    "sentence support": ("sentence support",),
    "nugget coverage": ("nugget coverage",),
    "nugget coverage weighted": ("nugget coverage weighted",),
    "f1": ("sentence support", "nugget coverage"),
    "f1 weighted": ("sentence support", "nugget coverage weighted"),
}
"""ARGUE's figures by name, each with the share that it is, or the two shares whose F1 it is."""


@dataclass(frozen=True)
class Figure:
    """One of ARGUE's figures of a report, with what its shares count, from which it is pooled over topics."""

    score: Score
    counts: tuple[Counts, ...]


def argue(sentences: Sequence[JudgedSentence], nuggets: Sequence[AnsweredNugget]) -> dict[str, Figure]:
    """Return ARGUE's figures of one report, by the names of `ARGUE`.

    Bounds are the figures with what is not judged all unsupported and unanswered, and all supported and answered.
    """
    said = _shares(sentences, nuggets)
    worst, best = (_shares(*_filled(sentences, nuggets, good=good)) for good in (False, True))
    found = {}
    for name, parts in ARGUE.items():
        counts = tuple(said[part] for part in parts)
        reason = next((one.score.reason for one in counts if one.share is None), "")
        n = sum(one.unjudged for one in counts)
        ends = [_value([of[part] for part in parts]) for of in (worst, best)]
        bounds = (ends[0], ends[1]) if n and ends[0] is not None and ends[1] is not None else None
        found[name] = Figure(Score(_value(counts), reason, ungraded=n, bounds=bounds), counts)
    return found


def micro(topics: Sequence[tuple[Counts, ...]]) -> Estimate:
    """Return a figure over everything of all topics together, with its interval: each topic is left out in turn.

    Topics where one of its shares is undefined are left out.
    """
    known = [counts for counts in topics if _value(counts) is not None]
    value = _value(_pooled(known))
    if value is None:
        return undefined("It is undefined for every topic.")
    left = [_value(_pooled(known[:place] + known[place + 1 :])) for place in range(len(known))] if known[1:] else []
    error = jackknife_error([math.nan if one is None else one for one in left])
    sizes = [[counts[part].of for counts in known] for part in range(len(known[0]))]
    effective = min(effective_number(of_part) for of_part in sizes)
    n = min(sum(of_part) for of_part in sizes)
    return interval(value, error, Sample(len(known), effective=effective), within=SHARE, n=n)


def macro(topics: Sequence[tuple[Counts, ...]]) -> Estimate:
    """Return the mean of the topics' own figures; of F1 that is not the F1 of the means."""
    values = [_value(counts) for counts in topics]
    return mean_interval([value for value in values if value is not None], within=SHARE)


def _shares(sentences: Sequence[JudgedSentence], nuggets: Sequence[AnsweredNugget]) -> dict[str, Counts]:
    return {
        "citation support": citation_support(sentences),
        "sentence support": sentence_support(sentences),
        "nugget coverage": nugget_coverage(nuggets),
        "nugget coverage weighted": nugget_coverage(nuggets, weighted=True),
    }


def _value(counts: Sequence[Counts]) -> float | None:
    return counts[0].share if len(counts) == 1 else f1(counts[0].share, counts[1].share) if counts else None


def _pooled(topics: Sequence[tuple[Counts, ...]]) -> tuple[Counts, ...]:
    parts = zip(*topics, strict=True)
    return tuple(Counts(sum(one.yes for one in part), sum(one.of for one in part)) for part in parts)


def _filled(
    sentences: Sequence[JudgedSentence], nuggets: Sequence[AnsweredNugget], *, good: bool
) -> tuple[list[JudgedSentence], list[AnsweredNugget]]:
    """Return both with one answer for all that is not judged."""
    return (
        filled_sentences(sentences, float(good)),
        [AnsweredNugget(good if one.rightly is None else one.rightly, one.importance) for one in nuggets],
    )


def filled_sentences(sentences: Sequence[JudgedSentence], support: float) -> list[JudgedSentence]:
    """Return the sentences with this support wherever none is known."""
    return [
        JudgedSentence(tuple(support if one is None else one for one in sentence.support), sentence.needs_citation)
        for sentence in sentences
    ]


def bounded(measure: Callable[[Sequence[JudgedSentence]], Score], sentences: Sequence[JudgedSentence]) -> Score:
    """Return the score with its bounds: a citation that is not judged may support its sentence, or may not."""
    score = measure(sentences)
    if not score.ungraded or score.reason not in ("", JUDGED_IN_PART):
        return score
    low, high = (measure(filled_sentences(sentences, support)).value for support in (0.0, 1.0))
    return score if low is None or high is None else replace(score, bounds=(low, high))


def _asked(sentence: JudgedSentence, citations: Citations) -> tuple[float | None, ...]:
    return sentence.support[:1] if citations == "first" else sentence.support
