"""Invitations: a link by which assessors let themselves in, and each one's own link to come back by."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext

from annotate.models import Enrolment, Invitation, Participant, ReturnLink
from annotate.participants.arriving import refuse_while_no_work_is_given
from annotate.participants.participants import NotLetIn, make_participant, refuse_another_kind_of_account
from annotate.studies.lifecycle import enrol
from collection.models import Study, User


def refuse_if_over(invitation: Invitation, *, at: datetime) -> None:
    """Raise NotLetIn if the link lets nobody in any more."""
    if invitation.revoked_at:
        raise NotLetIn(gettext("This invitation was revoked. Please ask whoever gave it to you."))
    if invitation.has_expired(at):
        raise NotLetIn(gettext("This invitation has expired. Please ask whoever gave it to you for a new one."))
    if invitation.participants.count() + invitation.enrolments.count() >= invitation.most_uses:
        raise NotLetIn(gettext("This invitation is used up. Please ask whoever gave it to you for a new one."))
    refuse_while_no_work_is_given(invitation.study)


def make_invitation(*, study: Study, note: str, most_uses: int, expires_at: datetime, by: User) -> Invitation:
    """Make a link that lets so many people in until then."""
    return Invitation.objects.create(study=study, note=note, most_uses=most_uses, expires_at=expires_at, created_by=by)


def revoke_invitation(*, invitation: Invitation, at: datetime) -> None:
    """Let nobody in by this link any more. Whoever came by it stays."""
    Invitation.objects.filter(pk=invitation.pk, revoked_at=None).update(revoked_at=at)


@transaction.atomic
def accept_invitation(*, invitation: Invitation, name: str, email: str = "", at: datetime) -> tuple[Participant, str]:
    """Let a person in. Returns who they are now, and the token of their own link, kept nowhere in clear.

    Raises NotLetIn. Many at once never use a link more often than it allows.
    """
    invitation = Invitation.objects.select_for_update(of=("self",)).select_related("study").get(pk=invitation.pk)
    refuse_if_over(invitation, at=at)
    participant = make_participant(study=invitation.study, invitation=invitation, at=at)
    user = participant.user
    user.first_name, user.email = name, email
    user.save(update_fields=["first_name", "email"])
    return participant, renew_return_link(participant=participant, at=at)


def may_accept_as_themselves(user: User) -> bool:
    """Whether this person has an account of their own to come in by: with a password, and no pseudonym of one study."""
    return user.has_usable_password() and not Participant.objects.filter(user=user).exists()


@transaction.atomic
def accept_as_oneself(*, invitation: Invitation, user: User, at: datetime) -> Enrolment:
    """Let a person in by the account that they have. Raises NotLetIn."""
    invitation = Invitation.objects.select_for_update(of=("self",)).select_related("study").get(pk=invitation.pk)
    refuse_if_over(invitation, at=at)
    if not may_accept_as_themselves(user):
        raise NotLetIn(
            gettext("This account was created for one study. Please sign out, and open the invitation again.")
        )
    enrolment = enrol(study=invitation.study, user=user, at=at)
    Enrolment.objects.filter(pk=enrolment.pk).update(invitation=invitation)
    return enrolment


def renew_return_link(*, participant: Participant, at: datetime) -> str:
    """Give the person a new link to come back by, and return its token. The one before it opens nothing any more."""
    token = secrets.token_urlsafe(24)
    ReturnLink.objects.update_or_create(
        participant=participant, defaults={"token_sha256": hash_of(token), "made_at": at}
    )
    return token


def person_of_link(token: str) -> Participant | None:
    """Return whose link it is; None for a link that opens nothing. Raises NotLetIn for an account it may not open."""
    link = ReturnLink.objects.filter(token_sha256=hash_of(token)).select_related(
        "participant__user", "participant__study"
    )
    found = link.first()
    if found is None:
        return None
    refuse_another_kind_of_account(found.participant.user)
    return found.participant


def hash_of(token: str) -> str:
    """The tokens are long and random, so a plain hash hides them well."""
    return hashlib.sha256(token.encode()).hexdigest()
