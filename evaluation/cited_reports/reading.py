"""Cited reports as one source of judgments sees them: each sentence with its support, and the nuggets beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from collection.models import Report, Study
from collection.texts.cited_reports import CitedReport, CitingSentence, passages_to_show
from collection.web.tables import Column, Link, Table
from evaluation.cited_reports.runs import ReportFigures, RunFigures, figures_by_run
from evaluation.data.cited_sentences import CitationGrades, judged_sentences
from evaluation.leaderboards.citations.answered_nuggets import Answered, NuggetsOfReports
from evaluation.leaderboards.citations.scores import asked_reports, citation_grades, scored
from evaluation.leaderboards.sources import JudgmentLoader, Scorer, Source
from stats.answers_in_words import citations_supported
from stats.completeness import UNMARKED, Completeness
from stats.measures.cited_reports import Counts, JudgedSentence, argue
from stats.overviews_in_words import report_supported
from stats.plurals import counted
from stats.ranking.measure_names import NoLeaderboard, parse_measure
from stats.ranking.measures.citations import Citations

# What a sentence or a citation may be, with the sign that says so without colour.
STATES = {
    "full": ("●", "supported in full"),
    "partial": ("◐", "supported in part"),
    "none": ("○", "not supported"),
    "contradicted": ("✕", "contradicted"),
    "unjudged": ("?", "not judged"),
    "hole": ("∅", "no text here, so not judged"),
    "missing": ("!", "cites nothing, but needs to"),
    "uncited": ("–", "cites nothing"),
}
SUPPORT = {1.0: "full", 0.5: "partial", 0.0: "none"}


@dataclass(frozen=True)
class ShownCitation:
    """A citation with what its source says of it. `number` is its document's, in the order of first citing."""

    number: int
    docno: str
    state: str

    @property
    def sign(self) -> str:
        return STATES[self.state][0]

    @property
    def words(self) -> str:
        return STATES[self.state][1]


@dataclass(frozen=True)
class ShownSentence:
    """A sentence with its support: that of its best judged citation. `before` stands between it and the last one."""

    number: int
    before: str
    text: str
    state: str
    citations: tuple[ShownCitation, ...]

    @property
    def sign(self) -> str:
        return STATES[self.state][0]

    @property
    def words(self) -> str:
        return STATES[self.state][1]


@dataclass(frozen=True)
class ShownDocument:
    """A cited document; without a text where it is a hole."""

    number: int
    docno: str
    title: str
    text: str | None


@dataclass(frozen=True)
class ShownNugget:
    """A rubric element with whether the source finds it answered by the report, and by which of its sentences."""

    element_id: str
    text: str
    importance: str
    answered: Answered


@dataclass(frozen=True)
class ReportRow:
    """A report in the list: its citations, how many are judged and how many have no text here, and its scores."""

    pk: int
    topic: str
    run: str
    n_sentences: int
    n_citations: int
    n_judged: int
    n_holes: int
    scores: tuple[float | None, ...]

    def cells(self, by: CitedReports) -> tuple[Any, ...]:
        """Return its row of the table of reports."""
        address = reverse("evaluation:cited_report", args=[by.study, self.pk])
        topic = Link(self.topic, f"{address}?{urlencode({'source': by.source})}", of=self.run)
        return (topic, self.run, self.n_sentences, self.n_citations, self.n_judged, self.n_holes, *self.scores)

    def as_dict(self) -> dict[str, Any]:
        counts = {"sentences": self.n_sentences, "citations": self.n_citations, "judged": self.n_judged}
        scores = dict(zip(Citations.meanings, self.scores, strict=True))
        return {"topic": self.topic, "run": self.run, **counts, "without_text": self.n_holes, "scores": scores}


