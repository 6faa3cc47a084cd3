"""What programs send: JSON read as strictly as files are, and numbers that every database can keep."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser

from collection.formats.problems import BrokenLine, decoded
from collection.formats.values import LARGEST_NUMBER, LARGEST_WHOLE, strict_json


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
