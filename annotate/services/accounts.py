"""Accounts for people who are to assess: made by a researcher, with a password that is shown once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils.crypto import get_random_string

from annotate.services.studies import enrol
from collection.models import Study, User

# Without letters and digits that are read for one another.
LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"


@dataclass(frozen=True)
class NewAccount:
    """An account just made, with the password that is kept nowhere else in clear."""

    user: User
    password: str


@transaction.atomic
def enrol_by_name(*, study: Study, usernames: Iterable[str], at: datetime) -> list[NewAccount]:
    """Enrol these people, making an account for each who has none. Returns the accounts made."""
    made = []
    for username in usernames:
        user = User.objects.filter(username=username).first()
        if user is None:
            account = make_account(username=username)
            made.append(account)
            user = account.user
        enrol(study=study, user=user, at=at)
    return made


def make_account(*, username: str) -> NewAccount:
    """Make an account with a password of its own."""
    password = "-".join(get_random_string(4, LETTERS) for _ in range(3))
    return NewAccount(User.objects.create_user(username=username, password=password), password)
