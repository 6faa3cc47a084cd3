"""Reports about systems: leaderboards by one measure and by several, and how far measures give the same order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from django.http import HttpRequest, QueryDict

from collection.models import Criterion, Study
from collection.web.options import Choices, with_asked
from collection.web.pages import MOST_LISTED, query_without
from collection.web.reports import Chart, NothingToReport
from collection.web.sent_files import Files
from collection.web.tables import Table
from evaluation.data.study_reports import StudyReport
from evaluation.leaderboards.measures.marks import names_of
from evaluation.leaderboards.serializers import (
    WRITTEN_FORMS,
    CorrelateChoice,
    CorrelationsChoice,
    DivergenceChoice,
    LeaderboardChoice,
)

if TYPE_CHECKING:
    from evaluation.leaderboards.corrected.correction import Corrected
    from evaluation.leaderboards.sources import JudgmentLoader, Source

MOST_IN_A_NAME = 3


class BoardsReport(StudyReport):
    """What reports of scores share: measures named in one field, and readings of the test part."""

    def asked_in(self, query: QueryDict) -> dict[str, Any]:
        """Return what an address asks; `also` names measures with semicolons between."""
        asked = super().asked_in(query)
        also = [name.strip() for name in query.get("also", "").split(";") if name.strip()]
        return asked | ({"column": [*asked.get("column", []), *also]} if also else {})

    def read_test_part(self, subject: Study | Criterion, chosen: Mapping[str, Any]) -> None:
        from evaluation.leaderboards.computing import read_test_parts, scorer_by

        assert isinstance(subject, Study)
        loader = scorer_by(subject, dict(chosen)).loader
        read_test_parts(subject, self.sources_shown(loader, chosen))

    def sources_shown(self, loader: JudgmentLoader, chosen: Mapping[str, Any]) -> list[Source]:
        """Return the sources of which a command shows the test part."""
        raise NotImplementedError


def sources_named(loader: JudgmentLoader, chosen: Mapping[str, Any]) -> list[Source]:
    """Return the sources of the columns that are asked for."""
    from evaluation.leaderboards.divergence import asked_of

    return [asked_of(loader, key)[1] for key in chosen["column"]]


def _why(corrected: Corrected) -> str:
    return corrected.reason or corrected.draw


def _pairs_beside(request: HttpRequest, *left_out: str) -> list[tuple[str, str]]:
    return parse_qsl(query_without(request, "shown", "sort", "form", *left_out))


class LeaderboardReport(BoardsReport):
    name, path, file = "leaderboard", "leaderboard", "leaderboard"
    title = "Leaderboard"
    lead = "Which system is better, according to humans and each judge, and how certain that is."
    about = "Rank systems by a measure, by every source of judgments side by side, with intervals."
    options = LeaderboardChoice
    shown = ("measure", "combine", "order", "oracle", "confidence", "topics", "top", "by")
    compute = "evaluation.leaderboards.computing:leaderboard"
    charts = {"systems": Chart("evaluation.leaderboards.chart:systems_chart", asks=("sort",), stem="leaderboard")}
    template = "evaluation/leaderboard.html"

    def defaults(self, study: Study) -> dict[str, Any]:
        from evaluation.leaderboards.available_measures import offered_measures

        first = next(iter(offered_measures(study)), None)
        if first is None:
            raise NothingToReport(self.nothing)
        return {"measure": first, "sources": "first"}

    def offered(self, subject: Study | Criterion, **how: Any) -> dict[str, Choices]:
        """Return the runs that may be the oracle, and what means can be broken down by: too little to be kept."""
        from evaluation.leaderboards.breakdown import groupings
        from evaluation.leaderboards.sources import Scorer

        del how
        assert isinstance(subject, Study)
        runs = [(name, name) for name in subject.collection.runs.values_list("name", flat=True)]
        by = [(name, name) for name in groupings(Scorer.of(subject))]
        return {"oracle": [("", "The run named “oracle”, if it exists"), *runs], "by": [("", "–"), *by]}

    def as_dict(self, result: Any) -> dict[str, Any]:
        from evaluation.leaderboards.export import leaderboard_as_dict

        return leaderboard_as_dict(result)

    def tables(self, result: Any) -> Mapping[str, Table]:
        from evaluation.leaderboards.export import tables_of_leaderboard

        return tables_of_leaderboard(result)

    def stem(self, subject: Study | Criterion, result: Any, *what: str) -> str:
        """Return a download's name, with the measure and whose judgments it is by."""
        if result is None:
            return super().stem(subject, result, *what)
        names = [column.name for column in result.columns]
        whose = names if len(names) <= MOST_IN_A_NAME else [f"{len(names)} sources"]
        return super().stem(subject, result, result.measure.name, *whose, *what)

    def notes(self, result: Any) -> list[str]:
        return [
            *(*super().notes(result), *result.notes, *result.topic_notes),
            *(f"By {column.board.source.shown}: {column.scored.ungraded_in_words}." for column in result.columns),
            *(f"{one.judge}, corrected by human labels ({one.method}): {_why(one)}." for one in result.corrected),
        ]

    def chart_words(self, chosen: Mapping[str, Any]) -> list[str]:
        return [chosen["measure"], "people" if chosen["sources"] == "people" else "", *super().chart_words(chosen)]

    def sources_shown(self, loader: JudgmentLoader, chosen: Mapping[str, Any]) -> list[Source]:
        from stats.ranking.measure_names import parse_measure

        return loader.wanted(parse_measure(chosen["measure"]), chosen["source"])

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        from evaluation.leaderboards.available_measures import offered_measures

        sort, asked = request.GET.get("sort", ""), self.asked_in(request.GET)
        offered = offered_measures(study)
        measure = asked.get("measure") or next(iter(offered), "")
        return {
            "board": result,
            "offered": with_asked(offered, asked.get("measure", "")),
            "measure": measure,
            "rows": result.rows(sort) if result else (),
            "drawn": bool(result and any(one.has_means for one in result.columns)),
            "sort": sort,
            "query_unsorted": query_without(request, "shown", "sort"),
            "asked_pairs": [("measure", measure), *_pairs_beside(request, "measure")],
            "without_judges": request.GET.get("sources") == "people",
            "most_listed": MOST_LISTED,
            "evaluation_forms": WRITTEN_FORMS,
            "mark_names": names_of(column.marks for column in result.columns) if result else {},
        }


