"""What a person does with their own account."""

from __future__ import annotations

from django.db import transaction
from rest_framework.authtoken.models import Token

from collection.models import User


@transaction.atomic
def renew_token(*, user: User) -> str:
    """Give the user a new API token and return it. The one before it stops working."""
    withdraw_token(user=user)
    return str(Token.objects.create(user=user).key)


def withdraw_token(*, user: User) -> None:
    """Make the user's API token stop working, if there is one."""
    Token.objects.filter(user=user).delete()
