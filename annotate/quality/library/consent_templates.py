"""Consent texts to begin with, filled from the study. What it does not know stands in brackets, to be filled in."""

from __future__ import annotations

from pathlib import Path

from annotate.sessions.offers import announced_minutes
from collection.models import Study, User

FOLDER = Path(__file__).parent / "consents"
TEMPLATES = {
    "crowd": "Participants of a crowd site",
    "assessors": "Employed assessors",
    "students": "Students",
}
TO_FILL_IN = "[to fill in:"


def filled_template(name: str, *, study: Study, by: User) -> str:
    """Return the text of this name for the study; empty for a name that there is not."""
    if name not in TEMPLATES:
        return ""
    entry = study.crowd_entries.first()
    work = ""
    pay = f"{TO_FILL_IN} the pay]"
    if entry:
        pay = f"{entry.currency} {entry.reward} for the session, which is {entry.planned_hourly_pay:.2f} an hour."
        if entry.tasks_per_person:
            work = f", in up to {entry.tasks_per_person} tasks"
    known = {
        "who": f"{by.get_full_name() or TO_FILL_IN + ' your name]'}, {TO_FILL_IN} your institution]",
        "study": str(study),
        "work": work,
        "minutes": str(announced_minutes(study)),
        "pay": pay,
        "contact": (entry.contact if entry else by.email) or f"{TO_FILL_IN} an address]",
    }
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    for field, value in known.items():
        text = text.replace(f"{{{field}}}", value)
    return text
