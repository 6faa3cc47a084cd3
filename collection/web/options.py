"""Options declared once, as a serializer of the API; commands take them as arguments, forms as fields.

A field's `help_text` says what an option means wherever it is asked for, its `label` is what a form calls it. Bounds,
choices and defaults are the field's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django import forms
from django.core.management.base import CommandParser
from rest_framework import serializers
from rest_framework.fields import empty

from collection.formats.problems import BrokenFile
from collection.judgments.draws import ItemsNotToBeDrawn
from collection.masking import NoReason, NothingToAsk
from collection.splits import AlreadySplit, TooFewTopics
from stats.refusals import Refused

# What services raise where they refuse what was asked.
REFUSALS = (Refused, AlreadySplit, BrokenFile, ItemsNotToBeDrawn, NoReason, NothingToAsk, TooFewTopics)

# The parts of a study that is split.
PART = ("development", "test")

# What commands call otherwise, as a field's style may too (`flag`): `--by` is a person in all of them.
FLAGS = {"by": "--group-by", "form": "--as"}

Options = type[serializers.Serializer[Any]]
Choices = Sequence[tuple[str, str]]


def add_options(parser: CommandParser, options: Options, *, first: Sequence[str] = ()) -> None:
    """Add an argument for each option that is new, but `part`, in whose place commands have `--test`.

    Those that come `first` are named by their place.
    """
    for name, field in options().fields.items():
        flag = field.style.get("flag") or FLAGS.get(name, f"--{name.replace('_', '-')}")
        if name in first:
            parser.add_argument(name, metavar=name.upper(), help=_help(field))
        elif name != "part" and flag not in parser._option_string_actions:
            parser.add_argument(flag, dest=name, required=field.required, help=_help(field), **_argument(field))


def _argument(field: serializers.Field[Any, Any, Any, Any]) -> dict[str, Any]:
    """Return how argparse reads the field; what the text must be, the serializer says."""
    match field:
        case serializers.BooleanField():
            return {"action": "store_true"}
        case serializers.ListField(min_length=int(n)):
            return {"nargs": n, "metavar": "NAME"}
        case serializers.ListField():
            return {"action": "append", "metavar": getattr(field.child, "written", "NAME")}
        case serializers.ChoiceField():
            return {"metavar": f"{{{','.join(map(str, field.choices))}}}"}
        case serializers.IntegerField() | serializers.FloatField():
            return {"metavar": "N"}
    return {"metavar": "NAME"}


def _help(field: serializers.Field[Any, Any, Any, Any]) -> str:
    usual = "" if field.default in (empty, "", None, False, list) else f" (default: {field.default})"
    return f"{field.help_text or field.label}{usual}".replace("%", "%%")


def choose(options: Options, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a command's arguments choose, held to what the API is held to. Raises Refused."""
    names: list[str] = list(options().get_fields())
    choice = options(data={name: given[name] for name in names if given.get(name) is not None})
    if not choice.is_valid():
        raise Refused(" ".join(complaints(choice.errors)))
    return dict(choice.validated_data)


def complaints(errors: Mapping[str, Any]) -> Iterable[str]:
    """Say what a serializer found wrong, as a command's arguments are called."""
    for name, of_field in errors.items():
        said = " ".join(map(str, of_field if isinstance(of_field, list) else of_field.values()))
        yield said if name == "non_field_errors" else f"{FLAGS.get(name, '--' + name.replace('_', '-'))}: {said}"


class OptionsForm(forms.Form):
    """A form of some of the `options`; what is left empty becomes the option's default.

    `choices`, by name, are what a page offers for an option that takes any text, or a few of all numbers.
    """

    options: ClassVar[Options]
    asked: ClassVar[tuple[str, ...]]

    def __init__(self, *args: Any, choices: Mapping[str, Choices] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.declared = self.options().fields
        for name in self.asked:
            self.fields[name] = form_field(self.declared[name], (choices or {}).get(name))
        self.order_fields(self.field_order)

    @classmethod
    def usual(cls) -> dict[str, str]:
        """Return the defaults as an address has them."""
        declared = cls.options().fields
        usual = {name: declared[name].default for name in cls.asked}
        return {name: str(of) for name, of in usual.items() if isinstance(of, str | int) and not isinstance(of, bool)}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        for name in self.asked:
            usual = self.declared[name].default
            if cleaned.get(name) in (None, "") and usual is not empty:
                cleaned[name] = usual
        return cleaned


def form_field(field: serializers.Field[Any, Any, Any, Any], choices: Choices | None = None) -> forms.Field:
    """Return the form's field for an option; `choices` are what a page offers."""
    common: dict[str, Any] = {"required": field.required, "label": field.label, "help_text": field.help_text or ""}
    match field:
        case serializers.BooleanField():
            return forms.BooleanField(**common)
        case serializers.ListField(child=serializers.IntegerField()):
            return forms.CharField(**common)
        case serializers.ListField():
            return forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, choices=choices or [], **common)
        case serializers.FloatField() if choices is not None:
            return forms.TypedChoiceField(coerce=float, empty_value=None, choices=choices, **common)
        case _ if choices is not None:
            return forms.ChoiceField(choices=choices, **common)
        case serializers.ChoiceField():
            return forms.ChoiceField(widget=forms.RadioSelect, choices=list(field.choices.items()), **common)
        case serializers.IntegerField():
            return forms.IntegerField(min_value=field.min_value, max_value=field.max_value, **common)
        case serializers.FloatField():
            return forms.FloatField(min_value=field.min_value, max_value=field.max_value, **common)
    return forms.CharField(max_length=getattr(field, "max_length", None), **common)


def with_asked(offered: Sequence[str], *asked: str) -> list[str]:
    """Return what is offered, measures say, with what was asked for among it."""
    return list(dict.fromkeys([*offered, *filter(None, asked)]))
