"""All that knows Prolific: what its links say, where its people go back to, and its export of submissions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings

from annotate.participants.arrivals import Arrival, OddLink, required
from collection.formats.problems import BrokenLine, InputFile
from collection.formats.tables import csv_rows

SITE = "Prolific"
PID, STUDY, SESSION = "PROLIFIC_PID", "STUDY_ID", "SESSION_ID"

SUBMISSION_COLUMN, PERSON_COLUMN, STATUS_COLUMN = "Submission id", "Participant id", "Status"
AS_EXPORTED = "Use the file as Prolific exports it."
RETURNED, TIMED_OUT = "RETURNED", "TIMED-OUT"
STATUSES = {
    "ACTIVE",
    "APPROVED",
    "AWAITING REVIEW",
    "PARTIALLY APPROVED",
    "REJECTED",
    "RESERVED",
    RETURNED,
    "SCREENED OUT",
    TIMED_OUT,
}


@dataclass(frozen=True)
class Submission:
    """A line of Prolific's export: the submission, whose it is, and how it stands."""

    line: int
    session_id: str
    crowd_id: str
    status: str


def arrival_of(params: Mapping[str, str]) -> Arrival:
    """Read the parameters that Prolific adds to a study's link. Raises OddLink."""
    if any("{{%" in params.get(name, "") for name in (PID, STUDY, SESSION)):
        raise OddLink(
            "The link still contains Prolific’s placeholders: Prolific has not filled them in. "
            "Researchers: preview the study on Prolific and open the link from there."
        )
    return Arrival(
        crowd_id=required(params, PID, SITE),
        cohort=required(params, STUDY, SITE),
        session_id=required(params, SESSION, SITE),
    )


def query_of_a_link() -> str:
    """Return what to put behind the entry's address on Prolific: its names with its place-holders."""
    return "&".join(f"{name}={{{{%{name}%}}}}" for name in (PID, STUDY, SESSION))


def completion_url(code: str) -> str:
    """Return where a participant goes to hand in a completion, screen-out or no-consent code."""
    return f"{settings.PROLIFIC_URL}/submissions/complete?{urlencode({'cc': code})}"


def submissions_url() -> str:
    """Return where a participant can return a submission."""
    return f"{settings.PROLIFIC_URL}/submissions/"


def read_submissions(file: InputFile) -> Iterator[Submission]:
    """Yield the lines of “Export submissions”, a CSV. Raises BrokenFile, which names every broken line."""
    columns = (SUBMISSION_COLUMN, PERSON_COLUMN, STATUS_COLUMN)
    seen: dict[str, int] = {}
    for line, row in csv_rows(file, needed=columns, remedy=AS_EXPORTED):
        with file.line(line):
            submission = _submission(line, row)
            if submission.session_id in seen:
                raise BrokenLine(
                    f"Submission {submission.session_id} is already in line {seen[submission.session_id]}.",
                    "Remove one of the two lines.",
                )
            seen[submission.session_id] = submission.line
            yield submission


def _submission(line: int, row: dict[str, str]) -> Submission:
    return submission_of(line, row[SUBMISSION_COLUMN], row[PERSON_COLUMN], row[STATUS_COLUMN])


def submission_of(line: int, session_id: str, crowd_id: str, told: str) -> Submission:
    """Return the submission with its status as it is named here. Raises BrokenLine."""
    session_id, crowd_id = session_id.strip(), crowd_id.strip()
    status = told.strip().upper().replace("_", "-" if "TIMED" in told.upper() else " ")
    if not session_id or not crowd_id:
        raise BrokenLine(f"The {SUBMISSION_COLUMN if not session_id else PERSON_COLUMN} is empty.")
    if status not in STATUSES:
        raise BrokenLine(f"“{told}” is not a status of a submission.", f"There are {', '.join(sorted(STATUSES))}.")
    return Submission(line, session_id, crowd_id, status)
