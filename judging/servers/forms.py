"""A model server as somebody describes it on a page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from rest_framework import serializers

from collection.models import User
from collection.web.options import form_field
from judging.engines.servers import roots_of
from judging.models import ModelServer
from judging.models.servers import administers_servers
from judging.servers.changes import OF_OWN, OF_SITE, OF_VARIABLES
from judging.servers.serializers import ModelServerSerializer

ADMINISTRATORS_ALONE = ("site", "everybody", "users")
MORE = ("users", "concurrency", "price_in", "price_out", "tokens_a_month")


class ModelServerForm(forms.Form):
    """The fields of `ModelServerSerializer` that the user may set; it checks them too."""

    def __init__(self, *args: Any, user: User, server: ModelServer | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.server, self.declared = server, ModelServerSerializer(partial=server is not None).fields
        left_out = {"active"} if administers_servers(user) else {"active", *ADMINISTRATORS_ALONE}
        if server is not None:
            left_out |= {"site"} | (OF_SITE if server.owner_id else OF_OWN)
        for name, field in self.declared.items():
            if name not in left_out and (server is None or not server.from_variables or name in OF_VARIABLES):
                self.fields[name] = _form_field(name, field)
        if server is None:
            self.initial["concurrency"] = ModelServer().concurrency
        else:
            known = {name: getattr(server, name) for name in self.fields if name not in ("addresses", "key", "users")}
            named = [user.username for user in server.users.all()] if server.pk else []
            self.initial = known | {"addresses": "\n".join(roots_of(server)), "users": "\n".join(named)}

    @property
    def first(self) -> list[forms.BoundField]:
        """What is asked of everybody."""
        return [self[name] for name in self.fields if name not in MORE]

    @property
    def more(self) -> list[forms.BoundField]:
        """What may be left as it is."""
        return [self[name] for name in MORE if name in self.fields]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        given = {name: value.split() if name in ("addresses", "users") else value for name, value in cleaned.items()}
        given = {name: value for name, value in given.items() if value is not None or self.declared[name].allow_null}
        sent = ModelServerSerializer(data=given, partial=self.server is not None)
        if not sent.is_valid():
            for name, said in sent.errors.items():
                if name not in self.errors:
                    self.add_error(name if name in self.fields else None, ValidationError(_listed(said)))
        self.sent = sent.validated_data if sent.is_valid() else {}
        return cleaned

    def add_errors(self, invalid: ValidationError) -> None:
        """Say at their fields what could not be saved."""
        for name, messages in invalid.message_dict.items():
            self.add_error(name if name in self.fields else None, messages)


def _listed(said: Any) -> list[str]:
    return [str(one) for one in (said if isinstance(said, list) else [one for some in said.values() for one in some])]


def _form_field(name: str, field: serializers.Field[Any, Any, Any, Any]) -> forms.Field:
    made = form_field(field)
    if isinstance(field, serializers.ListField):
        lines = forms.Textarea(attrs={"rows": 2})
        made = forms.CharField(
            required=field.required, label=field.label, help_text=f"{field.help_text} One a line.", widget=lines
        )
    elif name == "key":
        made.widget = forms.PasswordInput(attrs={"autocomplete": "off"})
    return made
