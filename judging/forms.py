"""What a researcher fills in: a judge, a prompt template, a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.forms import model_to_dict

from collection.models import Criterion, Scale, Study, User
from collection.models.studies import TaskType
from judging.few_shot import MOST_EXAMPLES, Examples, NoExamples, draw_examples
from judging.human_labels import NoSplit
from judging.judges import ASKED
from judging.models import Judge, PromptTemplate
from judging.placeholders import BadTemplate
from judging.template_files import TemplateText, read_template
from judging.template_versions import MOST_REPLY_TOKENS

MOST_TEMPLATE_BYTES = 200_000


@dataclass(frozen=True)
class Wanted:
    """What a judge shall grade."""

    task_type: str
    criterion_name: str
    scale: Scale


class JudgeForm(forms.Form):
    """A new judge on the model server. The baselines need no form: each study offers them by itself."""

    engine = forms.ChoiceField(
        choices=[(engine.value, engine.label) for engine in (Judge.Engine.OPENAI, Judge.Engine.VLLM)],
        initial=Judge.Engine.OPENAI,
        widget=forms.RadioSelect,
        label="Where it runs",
        help_text="vLLM in a worker is for a GPU without a server: a worker must listen to the queue “vllm”.",
    )
    asked = forms.ChoiceField(label="What it grades")
    template = forms.ModelChoiceField(PromptTemplate.objects.none(), label="Prompt template")
    model = forms.CharField(
        max_length=300,
        help_text="As the server names it; for vLLM in a worker, a folder or a name on the Hugging Face hub.",
        widget=forms.TextInput(attrs={"list": "served"}),
    )
    temperature = forms.FloatField(initial=0, min_value=0, max_value=2)
    seed = forms.IntegerField(initial=0, min_value=0, max_value=2**31 - 1)
    endpoint = forms.ChoiceField(
        choices=[("chat", "chat, by the model’s template"), ("completions", "completions, as plain text")],
        initial="chat",
        label="How it is asked",
    )
    examples = forms.IntegerField(
        required=False, min_value=0, max_value=MOST_EXAMPLES, initial=0,
        help_text="How many labelled items its prompt shows, where the template has a place for them.",
    )  # fmt: skip
    examples_from = forms.ModelChoiceField(
        Study.objects.none(), required=False, to_field_name="name",
        help_text="A study whose topics are split: examples come from its development part alone.",
    )  # fmt: skip
    examples_seed = forms.IntegerField(required=False, initial=0, min_value=0, max_value=2**31 - 1)
    name = forms.SlugField(
        required=False, max_length=150, help_text="Letters, digits, - and _. Without one it is made of what it is."
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        studies = self.fields["examples_from"]
        assert isinstance(studies, forms.ModelChoiceField)
        studies.queryset = Study.objects.of(user).filter(split__isnull=False).select_related("collection")
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

    def drawn_examples(self) -> Examples | None:
        """Draw the examples that were wished for. Only for a form that is valid. Raises NoSplit and NoExamples."""
        count, study = self.cleaned_data["examples"] or 0, self.cleaned_data["examples_from"]
        if not count:
            return None
        if study is None:
            raise NoSplit("Examples come from a study whose topics are split: choose one, or make its split first.")
        wanted = self.wanted
        criterion = study.criteria.filter(
            task_type=wanted.task_type, name=wanted.criterion_name, scale=wanted.scale
        ).first()
        if criterion is None:
            raise NoExamples(f"“{study}” does not ask “{wanted.criterion_name}” on the scale “{wanted.scale}”.")
        return draw_examples(criterion=criterion, count=count, seed=self.cleaned_data["examples_seed"] or 0)

    @property
    def wanted(self) -> Wanted:
        """What was chosen to be graded. Only for a form that is valid."""
        key = self.cleaned_data["asked"]
        if criterion := self.reworded.get(key):
            return Wanted(criterion.task_type, criterion.name, criterion.scale)
        asked = next(each for each in ASKED if each.criterion_name == key)
        return Wanted(asked.task_type, asked.criterion_name, asked.scale.stored())


class TemplateForm(forms.Form):
    """A prompt template as it is typed or pasted."""

    name = forms.SlugField(max_length=100, help_text="A name that exists gets a new version.")
    criterion_name = forms.SlugField(
        max_length=50, label="Criterion", help_text="answerability, report_rating, rating, grounded, …"
    )
    task_type = forms.ChoiceField(choices=TaskType)
    system_text = forms.CharField(required=False, label="System text", widget=forms.Textarea(attrs={"rows": 2}))
    text = forms.CharField(widget=forms.Textarea(attrs={"rows": 18}))
    reply_with = forms.ChoiceField(choices=PromptTemplate.ReplyWith, label="The model replies with")
    replies = forms.CharField(
        required=False,
        label="Words of its own",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line, with the grade it stands for: yes = 1",
    )
    reply_rule = forms.ChoiceField(
        choices=PromptTemplate.ReplyRule, required=False, initial=PromptTemplate.ReplyRule.FIRST_LINE,
        label="How the grade is read",
    )  # fmt: skip
    reply_mark = forms.CharField(
        required=False, max_length=100, label="Mark", help_text="What the line with the grade begins with: ##score:"
    )
    reply_tokens = forms.IntegerField(
        required=False, min_value=1, max_value=MOST_REPLY_TOKENS, label="Most tokens of a reply",
        help_text="Only for replies that say more than the grade. Servers are not bound to the grades then.",
    )  # fmt: skip
    orders = forms.ChoiceField(
        choices=[(1, "as it is"), (2, "in both orders")],
        initial=1,
        required=False,
        label="A pair is asked",
        help_text="If both orders disagree, it is a tie.",
    )
    cut_text_at = forms.IntegerField(
        required=False, min_value=1, label="Cut texts after so many characters",
        help_text="Empty: never cut; a prompt that is too long is ungraded. A cut is noted with the reply.",
    )  # fmt: skip
    example_text = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
        help_text="How one example is written where {examples} stands; {choice} is the reply that is right.",
    )
    source = forms.CharField(required=False, help_text="The method that it follows, and where that is described.")

    def clean_replies(self) -> tuple[tuple[str, float], ...]:
        pairs = []
        for number, line in enumerate(self.cleaned_data["replies"].splitlines(), 1):
            if not line.strip():
                continue
            reply, _, grade = line.rpartition("=")
            try:
                pairs.append((reply.strip(), float(grade)))
            except ValueError:
                raise ValidationError(f"Line {number}, “{line.strip()}”, is no reply with a grade: yes = 1") from None
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
