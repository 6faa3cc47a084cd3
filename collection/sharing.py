"""Making collections, and who researches them."""

from __future__ import annotations

from collection.models import Collection, User


class NoSuchResearcher(Exception):
    """Nobody of this name may be invited."""


def make_collection(*, name: str, title: str = "", description: str = "", licence: str = "", owner: User) -> Collection:
    """Make an empty collection. Raises ValidationError for a name that is taken or is no name."""
    collection = Collection(name=name, title=title, description=description, licence=licence, owner=owner)
    collection.full_clean()
    collection.save()
    return collection


def invite_researcher(*, collection: Collection, username: str) -> User:
    """Let another researcher see and change the collection. Raises NoSuchResearcher."""
    user = User.objects.filter(username=username, is_researcher=True, is_active=True).first()
    if user is None or user.pk == collection.owner_id:
        raise NoSuchResearcher(f"There is no other researcher “{username}”.")
    collection.researchers.add(user)
    return user


def dismiss_researcher(*, collection: Collection, username: str) -> None:
    """Take back what `invite_researcher` gave."""
    collection.researchers.remove(*collection.researchers.filter(username=username))
