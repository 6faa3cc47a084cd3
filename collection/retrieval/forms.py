"""What researchers choose for a run that is made here."""

from __future__ import annotations

from typing import Any

from django import forms
from rest_framework import serializers

from collection.retrieval.serializers import Bm25Options, DenseOptions, SampleOptions
from collection.web.options import OptionsForm


class RetrievalForm(OptionsForm):
    """The options of one method, with their defaults filled in; what the declaration refuses is the form's error."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, choices=self.lists(), **kwargs)
        for name in self.asked:
            if name != "run":
                self.fields[name].initial = self.declared[name].default

    @classmethod
    def lists(cls) -> dict[str, list[tuple[str, str]]]:
        """Return the options that are chosen from a list."""
        declared = cls.options().fields
        chosen = {name: field for name, field in declared.items() if isinstance(field, serializers.ChoiceField)}
        return {name: list(field.choices.items()) for name, field in chosen.items()}

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if self.errors:
            return cleaned
        declared = self.options(data=cleaned)
        if not declared.is_valid():
            for name, errors in declared.errors.items():
                self.add_error(name if name in self.fields else None, [str(error) for error in errors])
            return cleaned
        return dict(declared.validated_data)


class Bm25Form(RetrievalForm):
    options = Bm25Options
    asked = (
        "run", "system", "query", "depth", "k1", "b", "title_weight", "text_weight", "language", "window", "stride",
    )  # fmt: skip


class DenseForm(RetrievalForm):
    options = DenseOptions
    asked = (
        "run", "system", "query", "depth", "model", "query_prefix", "passage_prefix", "window", "stride",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("query_prefix", "passage_prefix"):
            field = self.fields[name]
            assert isinstance(field, forms.CharField)
            field.strip = False  # what ends with a space shall end with it


class SampleForm(RetrievalForm):
    options = SampleOptions
    asked = ("run", "passages", "top", "contexts", "seed")


FORMS: dict[str, type[RetrievalForm]] = {"bm25": Bm25Form, "dense": DenseForm, "sample": SampleForm}
