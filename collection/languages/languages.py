"""Which languages assessors' pages speak, and which one a person reads.

A person's language stands with their account: their first study's, until they choose another. Whoever has not signed
in reads what they chose in this browser, else the study's whose page it is, else what the browser asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils import translation

from collection.models import Study, User

View = TypeVar("View", bound=Callable[..., Any])

ENGLISH = "en"
# Each named in itself, in the order of menus.
NAMES: dict[str, str] = dict(settings.LANGUAGES)


def in_readers_language(view: View) -> View:
    """Say of a view that assessors read its pages: they speak their reader's language. All others speak English."""
    view.__dict__["in_readers_language"] = True
    return view


def is_in_readers_language(view: Any) -> bool:
    """Whether the view, or what it is wrapped in, says so."""
    return getattr(view, "in_readers_language", False)


def language_of(request: HttpRequest) -> str:
    """Return the language of whoever asks for a page."""
    if isinstance(request.user, User):
        return request.user.language or ENGLISH
    return translation.get_language_from_request(request)


def chosen_in_browser(request: HttpRequest) -> str:
    """Return the language that was chosen in this browser; empty where none was."""
    chosen = request.COOKIES.get(settings.LANGUAGE_COOKIE_NAME, "")
    return chosen if chosen in NAMES else ""


def speak_as(study: Study, request: HttpRequest) -> None:
    """Let the page speak the study's language, unless its reader chose one."""
    own = request.user.language if isinstance(request.user, User) else ""
    translation.activate(chosen_in_browser(request) or own or study.language)


def learn(user: User, language: str) -> None:
    """Let all pages speak this language to the person."""
    if language in NAMES and user.language != language:
        user.language = language
        user.save(update_fields=["language"])


def refuse_unspoken(language: str) -> None:
    """Raise ValidationError for what is none of our languages."""
    if language not in NAMES:
        raise ValidationError(f"“{language}” is none of the languages of the pages: {', '.join(NAMES)}.")