@dataclass(frozen=True)
class CitedReports:
    """The reports that a study asks about, by one source. `names` are those whose judgments there are."""

    names: tuple[str, ...]
    source: str
    simulated: bool
    measures: tuple[str, ...]
    rows: tuple[ReportRow, ...]
    study: str
    runs: tuple[RunFigures, ...] = ()
    mark: Completeness = UNMARKED

    @property
    def answer(self) -> str:
        """How many citations support their sentence, over all runs; empty where none is judged."""
        of_runs = [run.shares[0].counted or Counts(0, 0) for run in self.runs]
        return citations_supported(
            self.source,
            sum(one.yes for one in of_runs),
            sum(one.of for one in of_runs),
            sum(one.unjudged for one in of_runs),
            over=counted(len({row.topic for row in self.rows if row.n_judged}), "topics"),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return what API and command give: with null where there is nothing to count."""
        return {
            "answer": self.answer,
            "sources": list(self.names),
            "source": self.source or None,
            "simulated": self.simulated,
            **self.mark.as_dict(),
            "runs": [run.as_dict() for run in self.runs],
            "reports": [row.as_dict() for row in self.rows],
        }

    def tables(self) -> dict[str, Table]:
        shares = self.runs[0].shares if self.runs else ()
        runs = [Column("run", "Run"), Column("n_topics", "Topics", "count")]
        for share in shares:
            key, name = share.name.replace(" ", "_"), share.name.capitalize()
            runs += [Column(f"{key}_counted", f"{name}: counted")] if share.counted else []
            runs += [Column(f"{key}_micro", f"{name}: micro", "estimate")]
            runs += [Column(f"{key}_macro", f"{name}: macro", "estimate"), Column(f"{key}_topics", kind="count")]
        reports = [*REPORTS, *(Column(name, name, "number") for name in self.measures)]
        return {
            "runs": Table.of("Runs", runs, (run.row() for run in self.runs)),
            "reports": Table.of("Reports", reports, (row.cells(self) for row in self.rows)),
        }


REPORTS = (
    *(Column("topic", "Topic", "link"), Column("run", "Run"), Column("sentences", "Sentences", "count")),
    *(Column("citations", "Citations", "count"), Column("judged", "Judged", "count")),
    Column("without_text", "Without text", "count"),
)


@dataclass(frozen=True)
class ReadReport:
    """One report, by one source."""

    row: ReportRow
    names: tuple[str, ...]
    source: str
    simulated: bool
    request: str
    language: str
    sentences: tuple[ShownSentence, ...]
    after: str
    documents: tuple[ShownDocument, ...]
    nuggets: tuple[ShownNugget, ...]
    support: Counts
    coverage: Counts

    @property
    def answer(self) -> str:
        """How many citations support their sentence, and how many nuggets the report answers, by this source."""
        return report_supported(self.source, self.support, self.coverage)

    @property
    def legend(self) -> list[tuple[str, str, str, int]]:
        """Each state that a sentence of the report is in, with its sign, its words and how many are in it."""
        counts = [(name, *STATES[name], sum(one.state == name for one in self.sentences)) for name in STATES]
        return [row for row in counts if row[3]]

    @property
    def scores(self) -> list[tuple[str, float | None]]:
        return list(zip(Citations.meanings, self.row.scores, strict=True))


def read_reports(study: Study, *, source: str = "") -> CitedReports:
    """Return every report that the study asks about, by a source, the first if none is named. Raises NoLeaderboard."""
    scorer, measures = Scorer.of(study), tuple(Citations.meanings)
    names, chosen = _chosen(scorer.loader, source)
    if chosen is None:
        return CitedReports(names, "", simulated=False, measures=measures, rows=(), study=study.name)
    seen = scorer.seen([chosen])
    grades = citation_grades(seen.loader, chosen)
    nuggets = NuggetsOfReports(seen, chosen)
    judged = [(report, judged_sentences(report, grades)) for report in asked_reports(seen, chosen)]
    rows = tuple(_row(report, sentences) for report, sentences in judged)
    runs = figures_by_run(
        ReportFigures(report.topic_id, report.run, argue(sentences, nuggets.of_report(report)))
        for report, sentences in judged
    )
    return CitedReports(names, chosen.name, chosen.simulated, measures, rows, study.name, runs, chosen.completeness)


def read_report(study: Study, *, report: int, source: str = "") -> ReadReport:
    """Return one report by a source. Raises NoLeaderboard where the study does not ask about it."""
    scorer = Scorer.of(study)
    names, chosen = _chosen(scorer.loader, source)
    nothing = NoLeaderboard("The study does not ask about the citations of this report.")
    if chosen is None:
        raise nothing
    seen = scorer.seen([chosen])
    found = next((one for one in asked_reports(seen, chosen) if one.pk == report), None)
    if found is None:
        raise nothing
    stored = Report.objects.select_related("topic").get(pk=report)
    grades = citation_grades(seen.loader, chosen)
    judged = judged_sentences(found, grades)
    nuggets = NuggetsOfReports(seen, chosen)
    figures = argue(judged, nuggets.of_report(found))
    numbers: dict[str, int] = {}
    for sentence in found.sentences:
        for cited in sentence.citations:
            numbers.setdefault(cited.docno, len(numbers) + 1)
    ends = [0, *(sentence.end for sentence in found.sentences)]
    return ReadReport(
        row=_row(found, judged),
        names=names,
        source=chosen.name,
        simulated=chosen.simulated,
        request=stored.topic.request,
        language=stored.topic.language,
        sentences=tuple(
            _shown(sentence, said, stored.text, before, numbers, grades)
            for before, sentence, said in zip(ends, found.sentences, judged, strict=False)
        ),
        after=stored.text[ends[-1] :],
        documents=_documents(found, numbers),
        nuggets=tuple(
            ShownNugget(one.element_id, one.text, one.importance, answered) for one, answered in nuggets.answered(found)
        ),
        support=figures["citation support"].counts[0],
        coverage=figures["nugget coverage"].counts[0],
    )


def _chosen(loader: JudgmentLoader, source: str) -> tuple[tuple[str, ...], Source | None]:
    there = loader.sources(parse_measure("citation-precision"))
    names = tuple(one.name for one in there)
    if source and source not in names:
        raise NoLeaderboard(f"Nobody called “{source}” judged citations. Choose one of: {', '.join(names) or 'none'}.")
    return names, next((one for one in there if source in ("", one.name)), None)


def _row(report: CitedReport, judged: Sequence[JudgedSentence]) -> ReportRow:
    cited = [one for sentence in report.sentences for one in sentence.citations]
    return ReportRow(
        pk=report.pk,
        topic=report.topic_id,
        run=report.run,
        n_sentences=len(report.sentences),
        n_citations=len(cited),
        n_judged=sum(one is not None for sentence in judged for one in sentence.support),
        n_holes=sum(one.passage is None for one in cited),
        scores=tuple(scored(name, list(judged)).value for name in Citations.meanings),
    )


def _shown(
    sentence: CitingSentence,
    judged: JudgedSentence,
    text: str,
    before: int,
    numbers: dict[str, int],
    grades: CitationGrades,
) -> ShownSentence:
    states = []
    for cited, support in zip(sentence.citations, judged.support, strict=True):
        if support is None:
            states.append("hole" if cited.passage is None else "unjudged")
        else:
            contradicts = grades.support[sentence.pk, cited.passage or 0] < 0
            states.append("contradicted" if contradicts else SUPPORT[support])
    citations = tuple(
        ShownCitation(numbers[cited.docno], cited.docno, state)
        for cited, state in zip(sentence.citations, states, strict=True)
    )
    return ShownSentence(
        sentence.number,
        text[before : sentence.start],
        text[sentence.start : sentence.end],
        _state_of(states, needs=judged.needs_citation),
        citations,
    )


def _state_of(states: Sequence[str], *, needs: bool | None) -> str:
    """Return the best that is said of a sentence's citations; contradicted where nothing better is said."""
    if not states:
        return "missing" if needs else "uncited"
    order = ("full", "partial", "contradicted", "none", "unjudged", "hole")
    best = min(states, key=order.index)
    return "unjudged" if best == "hole" else best


def _documents(report: CitedReport, numbers: dict[str, int]) -> tuple[ShownDocument, ...]:
    held = {cited.docno: cited.passage for sentence in report.sentences for cited in sentence.citations}
    texts = passages_to_show([passage for passage in held.values() if passage is not None])
    return tuple(
        ShownDocument(number, docno, *(texts[passage][:2] if (passage := held[docno]) is not None else ("", None)))
        for docno, number in numbers.items()
    )
