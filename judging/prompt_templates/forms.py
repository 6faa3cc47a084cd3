"""A prompt template as a researcher types, pastes or uploads it."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import model_to_dict

from collection.formats.problems import BrokenLine
from collection.formats.values import read_number
from collection.importing.uploads import at_most
from collection.questions.shapes import task_type_choices
from judging.models import PromptTemplate
from judging.prompts.placeholders import BadTemplate
from judging.prompts.template_files import TemplateText, read_template
from judging.prompts.template_versions import MOST_REPLY_TOKENS

MOST_TEMPLATE_MEGABYTES = 0.2


class TemplateForm(forms.Form):
    """A prompt template as it is typed or pasted."""

    name = forms.SlugField(max_length=100, help_text="An existing name gets a new version.")
    criterion_name = forms.SlugField(
        max_length=50, label="Criterion", help_text="answerability, report_rating, rating, grounded, …"
    )
    task_type = forms.ChoiceField(choices=task_type_choices)
    system_text = forms.CharField(required=False, label="System text", widget=forms.Textarea(attrs={"rows": 2}))
    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 18}))
    reply_with = forms.ChoiceField(choices=PromptTemplate.ReplyWith, label="The model replies with")
    replies = forms.CharField(
        required=False,
        label="The template’s own words",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One per line, with its grade: yes = 1",
    )
    reply_rule = forms.ChoiceField(
        choices=PromptTemplate.ReplyRule, required=False, initial=PromptTemplate.ReplyRule.FIRST_LINE,
        label="Reading rule",
    )  # fmt: skip
    reply_mark = forms.CharField(
        required=False,
        max_length=100,
        label="Mark",
        help_text="The start of the line with the grade, for example ##score:",
    )
    reply_tokens = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_REPLY_TOKENS, label="Reply token limit",
        help_text="Only for replies that contain more than the grade; these are not constrained to the grades.",
    )  # fmt: skip
    orders = forms.ChoiceField(
        choices=[(1, "as it is"), (2, "in both orders")],
        initial=1,
        required=False,
        label="Pair order",
        help_text="If both orders disagree, it is a tie.",
    )
    cut_text_at = forms.IntegerField(
        required=False, min_value=1, label="Character limit for texts",
        help_text="Empty: never cut; a prompt that is too long is ungraded. Cuts are recorded.",
    )  # fmt: skip
    example_text = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="How each example is written in place of {examples}; {choice} is the correct reply.",
    )
    source = forms.CharField(required=False, help_text="The method it follows, with a reference.")

    def clean_replies(self) -> tuple[tuple[str, float], ...]:
        pairs = []
        for number, line in enumerate(self.cleaned_data["replies"].splitlines(), 1):
            if not line.strip():
                continue
            reply, _, grade = line.rpartition("=")
            try:
                pairs.append((reply.strip(), read_number(grade.strip(), "grade")))
            except BrokenLine:
                raise ValidationError(
                    f"Line {number}, “{line.strip()}”, is not a reply with a grade. Write, for example: yes = 1"
                ) from None
        return tuple(pairs)

    def clean_reply_rule(self) -> str:
        return self.cleaned_data["reply_rule"] or PromptTemplate.ReplyRule.FIRST_LINE.value

    def clean_orders(self) -> int:
        return int(self.cleaned_data["orders"] or 1)

    @property
    def template(self) -> TemplateText:
        """What was typed. Browsers send lines that end in CRLF; a model reads plain ones."""
        sent: dict[str, Any] = {
            name: value.replace("\r\n", "\n").strip() if isinstance(value, str) else value
            for name, value in self.cleaned_data.items()
        }
        return TemplateText(**sent)

    @staticmethod
    def initial_of(template: PromptTemplate) -> dict[str, Any]:
        """Return what the form shows of a stored version, to start the next one from."""
        replies = "\n".join(f"{reply} = {grade:g}" for reply, grade in template.replies)
        return {**model_to_dict(template), "replies": replies}


class TemplateFileForm(forms.Form):
    """A prompt template in a TOML file."""

    file = forms.FileField(label="TOML file", validators=[at_most(MOST_TEMPLATE_MEGABYTES)])

    def clean_file(self) -> TemplateText:
        file = self.cleaned_data["file"]
        try:
            return read_template(file.read(), file_name=file.name)
        except BadTemplate as error:
            raise ValidationError(str(error)) from error

    @property
    def template(self) -> TemplateText:
        """What the file holds."""
        template: TemplateText = self.cleaned_data["file"]
        return template


MOST_TEMPLATE_MEGABYTES = 0.2
