"""What a collection, or a study, goes out as: declared once, for its page and its command."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from collection.exporting.cited_reports import exported_cited_reports
from collection.exporting.clapnq import LeftOut, exported_clapnq
from collection.exporting.collections import exported_collection
from collection.exporting.exchanged import EXPORTS as EXCHANGED
from collection.exporting.exchanged import exchanged_file
from collection.exporting.labels import FORMS, LabelsRefused, exported_labels, label_files, labels_file
from collection.exporting.runs import NoSuchRun
from collection.exporting.scores import exported_scores, score_file
from collection.exporting.track_reports import ReportsRefused, reports_for_track
from collection.formats.cited_reports.tracks import TRACKS
from collection.formats.scores.tools import LABELS, SeveralCriteria
from collection.models import Study
from stats.plurals import counted

Note = Callable[[str], None]


@dataclass(frozen=True)
class Export:
    """`pieces` yields the file of a study or a collection (`of`), and notes what to know of it; `file` is its name.

    Both take what is asked by name: the `form`, where there are several `forms`, and the `options`, which are texts,
    each with what it says; of `repeated` ones several. `refusals` are what `pieces` raises where it cannot be made.
    """

    about: str
    of: str
    pieces: Callable[..., Iterator[str] | Iterator[bytes]]
    file: Callable[[Any, str], str]
    forms: Collection[str] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    repeated: Collection[str] = ()
    refusals: tuple[type[Exception], ...] = ()

    def asked(self, sent: QueryDict) -> dict[str, str | list[str]]:
        """Return the options as an address says them."""
        return {name: sent.getlist(name) if name in self.repeated else sent.get(name, "") for name in self.options}


def _answers(study: Study, note: Note) -> Iterator[str]:
    left_out = LeftOut()
    yield from exported_clapnq(study, left_out)
    if left_out.unanswered:
        note(f"Left out, without an answer yet: {counted(left_out.unanswered, 'passages')}.")


def _reports(collection: Any, note: Note, *, track: str, team: str, run_desc: str, run: Sequence[str]) -> Iterator[str]:
    if track:
        return reports_for_track(collection, track, runs=run, team=team, run_desc=run_desc, note=note)
    if team or run_desc:
        raise ReportsRefused("Team and description of the run are of a track’s file: choose the track (--track).")
    return exported_cited_reports(collection, run)


def _labels(study: Study, note: Note, *, form: str, rater: str, criterion: str) -> Iterator[str]:
    yield from exported_labels(study, form, rater=rater, criterion=criterion)
    for remark in next((file.remarks for file in label_files(study) if file.form == form), []):
        note(remark)


EXPORTS = {
    "collection": Export(
        "Write a collection to standard output as Assize JSONL.",
        "collection",
        lambda collection, _: exported_collection(collection),
        lambda collection, _: f"{collection.name}.jsonl",
    ),
    "reports": Export(
        "Write a collection's reports with their sentences and citations to standard output, or as a track takes them.",
        "collection",
        _reports,
        lambda collection, _: f"{collection.name}-reports.jsonl",
        options={
            "track": f"to hand in, by the rules of {', '.join(TRACKS)}; refused where they are broken",
            "team": "of a track's file: the team_id",
            "run_desc": "of a track's file: what the run is, in words",
            "run": "only this run; several may be named",
        },
        repeated=("run",),
        refusals=(NoSuchRun, ReportsRefused),
    ),
    "texts": Export(
        "Write a collection's topics, passages or rankings to standard output, as the field exchanges them.",
        "collection",
        lambda collection, _, *, form, run: EXCHANGED[form](collection, run),
        exchanged_file,
        EXCHANGED,
        {"run": "of a pool or a run file, where there are several; of reports, this one"},
        refusals=(NoSuchRun,),
    ),
    "clapnq": Export(
        "Write a study's written answers, of both rounds, to standard output in CLAPNQ's format.",
        "study",
        _answers,
        lambda study, _: f"{study.name}-clapnq.jsonl",
    ),
    "scores": Export(
        "Write a study's judgments to standard output as scores of another tool.",
        "study",
        lambda study, _, *, form, criterion: exported_scores(study, form, criterion=criterion),
        score_file,
        LABELS,
        {"criterion": "only this one"},
        refusals=(SeveralCriteria,),
    ),
    "labels": Export(
        "Write a study's labels to standard output as a paper's tool writes them.",
        "study",
        _labels,
        labels_file,
        FORMS,
        {
            "rater": "whose, where several have such labels",
            "criterion": "default: the first of its task type",
        },
        refusals=(LabelsRefused,),
    ),
}
