"""What pages, API and command take and give of model servers."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from rest_framework import serializers

from collection.api_tools import NumberField, WholeField
from collection.models import User
from judging.engines.servers import roots_of
from judging.models import ModelServer
from judging.servers.changes import MOST_ADDRESSES, may_change

MOST_USERS = 500
MOST_AT_ONCE = 1_000


class ModelServerSerializer(serializers.Serializer[Any]):
    """A model server. Its key is never shown."""

    name = serializers.SlugField(max_length=100, help_text="Letters, digits, - and _.")
    addresses = serializers.ListField(
        child=serializers.CharField(max_length=500), min_length=1, max_length=MOST_ADDRESSES,
        help_text="For example https://llm.example.org/v1. Several share the work and the key.",
    )  # fmt: skip
    key = serializers.CharField(
        required=False, write_only=True, max_length=500, allow_blank=True,
        help_text="Sent to these addresses alone, encrypted where it is stored, and never shown. Left empty, the "
        "stored one stays as long as the addresses are the same.",
    )  # fmt: skip
    site = serializers.BooleanField(
        required=False, write_only=True, label="A server of the site",
        help_text="Administrators answer for it, and the tokens used there count against the site’s quotas.",
    )  # fmt: skip
    users = serializers.ListField(
        child=serializers.CharField(max_length=150), required=False, max_length=MOST_USERS,
        label="People who may use it",
        help_text="Of a server of the site, where not every researcher may: usernames.",
    )  # fmt: skip
    everybody = serializers.BooleanField(required=False, label="Every researcher of the site may use it")
    active = serializers.BooleanField(required=False)
    concurrency = WholeField(
        required=False,
        min_value=1,
        max_value=MOST_AT_ONCE,
        label="Requests at a time",
        help_text="Of each judge, at each address.",
    )
    price_in = NumberField(
        required=False, allow_null=True, min_value=0, label="Price of a million prompt tokens",
        help_text="Jobs begin with these prices.",
    )  # fmt: skip
    price_out = NumberField(required=False, allow_null=True, min_value=0, label="Price of a million reply tokens")
    tokens_a_month = WholeField(
        required=False, allow_null=True, min_value=1, max_value=2**53, label="Tokens a month",
        help_text="Of a server of your own; the lowest of your servers’ limits holds for all of them. Empty: none.",
    )  # fmt: skip


class ModelServerShown(serializers.ModelSerializer[ModelServer]):
    """A model server as it is shown, without its key. `owner` is null for the site's."""

    addresses = serializers.SerializerMethodField()
    owner = serializers.SlugRelatedField[User](slug_field="username", read_only=True)
    users = serializers.SerializerMethodField(help_text="For those who may change it.")
    models = serializers.ListField(
        source="serves", child=serializers.CharField(), help_text="Which it had when it was last asked."
    )
    has_key = serializers.SerializerMethodField()
    may_change = serializers.SerializerMethodField()

    class Meta:
        model = ModelServer
        fields = [
            "name", "addresses", "owner", "users", "everybody", "active", "concurrency", "price_in", "price_out",
            "tokens_a_month", "has_key", "may_change", "models", "problem", "asked_at",
        ]  # fmt: skip

    def get_addresses(self, server: ModelServer) -> list[str]:
        return roots_of(server)

    def get_users(self, server: ModelServer) -> list[str]:
        return [user.username for user in server.users.all()] if server.pk and self.get_may_change(server) else []

    def get_has_key(self, server: ModelServer) -> bool:
        return bool(settings.JUDGE_API_KEY if server.from_variables else server.sealed)

    def get_may_change(self, server: ModelServer) -> bool:
        return may_change(server, self.context["user"])
