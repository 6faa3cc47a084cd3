from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from collection.importing.forms import FilesField
from collection.models import Criterion, Rater, Study, System
from collection.web.options import OptionsForm
from evaluation.data.model_families import LONGEST, family_of
from evaluation.leaderboards.forms import MOST_MB
from evaluation.trust.serializers import SubmissionsChoice
from stats.completeness import Completeness


class FamiliesForm(forms.Form):
    """The model family of each judge and of each system; empty where nobody states one."""

    def __init__(
        self, *args: Any, judges: Sequence[tuple[Rater, Completeness]], systems: Sequence[System], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        stated = [
            *((f"judge-{judge.pk}", found.after(judge.name), found.why, family_of(judge)) for judge, found in judges),
            *((f"system-{system.pk}", system.name, "", system.family) for system in systems),
        ]
        for name, label, why, family in stated:
            self.fields[name] = forms.CharField(
                required=False,
                max_length=LONGEST,
                label=label,
                help_text=why,
                initial=family,
                widget=forms.TextInput(attrs={"list": "known-families"}),
            )

    def known(self) -> list[str]:
        """Return the families that are stated somewhere, to choose from."""
        return sorted({str(field.initial) for field in self.fields.values() if field.initial})

    def of(self, kind: str) -> list[forms.BoundField]:
        """Return the fields of judges (`judge`) or systems (`system`)."""
        return [self[name] for name in self.fields if name.startswith(f"{kind}-")]

    def judge_fields(self) -> list[forms.BoundField]:
        return self.of("judge")

    def system_fields(self) -> list[forms.BoundField]:
        return self.of("system")

    def families(self, kind: str) -> dict[int, str]:
        """Return what was stated of judges or systems, by primary key."""
        return {int(field.name.rpartition("-")[2]): self.cleaned_data[field.name] for field in self.of(kind)}


class SubmissionsForm(OptionsForm):
    """Files of judges, under which criterion, and what they are held against."""

    options = SubmissionsChoice
    asked = ("measure", "stored", "form")
    use_required_attribute = False

    file = FilesField(
        label="Files of judges", help_text="Qrels, or evaluation files: one of each judge, called like it."
    )
    criterion = forms.ModelChoiceField(
        Criterion.objects.none(), label="Criterion", to_field_name="name", empty_label=None
    )
    field_order = ("file", "criterion", "measure", "stored", "form")

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        criterion = self.fields["criterion"]
        assert isinstance(criterion, forms.ModelChoiceField)
        criterion.queryset = study.criteria.select_related("study__collection", "scale")

    def clean_file(self) -> Any:
        files = self.cleaned_data["file"]
        if sum(file.size for file in files) > MOST_MB * 1024**2:
            raise forms.ValidationError(f"Files of more than {MOST_MB} MB are for the command submitted_judges.")
        return files
