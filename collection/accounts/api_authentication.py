"""Who uses the API, by the token in the request."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils.timezone import now
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS

from collection.accounts.account import fits_password
from collection.models import ApiToken, User

# A token's last use is noted at most this often: a write with every request would wait for every other write.
NOTED_EVERY = timedelta(minutes=10)


class TokenAuthentication(KnoxAuthentication):  # type: ignore[misc]
    """Knox's tokens, of accounts that may sign in and have the password that they had when the token was made."""

    def authenticate(self, request: Any) -> Any:
        """Return the user and the token; None without one. Raises PermissionDenied where it may only read."""
        found = super().authenticate(request)
        if found and found[1].read_only and request.method not in SAFE_METHODS:
            raise PermissionDenied("This token can only read.")
        return found

    def authenticate_credentials(self, token: bytes) -> Any:
        try:
            return super().authenticate_credentials(token)
        except UnicodeDecodeError as broken:
            raise AuthenticationFailed("Invalid token.") from broken

    def validate_user(self, auth_token: ApiToken) -> tuple[User, ApiToken]:
        user = auth_token.user
        if not user.may_sign_in or not fits_password(auth_token, user):
            raise AuthenticationFailed("Invalid token.")
        at = now()
        if auth_token.last_used_at is None or at - auth_token.last_used_at > NOTED_EVERY:
            ApiToken.objects.filter(pk=auth_token.pk).update(last_used_at=at)
        return user, auth_token

    def _cleanup_token(self, auth_token: ApiToken) -> bool:
        """Whether the token has ended. Knox would look through the person's other tokens too, with every request."""
        return auth_token.expiry is None or auth_token.expiry <= now()


class TokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    target_class = "collection.accounts.api_authentication.TokenAuthentication"
    name = "token"
