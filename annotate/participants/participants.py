"""Participants: people with an account made for one study, without a password, under a pseudonym."""

from __future__ import annotations

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.crypto import get_random_string, salted_hmac
from django.utils.translation import gettext

from annotate.models import CrowdEntry, CrowdIdentity, Invitation, Participant
from annotate.studies.assessor_accounts import LETTERS
from annotate.studies.lifecycle import enrol
from collection.models import Study, User

TRIES = 5


class NotLetIn(Exception):
    """The person does not come in. The message tells them why, and what they can do."""


@transaction.atomic
def make_participant(
    *, study: Study, entry: CrowdEntry | None = None, invitation: Invitation | None = None, at: datetime
) -> Participant:
    """Make a person's account under a new pseudonym and enrol them. It has no password, so only its link opens it."""
    user = _new_user("worker" if entry else "guest", study)
    participant = Participant.objects.create(study=study, user=user, entry=entry, invitation=invitation, joined_at=at)
    enrol(study=study, user=user, at=at)
    return participant


def _new_user(prefix: str, study: Study) -> User:
    for _ in range(TRIES):
        try:
            with transaction.atomic():
                name = f"{prefix}-{get_random_string(8, LETTERS)}"
                return User.objects.create_user(username=name, password=None, made_for=study.collection)
        except IntegrityError:  # somebody has that pseudonym
            continue
    raise RuntimeError(f"No free pseudonym was found in {TRIES} tries.")


def participant_of(entry: CrowdEntry, crowd_id: str) -> Participant | None:
    """Return who this is, if they came before."""
    identity = CrowdIdentity.objects.filter(entry=entry, crowd_id=crowd_id).select_related("participant__user").first()
    return identity.participant if identity else None


def fingerprint(entry: CrowdEntry, crowd_id: str) -> str:
    """Return a keyed hash of the id in its study: it can be recognised with the site's key, and not read."""
    key = f"{entry.study_id}/{entry.site}/{crowd_id}"
    return salted_hmac("annotate.crowd.erasure", key, algorithm="sha256").hexdigest()


def refuse_another_kind_of_account(user: User) -> None:
    """Raise NotLetIn if a link may not open this account: one that was given rights, or that is closed.

    Accounts of participants are made here and have no rights; this holds if an administrator gave one some.
    """
    if user.is_researcher or user.is_staff or user.is_superuser or user.has_usable_password():
        raise NotLetIn(gettext("This account opens only with its password. Please sign in."))
    if not user.is_active:
        raise NotLetIn(gettext("This account is closed: its personal data were erased. You cannot take part again."))
