"""What researchers send about collections."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.text import slugify

from collection.collections.sharing import InAlready, invite_researcher
from collection.masking import NothingToAsk, mask_elements, unmask_elements
from collection.models import Collection, RubricElement, Topic, User


class CollectionForm(forms.ModelForm[Collection]):
    class Meta:
        model = Collection
        fields = ["title", "name", "description", "licence"]
        widgets = {"description": forms.Textarea({"rows": 3})}
        help_texts = {
            "name": (
                "In addresses, files and commands: letters, digits, - and _. Leave empty to derive it from the title."
            ),
            "licence": "The licence of its texts, if known.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].required = False

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"] or slugify(self.cleaned_data.get("title", ""))[:100]
        if not name:
            raise ValidationError("Enter a title or a name with a letter that can be used in an address.")
        return name


class MaskingForm(forms.Form):
    """Which of a topic's rubric elements are asked no more, or again, and why."""

    MASK, UNMASK = "mask", "unmask"

    elements = forms.ModelMultipleChoiceField(
        RubricElement.objects.none(), error_messages={"required": "Select at least one element."}
    )
    action = forms.ChoiceField(choices=[(MASK, "Mask"), (UNMASK, "Unmask")])
    reason = forms.CharField(
        max_length=500,
        label="Reason",
        error_messages={"required": "Enter a reason: it is shown beside every figure that it changes."},
    )

    def __init__(self, *args: Any, topic: Topic, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        elements = self.fields["elements"]
        assert isinstance(elements, forms.ModelMultipleChoiceField)
        elements.queryset = topic.rubric_elements.all()

    def save(self, *, by: User, at: datetime) -> int:
        """Mask or unmask what was chosen; an error that the service finds becomes one of the form."""
        chosen = self.cleaned_data
        decide = mask_elements if chosen["action"] == self.MASK else unmask_elements
        try:
            return decide(elements=chosen["elements"], reason=chosen["reason"], by=by, at=at)
        except NothingToAsk as refused:
            self.add_error("elements", str(refused))
            return 0


class InviteForm(forms.Form):
    username = forms.CharField(label="Username", max_length=150)

    def __init__(self, *args: Any, collection: Collection, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.collection = collection

    def save(self, *, by: User, at: datetime) -> None:
        """Invite whoever has this name, or note in the form that they see the collection already."""
        try:
            invite_researcher(collection=self.collection, username=self.cleaned_data["username"], by=by, at=at)
        except InAlready as refused:
            self.add_error("username", ValidationError(str(refused)))
