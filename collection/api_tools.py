"""What every app's part of the API shares: who asks, what they sent, why they are refused, and pages of rows.

JSON is read as strictly as files are, and numbers are those that every database can keep.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ParseError, PermissionDenied, ValidationError
from rest_framework.pagination import CursorPagination
from rest_framework.parsers import JSONParser

from collection.accounts import access
from collection.formats.problems import BrokenLine, decoded
from collection.formats.values import LARGEST_NUMBER, LARGEST_WHOLE, strict_json
from collection.models import Study, User


class Refused(APIException):
    """The state of things does not allow it now."""

    status_code = status.HTTP_409_CONFLICT


@contextmanager
def conflict_on(*reasons: type[Exception]) -> Iterator[None]:
    """Answer 409 with what these exceptions say."""
    try:
        yield
    except reasons as reason:
        raise Refused(str(reason)) from reason


@contextmanager
def invalid_on(*reasons: type[Exception], field: str = "") -> Iterator[None]:
    """Answer 400 with what these exceptions say, under the field that it is about, if any."""
    try:
        yield
    except reasons as reason:
        raise ValidationError({field: str(reason)} if field else str(reason)) from reason


def user_of(request: Any) -> User:
    """Return who asks."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    return request.user


def checked(serializer: Any) -> Any:
    """Return what was sent if it is valid; else answer 400."""
    serializer.is_valid(raise_exception=True)
    return serializer.validated_data


def study_of(request: Any, name: str | None) -> Study:
    """Return this study of who asks; else answer 404, or 403 where they still assess in it."""
    return access.study_of(user_of(request), name)


def study_to_set_up(request: Any, name: str | None) -> Study:
    """Return this study of who asks, for what shows nothing that was said in it; else answer 404."""
    return access.study_to_set_up(user_of(request), name)


def pages_by(*ordering: str) -> type[CursorPagination]:
    """Return pages in this order, which ends with something unique."""
    return type("Pages", (CursorPagination,), {"ordering": ordering})


class TooLarge(APIException):
    """The body is longer than the API takes at once."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


class StrictJSONParser(JSONParser):
    """JSON without NaN, repeated keys, NUL, endless nesting or endless length."""

    def parse(self, stream: Any, *_: Any, **__: Any) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(most + 1)
        if len(body) > most:
            raise TooLarge(f"The body is longer than {most:,} bytes: send fewer rows at once.")
        try:
            return strict_json(decoded(body))
        except BrokenLine as broken:
            raise ParseError(str(broken)) from broken


class NumberField(serializers.FloatField):
    """A finite number."""

    def to_internal_value(self, data: Any) -> float:
        number = super().to_internal_value(data)
        if not abs(number) <= LARGEST_NUMBER:
            self.fail("invalid")
        return number


class WholeField(serializers.IntegerField):
    """A whole number, up to 2³¹ − 1 unless it says otherwise."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_value": LARGEST_WHOLE, "min_value": -LARGEST_WHOLE} | kwargs)
