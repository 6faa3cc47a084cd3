"""What researchers enter about the source of a collection's documents."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from collection.documents.sources import set_source
from collection.models import Collection, DocumentSource

LARGEST_DEPTH = 1000


class SourceForm(forms.Form):
    kind = forms.ChoiceField(label="Kind", choices=DocumentSource.Kind.choices)
    address = forms.CharField(
        label="Address",
        max_length=500,
        help_text="The id of a dataset; an address with {id} where the document’s id belongs, for example "
        "https://texts.example.org/docs/{id}; or a folder below the folder of documents of this site.",
    )
    text_field = forms.CharField(
        label="Text field",
        max_length=200,
        required=False,
        help_text="For JSON: the name of the field with the text, for example text or _source.body. Empty: the whole "
        "answer or file is the text.",
    )
    title_field = forms.CharField(label="Title field", max_length=200, required=False)
    key = forms.CharField(
        label="Key",
        max_length=500,
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Sent to an HTTP server as a bearer token. It is stored encrypted and never shown; leave it empty to "
        "keep the one that is stored for this address.",
    )
    depth = forms.IntegerField(
        label="Ranked passages",
        min_value=0,
        max_value=LARGEST_DEPTH,
        initial=10,
        help_text="Of every ranking, this many passages are fetched. Cited and judged documents are fetched anyway.",
    )

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collection = collection

    def save(self) -> DocumentSource | None:
        """Set the source; what the service finds wrong becomes the form's error, and None is returned."""
        try:
            return set_source(collection=self.collection, **self.cleaned_data)
        except ValidationError as invalid:
            self.add_error(None, invalid)
            return None
