"""Runs as files that tracks take: in their form, and checked by their rules before anything is written."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from collection.exporting.cited_reports import chosen_runs, cited_report
from collection.exporting.runs import NoSuchRun
from collection.formats.cited_reports import MAKING, parse_cited_report
from collection.formats.cited_reports.handing_in import in_form, limits_of
from collection.formats.cited_reports.tracks import TRACKS, Track, advice, broken_by_all, broken_rules
from collection.formats.problems import BrokenLine
from collection.models import Citation, Collection, Report, Run
from stats.plurals import counted

# What to do, by what a rule says is wrong; of two that fit, the first.
FIXES = {
    "have no team_id": "State the team (--team).",
    "have no run_desc": "State a description of the run (--run-desc).",
    "have no topic": "Import the topic with its request.",
    "have no narrative": "Import the topic with its request.",
    "have no type": "Import the run with its type, manual or automatic.",
    "type must be": "Import the run with its type, manual or automatic.",
    "have no use_starter_kit": "Import the run with it: 0 or 1.",
    "The run_id has": "Add or import the run under a shorter name.",
    "not an id of the track": "Such a file cites the track's own documents: build the run from a ranking of these.",
    "words, more than": "Build the run again with fewer words, or edit the report in its review.",
    "characters, more than": "Build the run again with fewer words, or edit the report in its review.",
    "citations, more than": "Build the run again with fewer citations a sentence.",
    "references, more than": "Build the run again from fewer documents.",
    "has no text": "Import the report without that sentence.",
    "no sentences": "Find them first: manage.py import sentences, or “Find their sentences” on the collection's page.",
    "The file has": "Choose one of them (--run).",
}


class ReportsRefused(ValueError):
    """The track would not take these reports; the message is a line for each thing that is wrong, and how to fix it."""


def reports_for_track(
    collection: Collection, track: str, *, runs: Sequence[str], team: str, run_desc: str, note: Callable[[str], None]
) -> Iterator[str]:
    """Return the lines of a track's file with the reports of these runs, or of the only one; note what it advises.

    Raises NoSuchRun, and ReportsRefused where the track would refuse the file or a report is over a limit.
    """
    asked = TRACKS.get(track)
    if asked is None:
        raise ReportsRefused(f"“{track}” is not a track. Choose one of {', '.join(TRACKS)}.")
    chosen = chosen_runs(collection, runs)
    if len(chosen) > 1 and not runs:
        raise NoSuchRun(f"Choose runs (--run): {', '.join(run.name for run in chosen[:20])}.")
    found = Report.objects.filter(run__in=chosen).order_by("run__name", "topic_id")
    reports = list(found.select_related("run", "topic").prefetch_related("sentences__citations"))
    stated = {"team_id": team.strip(), "run_desc": run_desc.strip()}
    broken: dict[str, list[Report]] = defaultdict(list)
    advised: Counter[str] = Counter()
    edited = {report.run_id for report in reports if _was_edited(report)}
    lines = [
        _line(report, asked, stated | _made_here(report, edited=report.run_id in edited), broken, advised)
        for report in reports
    ]
    for rule in broken_by_all([(report.run.name, report.topic.topic_id) for report in reports], asked):
        broken[rule] = []
    if broken:
        raise ReportsRefused("\n".join(_said(rule, where) for rule, where in broken.items()))
    for text, n in advised.items():
        note(f"{asked.title} advises, of {counted(n, 'reports')}: {text}")
    _note_what_is_lacking(collection, chosen, note)
    return iter(lines)


def _note_what_is_lacking(collection: Collection, runs: Sequence[Run], note: Callable[[str], None]) -> None:
    for run in runs:
        if not Citation.objects.filter(sentence__report__run=run).exists():
            note(f"The run “{run.name}” cites nothing.")
        if lacking := collection.topics.exclude(reports__run=run).count():
            note(f"The run “{run.name}” has no report on {counted(lacking, 'topics')} of the collection.")


def _line(
    report: Report, track: Track, stated: dict[str, Any], broken: dict[str, list[Report]], advised: Counter[str]
) -> str:
    """Return the report's line, and add to `broken` and `advised` what is said of it."""
    topic = report.topic
    request = topic.request or topic.title
    known = {"topic": request, "narrative": request, "collection_ids": topic.attributes.get("collection_ids")}
    written = in_form(cited_report(report), track.form, known=known, stated=stated)
    try:
        read = parse_cited_report(written)
    except BrokenLine as line:
        broken[f"{line.reason} {line.remedy}".strip()].append(report)
        return ""
    rules = [*broken_rules(read, track), *(text for rule in limits_of(track, topic.attributes) for text in rule(read))]
    if report.text.strip() and not read.sentences:
        rules.append("The report is one text, with no sentences.")
    for text in dict.fromkeys(rules):
        broken[text].append(report)
    advised.update(dict.fromkeys(advice(read, track), 1))
    return json.dumps(written, ensure_ascii=False, allow_nan=False) + "\n"


def _making(report: Report) -> dict[str, Any]:
    found = report.attributes.get(MAKING)
    return found if isinstance(found, dict) else {}


def _was_edited(report: Report) -> bool:
    metadata = report.attributes.get("metadata") or {}
    return metadata.get("type") == "manual" or str(_making(report).get("review", "")).startswith("edited")


def _made_here(report: Report, *, edited: bool) -> dict[str, Any]:
    """Return what is known of a run that was built here: one of which a person `edited` a text is manual."""
    return {"type": "manual" if edited else "automatic", "use_starter_kit": 0} if _making(report) else {}


def _said(rule: str, where: Sequence[Report]) -> str:
    first = f"Run “{where[0].run.name}”, topic “{where[0].topic.topic_id}”" if where else ""
    others = f" and {counted(len(where) - 1, 'more reports')}" if len(where) > 1 else ""
    fix = next((fix for what, fix in FIXES.items() if what in rule), "")
    return f"{first}{others}{': ' if first else ''}{rule} {fix}".rstrip()