class CorrelationsReport(BoardsReport):
    name, path, file = "correlations", "leaderboard/correlations", "correlations"
    api_path = "correlations"
    title = "Correlations between measures"
    lead = "Whether measures, thresholds and values of k rank the systems in the same order."
    about = "How far measures put the systems in the same order, two by two, at other thresholds and values of k."
    options, shown = CorrelationsChoice, ("measure", "reference", "other")
    compute = "evaluation.leaderboards.computing:correlations"
    charts = {"matrix": Chart("evaluation.leaderboards.measures.chart:matrix_chart", stem="correlations")}
    template = "evaluation/correlations.html"

    def choices(self, result: Any) -> dict[str, Choices]:
        """Return what may be varied, and what may be compared, first what is."""
        from evaluation.leaderboards.available_measures import offered_measures

        offered = [one for one in offered_measures(result.study) if "@" in one or one.startswith(("coverage", "AP("))]
        reference = result.reference.key if result.reference else ""
        other = result.divergence.other.key if result.divergence else ""
        return {
            "measure": [(one, one) for one in dict.fromkeys(filter(None, [result.varied, *offered]))],
            "reference": sorted(result.choices, key=lambda one: one[0] != reference),
            "other": sorted((one for one in result.choices if one[0] != reference), key=lambda one: one[0] != other),
        }

    def context(self, request: HttpRequest, study: Study, result: Any) -> dict[str, Any]:
        from evaluation.leaderboards.measure_correlations import COEFFICIENTS

        del study
        return {
            "asked": "; ".join(board.key for board in result.boards) if result else "",
            "columns": self.asked_in(request.GET).get("column", []),
            "coefficients": COEFFICIENTS,
            "coefficient_name": COEFFICIENTS[result.coefficient] if result else "",
        }

    def sources_shown(self, loader: JudgmentLoader, chosen: Mapping[str, Any]) -> list[Source]:
        return sources_named(loader, chosen)


class DivergenceReport(BoardsReport):
    name, path, file = "divergence", "divergence", "divergence"
    title = "Divergence"
    command = "board divergence"
    about = "The rank of each system by two measures, or two sources of judgments; the most divergent first."
    options = DivergenceChoice
    compute = "evaluation.leaderboards.computing:divergence"

    def sources_shown(self, loader: JudgmentLoader, chosen: Mapping[str, Any]) -> list[Source]:
        from evaluation.leaderboards.divergence import chosen_pair

        sources = {name: chosen[name] for name in ("source", "other_source")}
        return [one[1] for one in chosen_pair(loader, chosen["measure"], chosen["other"], **sources)]


class CorrelateReport(StudyReport):
    name, path, api_path = "correlate", "leaderboard/correlate", "correlate"
    title = "Correlate"
    lead = "How far evaluation files rank the runs as a leaderboard does, or as one another. The files are not kept."
    about = "How far evaluation files rank runs as a leaderboard of the study, or the first file, does."
    options = CorrelateChoice
    shown = ("board", "source", "at", "missing", "fill", "form", "measure", "other_measure")
    files = Files("Evaluation files", "Of a judge each, say; the first is the reference without a leaderboard.")
    compute = "evaluation.leaderboards.evaluation_files.correlate:correlate_within_bounds"
    template = "evaluation/correlate.html"

    def defaults(self, study: Study) -> dict[str, Any]:
        from evaluation.leaderboards.available_measures import offered_measures

        return {"board": next(iter(offered_measures(study)), "")}
