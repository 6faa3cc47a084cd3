"""Accounts for people who are to assess: made by a researcher, with a password that is shown once.

A researcher is a stranger to other researchers' people. An account that a researcher makes is named for the collection
too, `ada@bridges`, so that no name tells by being taken that somebody elsewhere has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.crypto import get_random_string

from annotate.studies.lifecycle import enrol
from collection.accounts.sign_in import hashing
from collection.models import Collection, Study, User

# Without letters and digits that are read for one another.
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


class NotYourPeople(Exception):
    """Names that cannot be enrolled. Whether they belong to somebody, the message does not tell."""

    def __init__(self, names: Iterable[str]) -> None:
        listed = ", ".join(f"“{name}”" for name in names)
        super().__init__(
            f"Not among the people of your studies: {listed}. Send them an invitation link, or enter a name without "
            "“@” to create an account."
        )


@dataclass(frozen=True)
class NewAccount:
    """An account just made, with the password that is kept nowhere else in clear."""

    user: User
    password: str


def people_of(researcher: User) -> QuerySet[User]:
    """Return whom the researcher may let into a study: people with accounts made for their studies, and themselves.

    Nobody from a crowd site is among them, for those are somebody else in each study.
    """
    made = Q(made_for__in=Collection.objects.of(researcher), participant__entry=None)
    return User.objects.filter(made | Q(pk=researcher.pk), is_active=True)


def people_by_name(usernames: Iterable[str], *, by: User, study: Study | None = None) -> dict[str, User]:
    """Return those of these names that the researcher may let in, or who were in the study before."""
    people = Q(pk__in=people_of(by))
    if study is not None:
        people |= Q(enrolments__study=study, is_active=True)
    return {user.username: user for user in User.objects.filter(people, username__in=usernames).distinct()}


@transaction.atomic
def enrol_by_name(*, study: Study, usernames: Iterable[str], by: User, at: datetime) -> list[NewAccount]:
    """Enrol these people, making an account for each name that is new. Returns the accounts made.

    A name is a username of one of the researcher's people, or what stands before the @ of one; else it becomes one.
    Raises NotYourPeople, and Busy.
    """
    full = {name: name if "@" in name else f"{name}@{study.collection.name}" for name in usernames}
    known = people_by_name([*full, *full.values()], by=by, study=study)
    new = {name: username for name, username in full.items() if not {name, username} & known.keys()}
    taken = set(User.objects.filter(username__in=new.values()).values_list("username", flat=True))
    refused = [name for name, username in new.items() if name == username or username in taken]
    if refused:
        raise NotYourPeople(refused)
    made = {}
    with hashing():  # a seat for all of them: each password takes a quarter of a second
        for name, username in new.items():
            made[name] = make_account(username=username, collection=study.collection)
    for name, username in full.items():
        user = made[name].user if name in made else known.get(name) or known[username]
        enrol(study=study, user=user, at=at)
    return list(made.values())


def make_account(*, username: str, collection: Collection) -> NewAccount:
    """Make an account with a password of its own."""
    password = "-".join(get_random_string(4, LETTERS) for _ in range(3))
    return NewAccount(User.objects.create_user(username=username, password=password, made_for=collection), password)
