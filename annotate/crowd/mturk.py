"""All that knows Mechanical Turk's external questions: what the frame is told, and where its end is sent."""

from __future__ import annotations

from collections.abc import Mapping
from xml.sax.saxutils import escape

from csp.constants import SELF
from django.conf import settings
from django.utils.translation import gettext

from annotate.participants.arrivals import Arrival, OddLink, required
from collection.addresses import NotAnAddress, parts_of

SITE = "Mechanical Turk"
WORKER, HIT, ASSIGNMENT, SUBMIT_TO = "workerId", "hitId", "assignmentId", "turkSubmitTo"
PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
SUBMIT_PATH = "/mturk/externalSubmit"
FRAME_HEIGHT = 600
SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"


def is_preview(params: Mapping[str, str]) -> bool:
    """Whether the worker only looks at the HIT and has not accepted it."""
    return params.get(ASSIGNMENT) == PREVIEW


def arrival_of(params: Mapping[str, str]) -> Arrival:
    """Read the parameters that Mechanical Turk adds to an external question. Raises OddLink."""
    submit_to = params.get(SUBMIT_TO, "")
    try:
        parts = parts_of(submit_to)
        origin = f"{parts.scheme}://{parts.netloc}"
    except NotAnAddress:
        origin = ""
    if origin not in settings.MTURK_ORIGINS:
        raise OddLink(
            gettext(
                "The link’s {name} is not a site of Mechanical Turk, so your work could not be submitted. Please open "
                "the HIT again."
            ).format(name=SUBMIT_TO)
        )
    return Arrival(
        crowd_id=required(params, WORKER, SITE),
        cohort=required(params, HIT, SITE),
        session_id=required(params, ASSIGNMENT, SITE),
        submit_to=origin,
    )


def submit_url(arrival: Arrival) -> str:
    """Return where the frame posts the assignment's id and the code. Only origins of the setting come through."""
    return f"{arrival.submit_to}{SUBMIT_PATH}"


def frame_policy() -> dict[str, list[str]]:
    """Return what the entry page's Content-Security-Policy says instead: who may frame it, where it may post."""
    return {"frame-ancestors": list(settings.MTURK_ORIGINS), "form-action": [SELF, *settings.MTURK_ORIGINS]}


def external_question(url: str) -> str:
    """Return the question's XML, to make a HIT with."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ExternalQuestion xmlns="{SCHEMA}">\n'
        f"  <ExternalURL>{escape(url)}</ExternalURL>\n"
        f"  <FrameHeight>{FRAME_HEIGHT}</FrameHeight>\n</ExternalQuestion>\n"
    )
