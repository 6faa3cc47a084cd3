"""Sessions in the database as Django keeps them, and their people, by compiled queries: every request asks for them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import QuerySet
from django.utils.timezone import now

from collection.accounts import sign_in
from collection.judgments.compiled_sql import compiled
from collection.models import User


class SessionStore(db.SessionStore):
    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return what the session holds. One begun under Django's own backend goes on under ours."""
        held: dict[str, Any] = super().decode(session_data)
        if BACKEND_SESSION_KEY in held:
            held[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
        return held

    def _get_session_from_db(self) -> Session | None:
        found = _sessions_of(key=self.session_key or "", at=now())
        # Where there is none, Django says what follows from that.
        return found[0] if found else super()._get_session_from_db()  # type: ignore[misc]


@compiled
def _sessions_of(*, key: str, at: datetime) -> QuerySet[Session]:
    return Session.objects.filter(session_key=key, expire_date__gt=at)


class PasswordBackend(sign_in.PasswordBackend):
    def get_user(self, user_id: int) -> User | None:
        found = _people_of(key=user_id)
        return found[0] if found and self.user_can_authenticate(found[0]) else None


@compiled
def _people_of(*, key: int) -> QuerySet[User]:
    return User.objects.filter(pk=key)
