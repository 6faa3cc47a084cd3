"""What a researcher fills in: a judge, a prompt template, a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError

from collection.models import Criterion, Judgment, Scale, Study, User
from collection.models.studies import TaskType
from judging.judges import ASKED
from judging.models import PromptTemplate
from judging.placeholders import BadTemplate
from judging.template_files import TemplateText, read_template

MOST_TEMPLATE_BYTES = 200_000


@dataclass(frozen=True)
class Wanted:
    """What a judge shall grade."""

    task_type: str
    criterion_name: str
    scale: Scale


class JudgeForm(forms.Form):
    """A new judge on the model server. The baselines need no form: each study offers them by itself."""

    asked = forms.ChoiceField(label="What it grades")
    template = forms.ModelChoiceField(PromptTemplate.objects.none(), label="Prompt template")
    model = forms.CharField(
        max_length=300, help_text="As the server names it.", widget=forms.TextInput(attrs={"list": "served"})
    )
    temperature = forms.FloatField(initial=0, min_value=0, max_value=2)
    seed = forms.IntegerField(initial=0, min_value=0, max_value=2**31 - 1)
    name = forms.SlugField(
        required=False, max_length=150, help_text="Letters, digits, - and _. Without one it is made of what it is."
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reworded = (
            Criterion.objects.filter(study__in=Study.objects.of(user))
            .exclude(scale__content_hash__in=[asked.scale.stored().content_hash for asked in ASKED])
            .select_related("study", "scale")
        )
        self.reworded = {f"criterion-{criterion.pk}": criterion for criterion in reworded}
        asked = self.fields["asked"]
        assert isinstance(asked, forms.ChoiceField)
        asked.choices = [
            ("Criteria as they come", [(each.criterion_name, each.label) for each in ASKED]),
            (
                "Criteria with grades of their own",
                [(key, f"{c.name} of {c.study}") for key, c in self.reworded.items()],
            ),
        ]
        template = self.fields["template"]
        assert isinstance(template, forms.ModelChoiceField)
        template.queryset = PromptTemplate.objects.all()
        self.fields["model"].initial = settings.JUDGE_MODEL

    @property
    def wanted(self) -> Wanted:
        """What was chosen to be graded. Only for a form that is valid."""
        key = self.cleaned_data["asked"]
        if criterion := self.reworded.get(key):
            return Wanted(criterion.task_type, criterion.name, criterion.scale)
        asked = next(each for each in ASKED if each.criterion_name == key)
        return Wanted(asked.task_type, asked.criterion_name, asked.scale.stored())


class TemplateForm(forms.Form):
    """A prompt template as it is typed."""

    name = forms.SlugField(max_length=100, help_text="A name that exists gets a new version.")
    criterion_name = forms.SlugField(
        max_length=50, label="Criterion", help_text="answerability, report_rating, rating, grounded, …"
    )
    task_type = forms.ChoiceField(choices=TaskType)
    reply_with = forms.ChoiceField(choices=PromptTemplate.ReplyWith, label="The model replies with")
    system_text = forms.CharField(required=False, label="System text", widget=forms.Textarea(attrs={"rows": 2}))
    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 18}))
    source = forms.CharField(required=False, help_text="The method that it follows, and where that is described.")

    @property
    def template(self) -> TemplateText:
        """What was typed. Browsers send lines that end in CRLF; a model reads plain ones."""
        sent = {name: str(value).replace("\r\n", "\n").strip() for name, value in self.cleaned_data.items()}
        return TemplateText(**sent)


class TemplateFileForm(forms.Form):
    """A prompt template in a TOML file."""

    file = forms.FileField(label="A TOML file")

    def clean_file(self) -> TemplateText:
        file = self.cleaned_data["file"]
        if file.size > MOST_TEMPLATE_BYTES:
            raise ValidationError(f"The file is longer than {MOST_TEMPLATE_BYTES:,} bytes: that is no prompt.")
        try:
            return read_template(file.read(), file_name=file.name)
        except BadTemplate as error:
            raise ValidationError(str(error)) from error

    @property
    def template(self) -> TemplateText:
        """What the file holds."""
        template: TemplateText = self.cleaned_data["file"]
        return template


class StartForm(forms.Form):
    """Which judge shall grade which criterion. A baseline that was never made for its scale is named by its engine."""

    criterion = forms.CharField(max_length=50)
    judge = forms.CharField(max_length=150)


class AgainForm(forms.Form):
    """Which of the ungraded shall be graded again; all if none is chosen."""

    kinds = forms.MultipleChoiceField(required=False, choices=Judgment.Ungraded)
