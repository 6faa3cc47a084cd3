"""Every request in its reader's language, where the page is an assessor's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

from collection.languages.languages import ENGLISH, is_in_readers_language, language_of


class SpeakToAssessors:
    """Activate the reader's language for views that are `in_readers_language`; the others speak English."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        translation.activate(ENGLISH)  # asked for with every number of a page; what is active answers soonest
        try:
            response = self.get_response(request)
            language = translation.get_language()
        finally:
            translation.deactivate()
        if language != ENGLISH and not request.user.is_authenticated:
            patch_vary_headers(response, ["Accept-Language", "Cookie"])
        return response

    def process_view(self, request: HttpRequest, view: Any, *_: Any) -> None:
        if is_in_readers_language(view):
            translation.activate(language_of(request))
