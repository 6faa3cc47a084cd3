"""Tokens by which scripts use the API in a person's name."""

from __future__ import annotations

from django.db import models
from knox.models import AbstractAuthToken


class ApiToken(AbstractAuthToken):  # type: ignore[misc]
    """A token of a person, kept as its SHA-512 alone, which ends on its day.

    `password_stamp` is made of the password that the person had then: with another one it opens nothing, whoever
    changed it and however.
    """

    name = models.CharField(max_length=60)
    last_used_at = models.DateTimeField(null=True)
    password_stamp = models.CharField(max_length=64)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name
