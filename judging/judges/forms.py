"""A judge as a researcher describes it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from django import forms
from django.conf import settings

from collection.models import Criterion, Scale, Study, User
from collection.questions.shapes import TASK_TYPES
from judging.data.human_labels import NoSplit
from judging.engines.thinking import MODES, MOST_ROOM, ROOM, SERVERS_OWN
from judging.models import Judge, PromptTemplate
from judging.prompts.criteria import (
    FOR_PEOPLE_ALONE,
    JUDGED_CRITERIA,
    judged_criteria,
    judged_criterion_named,
    judged_criterion_of,
)
from judging.prompts.few_shot import MOST_EXAMPLES, Examples, NoExamples, choose_examples, draw_examples

ASKED_BY_PROMPTS = (Judge.Engine.OPENAI, Judge.Engine.VLLM, Judge.Engine.TEXT2TEXT)


@dataclass(frozen=True)
class Wanted:
    """What a judge shall grade."""

    task_type: str
    criterion_name: str
    scale: Scale


def key_of(criterion: Criterion) -> str:
    """Return what the form calls a criterion that a judge is made for."""
    asked = judged_criterion_of(criterion)
    return asked.criterion_name if asked else f"criterion-{criterion.pk}"


class JudgeForm(forms.Form):
    """A new judge on the model server. The baselines need no form: each study offers them by itself."""

    engine = forms.ChoiceField(
        choices=[(engine.value, engine.label) for engine in ASKED_BY_PROMPTS],
        initial=Judge.Engine.OPENAI,
        widget=forms.RadioSelect,
        label="Engine",
        help_text="A model in a worker is for a GPU without a server; a worker must listen to “vllm” or “text2text”.",
    )
    asked = forms.ChoiceField(
        label="Criterion and scale", widget=forms.Select(attrs={"hx-get": "", "hx-trigger": "change",
        "hx-target": "#templates", "hx-select": "#templates", "hx-swap": "outerHTML"}),
    )  # fmt: skip
    template = forms.ModelChoiceField(PromptTemplate.objects.none(), label="Prompt template")
    model = forms.CharField(
        max_length=300,
        help_text="The server’s name for it; for vLLM in a worker, a folder or a name on the Hugging Face Hub.",
        widget=forms.TextInput(attrs={"list": "served"}),
    )
    temperature = forms.FloatField(initial=0, min_value=0, max_value=2)
    seed = forms.IntegerField(initial=0, min_value=0, max_value=2**31 - 1)
    endpoint = forms.ChoiceField(
        choices=[("chat", "chat, by the model’s template"), ("completions", "completions, as plain text")],
        initial="chat",
        label="Endpoint",
    )
    thinking = forms.ChoiceField(
        choices=list(MODES.items()), required=False, initial=SERVERS_OWN,
        help_text="Of models that think before they reply. Each server is tested for whether it does as you say.",
    )  # fmt: skip
    thinking_tokens = forms.IntegerField(
        required=False, min_value=0, max_value=MOST_ROOM, label="Most tokens of thinking",
        help_text=f"Added to the room of each reply. Left empty: {ROOM:,}, or half of the context if that is less.",
    )  # fmt: skip
    extra = forms.JSONField(
        required=False, label="Further parameters", widget=forms.Textarea(attrs={"rows": 2}),
        help_text='Sent with every request as they are, in JSON: {"top_k": 20}. They are part of the judge.',
    )  # fmt: skip
    examples = forms.IntegerField(
        required=False, min_value=0, max_value=MOST_EXAMPLES, initial=0,
        help_text="How many labelled items the prompt shows, if the template has a place for examples.",
    )  # fmt: skip
    examples_from = forms.ModelChoiceField(
        Study.objects.none(), required=False, to_field_name="name",
        help_text="A study whose topics are split; examples come from its development topics only.",
    )  # fmt: skip
    example_items = forms.CharField(
        required=False, label="Chosen examples", widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Ids of items of that study, one per line, in place of drawn ones.",
    )  # fmt: skip
    examples_seed = forms.IntegerField(required=False, initial=0, min_value=0, max_value=2**31 - 1)
    name = forms.SlugField(
        required=False,
        max_length=150,
        help_text="Letters, digits, - and _. Without a name, one is created from the settings.",
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        studies = self.fields["examples_from"]
        assert isinstance(studies, forms.ModelChoiceField)
        studies.queryset = Study.objects.read_by(user).filter(split__isnull=False).select_related("collection")
        criteria = Criterion.objects.filter(study__in=Study.objects.read_by(user)).exclude(
            task_type__in=FOR_PEOPLE_ALONE
        )
        self.reworded = {
            key_of(criterion): criterion
            for criterion in criteria.select_related("study", "scale")
            if judged_criterion_of(criterion) is None
        }
        asked = self.fields["asked"]
        assert isinstance(asked, forms.ChoiceField)
        own = judged_criteria()[len(JUDGED_CRITERIA) :]
        asked.choices = [
            ("Standard criteria", [(each.criterion_name, each.label) for each in JUDGED_CRITERIA]),
            ("Own questions", [(each.criterion_name, each.label) for each in own]),
            (
                "Criteria with their own grades",
                [(key, f"{c.name} of {c.study}") for key, c in self.reworded.items()],
            ),
        ]
        first = JUDGED_CRITERIA[0].criterion_name  # which a page shows before anything is chosen
        self._offer_templates(self.data.get("asked") or self.initial.get("asked", first))
        self.fields["model"].initial = settings.JUDGE_MODEL

    def _offer_templates(self, asked: str) -> None:
        """Offer the templates of this criterion's task type; where the criterion has only one, that is chosen."""
        template = self.fields["template"]
        assert isinstance(template, forms.ModelChoiceField)
        template.queryset = offered = PromptTemplate.objects.order_by("criterion_name", "name", "-version")
        kind = self._kind_of(asked)
        if kind:
            offered = offered.filter(task_type=kind[0])
            fitting = [each.pk for each in offered if each.criterion_name == kind[1]]
            template.initial = fitting[0] if len(fitting) == 1 else None
        by_itself = kind is not None and TASK_TYPES[kind[0]].own is not None
        template.required = not by_itself
        of_criterion = groupby(offered, attrgetter("criterion_name"))
        template.choices = [
            ("", "made of the question’s words" if by_itself else "choose"),
            *((criterion, [(each.pk, str(each)) for each in found]) for criterion, found in of_criterion),
        ]

    @property
    def decoding(self) -> dict[str, Any]:
        """The decoding settings. Only of a form that is valid."""
        names = ("temperature", "seed", "endpoint", "thinking", "thinking_tokens", "extra")
        return {name: value for name in names if (value := self.cleaned_data[name]) not in (None, "")}

    def drawn_examples(self) -> Examples | None:
        """Draw or take the examples that were wished for. For a valid form alone. Raises NoSplit and NoExamples."""
        count, study = self.cleaned_data["examples"] or 0, self.cleaned_data["examples_from"]
        chosen = [line.strip() for line in self.cleaned_data["example_items"].splitlines() if line.strip()]
        if not count and not chosen:
            return None
        if count and chosen:
            raise NoExamples("Either choose examples or have some drawn: leave one of the two empty.")
        if study is None:
            raise NoSplit("Examples need a study whose topics are split: choose one, or split its topics first.")
        wanted = self.wanted
        criterion = study.criteria.filter(
            task_type=wanted.task_type, name=wanted.criterion_name, scale=wanted.scale
        ).first()
        if criterion is None:
            raise NoExamples(f"“{study}” has no criterion “{wanted.criterion_name}” on the scale “{wanted.scale}”.")
        if chosen:
            return choose_examples(criterion=criterion, items=chosen)
        return draw_examples(criterion=criterion, count=count, seed=self.cleaned_data["examples_seed"] or 0)

    @property
    def wanted(self) -> Wanted:
        """What was chosen to be graded. Only for a form that is valid."""
        key = self.cleaned_data["asked"]
        if criterion := self.reworded.get(key):
            return Wanted(criterion.task_type, criterion.name, criterion.scale)
        asked = judged_criterion_named(key)
        assert asked is not None  # it was offered
        return Wanted(asked.task_type, asked.criterion_name, asked.scale.stored())

    def _kind_of(self, key: str) -> tuple[str, str] | None:
        """Return the task type and the criterion's name that a choice of `asked` stands for."""
        if criterion := self.reworded.get(key):
            return criterion.task_type, criterion.name
        asked = judged_criterion_named(key)
        return (asked.task_type, asked.criterion_name) if asked else None
