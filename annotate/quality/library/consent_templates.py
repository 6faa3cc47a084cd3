"""Consent texts to begin with, in the study's language and filled from it.

What it does not know stands in brackets, in English: they are for the researcher, and nobody else ever reads them.
"""

from __future__ import annotations

import re

from django.utils import translation
from django.utils.formats import number_format
from django.utils.translation import gettext, ngettext

from annotate.models import CrowdEntry
from annotate.quality.library.language_files import language_with_texts, text_of
from annotate.sessions.offers import announced_minutes
from collection.models import Study, User

TEMPLATES = {
    "crowd": "Participants of a crowd site",
    "assessors": "Employed assessors",
    "students": "Students",
}
TO_FILL_IN = "[to fill in:"
# It says who translated the text.
_HEAD = re.compile(r"\A<!--.*?-->\s*", re.DOTALL)


def filled_template(name: str, *, study: Study, by: User) -> str:
    """Return the text of this name for the study; empty for a name that there is not."""
    if name not in TEMPLATES:
        return ""
    entry = study.crowd_entries.first()
    minutes = announced_minutes(study)
    with translation.override(language_with_texts(study.language)):
        about = ngettext("about %(n)s minute", "about %(n)s minutes", minutes) % {"n": minutes}
        known = {
            "who": f"{by.get_full_name() or TO_FILL_IN + ' your name]'}, {TO_FILL_IN} your institution]",
            "study": str(study),
            "work": _work(entry) if entry else "",
            "minutes": about,
            "pay": _pay(entry) if entry else f"{TO_FILL_IN} the pay]",
            "contact": (entry.contact if entry else by.email) or f"{TO_FILL_IN} an address]",
        }
    text = _HEAD.sub("", text_of(f"{name}.md", study.language))
    return re.sub(r"\{(\w+)\}", lambda field: known[field[1]], text)


def _work(entry: CrowdEntry) -> str:
    n = entry.tasks_per_person
    return f" ({ngettext('up to %(n)s task', 'up to %(n)s tasks', n) % {'n': n}})" if n else ""


def _pay(entry: CrowdEntry) -> str:
    return gettext("%(currency)s %(reward)s, which is %(rate)s an hour") % {
        "currency": entry.currency,
        "reward": number_format(entry.reward, 2),
        "rate": number_format(entry.planned_hourly_pay, 2),
    }
