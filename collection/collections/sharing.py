"""Making collections, and who researches them.

Other researchers come in by an invitation that they accept. It holds a name as it was written, so that no answer and no
time it takes tells whether anybody here has that name.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from collection.models import Collection, CollectionInvitation, User


class InAlready(Exception):
    """Somebody of this name sees the collection already."""


class NoInvitation(Exception):
    """It was withdrawn, answered, or is over."""


def make_collection(*, name: str, title: str = "", description: str = "", licence: str = "", owner: User) -> Collection:
    """Make an empty collection. Raises ValidationError for a name that is taken or is no name."""
    collection = Collection(name=name, title=title, description=description, licence=licence, owner=owner)
    collection.full_clean()
    collection.save()
    return collection


@transaction.atomic
def invite_researcher(*, collection: Collection, username: str, by: User, at: datetime) -> CollectionInvitation:
    """Offer the collection to whoever has this username, anew if it was offered before. Raises InAlready.

    Who declined is not asked again, unless the invitation is withdrawn or over first.
    """
    members = collection.researchers.filter(username=username)
    if username == collection.owner.username or members.exists():
        raise InAlready(f"{username} already has access to this collection.")
    CollectionInvitation.objects.filter(collection=collection, username=username).exclude(
        pk__in=CollectionInvitation.objects.pending(at=at)
    ).delete()
    invitation, _ = CollectionInvitation.objects.update_or_create(
        collection=collection, username=username, defaults={"invited_by": by, "invited_at": at}
    )
    return invitation


def withdraw_invitation(*, collection: Collection, pk: int) -> None:
    """Take the offer back. Raises NoInvitation."""
    if not collection.invitations.filter(pk=pk).delete()[0]:
        raise NoInvitation("This invitation no longer exists.")


@transaction.atomic
def accept_collection(*, pk: int, by: User, at: datetime) -> Collection:
    """Let the invited researcher see and change the collection. Raises NoInvitation."""
    invitation = CollectionInvitation.objects.to(by, at=at).filter(pk=pk).select_for_update(of=("self",)).first()
    if invitation is None:
        raise NoInvitation("This invitation no longer exists.")
    invitation.collection.researchers.add(by)
    invitation.delete()
    return invitation.collection


def decline_collection(*, pk: int, by: User, at: datetime) -> None:
    """Take the invitation from the researcher's sight. Whoever invited them is not told. Raises NoInvitation."""
    if not CollectionInvitation.objects.to(by, at=at).filter(pk=pk).update(declined_at=at):
        raise NoInvitation("This invitation no longer exists.")


def dismiss_researcher(*, collection: Collection, username: str) -> None:
    """Take the collection away from a researcher."""
    collection.researchers.remove(*collection.researchers.filter(username=username))
