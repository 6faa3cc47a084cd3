"""What a crowd site tells about the person whom it sends, and how that travels to our own pages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from django.core import signing
from django.utils.translation import gettext

from annotate.models import CrowdEntry

SALT = "annotate.crowd.arrival"
# Mechanical Turk's longest-lived assignments last that long.
LINK_SECONDS = 60 * 60 * 24 * 30
AN_ID = re.compile(r"[A-Za-z0-9_-]{5,64}")


class OddLink(ValueError):
    """The link does not say who comes. The message tells the person what to do."""


@dataclass(frozen=True)
class Arrival:
    """Who comes (`crowd_id`), for which batch of places (`cohort`), on which paid visit (`session_id`).

    `submit_to` is where Mechanical Turk wants to be told of the end. `vouched_for`: the site has signed the ids.
    """

    crowd_id: str
    cohort: str
    session_id: str
    submit_to: str = ""
    vouched_for: bool = False


def required(params: Mapping[str, str], name: str, site: str) -> str:
    """Return the id that the site put into the link. Raises OddLink where there is none or it is none."""
    value = params.get(name, "")
    if not value:
        raise OddLink(
            gettext("The link has no {name}. Please open it again from {site}, without changing it.").format(
                name=name, site=site
            )
        )
    if not AN_ID.fullmatch(value):
        raise OddLink(
            gettext(
                "The link’s {name} is not an id of {site}. Please open it again from there, without changing it."
            ).format(name=name, site=site)
        )
    return value


def signed(entry: CrowdEntry, arrival: Arrival) -> str:
    """Return the arrival as a token of this entry that nobody else can make."""
    return signing.dumps({"entry": entry.pk, **asdict(arrival)}, salt=SALT)


def unsigned(entry: CrowdEntry, token: str) -> Arrival:
    """Return the arrival of a token that `signed` made. Raises OddLink."""
    try:
        told = signing.loads(token, salt=SALT, max_age=LINK_SECONDS)
    except signing.BadSignature as broken:
        raise OddLink(gettext("The page is too old or was changed. Please open the link again.")) from broken
    if told.pop("entry") != entry.pk:
        raise OddLink(gettext("The page belongs to another study. Please open the link again from where you got it."))
    return Arrival(**told)
