"""What somebody may ask of a build, declared once: fields of the page, from which the command makes its arguments."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from collection.importing.uploads import at_most
from collection.models import Collection
from judging.building.builds import Request, Writer
from judging.building.pipelines import Options, Pipeline
from judging.building.prompt_files import BadPrompt, StepPrompt, read_prompt
from judging.building.sources import runs_of_reports, runs_that_rank
from judging.engines.registry import server_states
from judging.jobs.forms import LimitsForm, Lines
from judging.models import Build, Product

PROMPT = "prompt_"


class BuildForm(LimitsForm):
    """A pipeline's texts, the model that writes, and what it may spend. What is left empty has its usual value."""

    engine = forms.ChoiceField(
        choices=Build.Engine.choices, initial=Build.Engine.EMBEDDED, required=False, label="Engine",
        help_text="What writes the texts.",
    )  # fmt: skip
    model = forms.CharField(
        max_length=300, required=False, label="Model",
        help_text="As the server lists it. Not needed for the embedded model.",
    )  # fmt: skip
    endpoint = forms.ChoiceField(
        choices=[("chat", "chat"), ("completions", "completions")], required=False, initial="chat", label="Endpoint",
        help_text="Completions for a model without a chat template.",
    )  # fmt: skip
    summaries = forms.CharField(
        max_length=200, required=False, label="Summaries", help_text="The run whose reports are the human summaries."
    )
    documents = forms.CharField(
        max_length=200, required=False, label="Documents", help_text="The run whose best passages are the documents."
    )
    depth = forms.IntegerField(
        min_value=1, max_value=1000, initial=10, required=False, label="Documents of a topic",
        help_text="How many passages of each ranking; those without a text are left out.",
    )  # fmt: skip
    count = forms.IntegerField(
        min_value=1, max_value=100, initial=10, required=False, label="Questions of a topic",
        help_text="How many are asked for.",
    )  # fmt: skip
    topics = Lines(label="Topics", help_text="Ids, one per line. All if empty.")
    reply_tokens = forms.IntegerField(
        min_value=16, max_value=32768, initial=1024, required=False, label="Tokens of a reply", help_text="At most."
    )
    temperature = forms.FloatField(
        min_value=0, max_value=2, required=False, label="Temperature", help_text="In place of each step’s own."
    )
    top_p = forms.FloatField(
        min_value=0.01, max_value=1, required=False, label="Top-p", help_text="In place of each step’s own."
    )
    seed = forms.IntegerField(
        min_value=0, max_value=2**31 - 2, initial=1, required=False, label="Seed", help_text="Of the model’s sampling."
    )
    review_steps = forms.BooleanField(
        required=False, label="Review each step", help_text="Wait for review before the next step begins."
    )
    reviewers = forms.IntegerField(
        min_value=1, max_value=2, initial=1, required=False, label="Reviewers",
        help_text="How many people must agree on what becomes of a product.",
    )  # fmt: skip

    def clean(self) -> dict[str, Any]:
        sent = super().clean()
        for name, field in BuildForm.base_fields.items():
            if name not in self.fields or (sent.get(name) in (None, "") and field.initial is not None):
                sent[name] = "" if field.initial is None else field.initial
        return sent

    def request(self, pipeline: str, prompts: dict[str, StepPrompt]) -> Request:
        """Return what is asked for. Only for a form that is valid."""
        sent = self.cleaned_data
        return Request(
            pipeline=pipeline,
            writer=Writer(sent["engine"], sent["model"], sent["endpoint"]),
            topics=sent["topics"],
            summaries=sent["summaries"],
            documents=sent["documents"],
            depth=sent["depth"],
            options=Options(sent["count"], sent["reply_tokens"], sent["temperature"], sent["top_p"]),
            prompts=prompts,
            seed=sent["seed"],
            reviews_steps=sent["review_steps"],
            reviewers=sent["reviewers"],
            limits=self.terms,
        )


class StartForm(BuildForm):
    """The same on the page: runs to choose from, without what the pipeline does not ask for, and a file a prompt."""

    def __init__(self, *args: Any, collection: Collection, pipeline: Pipeline, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pipeline = pipeline
        runs = {"summaries": runs_of_reports, "documents": runs_that_rank}
        for name, of in runs.items():
            if name.removesuffix("ies") + "y" in pipeline.needs or name in pipeline.needs:
                choices = [(run.name, run.name) for run in of(collection)]
                told = self.fields[name]
                self.fields[name] = forms.ChoiceField(choices=choices, label=told.label, help_text=told.help_text)
            else:
                del self.fields[name]
        if "documents" not in pipeline.needs:
            del self.fields["depth"]
        if not pipeline.asks_for_a_count:
            del self.fields["count"]
        self.fields["kept_prompts"] = forms.JSONField(required=False, widget=forms.HiddenInput)
        for step in pipeline.steps:
            self.fields[f"{PROMPT}{step.name}"] = forms.FileField(
                required=False, label=f"Prompt of “{step.label}”", validators=[at_most(1, command="build")],
                help_text="A TOML file, in place of the shipped prompt.",
            )  # fmt: skip

    def clean_kept_prompts(self) -> dict[str, str]:
        kept = self.cleaned_data["kept_prompts"] or {}
        if not isinstance(kept, dict) or not all(isinstance(text, str) for text in kept.values()):
            raise forms.ValidationError("These are not prompts.")
        return {step.name: kept[step.name] for step in self.pipeline.steps if step.name in kept}

    def clean(self) -> dict[str, Any]:
        """Read the prompts; those that came with the estimate are kept until it is started."""
        sent = super().clean()
        self.prompts: dict[str, StepPrompt] = {}
        self.kept: dict[str, str] = sent.get("kept_prompts") or {}
        for step in self.pipeline.steps:
            name = f"{PROMPT}{step.name}"
            if file := sent.get(name):
                self.kept[step.name] = file.read().decode("utf-8", "replace")
            if step.name in self.kept:
                try:
                    prompt = read_prompt(self.kept[step.name].encode(), file_name=file.name if file else step.name)
                    step.check(prompt)
                except BadPrompt as bad:
                    self.add_error(name, str(bad))
                else:
                    self.prompts[step.name] = prompt
        return sent

    @property
    def prompts_to_keep(self) -> str:
        return json.dumps(self.kept)

    @property
    def essential(self) -> list[forms.BoundField]:
        """What everybody decides; the rest has a usual value."""
        names = ("engine", "model", "summaries", "documents", "depth", "count", "review_steps")
        return [self[name] for name in names if name in self.fields]

    @property
    def other(self) -> list[forms.BoundField]:
        essential = {field.name for field in self.essential}
        return [field for field in self.visible_fields() if field.name not in essential]


class AgainForm(forms.Form):
    """A step that is done again."""

    step = forms.CharField(max_length=50, widget=forms.HiddenInput)
    prompt = forms.FileField(
        required=False, label="Another prompt", validators=[at_most(1, command="build")], help_text="A TOML file."
    )
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 2, required=False, label="Another seed")

    def clean_prompt(self) -> StepPrompt | None:
        file = self.cleaned_data["prompt"]
        if not file:
            return None
        try:
            return read_prompt(file.read(), file_name=file.name)
        except BadPrompt as bad:
            raise forms.ValidationError(str(bad)) from bad


class DecisionForm(forms.Form):
    """What becomes of the chosen products."""

    product = forms.TypedMultipleChoiceField(coerce=int, error_messages={"required": "Choose at least one product."})
    decision = forms.ChoiceField(choices=Product.State.choices)
    text = forms.CharField(required=False, max_length=20_000, strip=True)

    def __init__(self, *args: Any, keys: list[int], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["product"].choices = [(key, key) for key in keys]  # type: ignore[attr-defined]


class AdditionForm(forms.Form):
    """Where accepted nuggets go."""

    bank = forms.SlugField(
        max_length=100,
        required=False,
        label="Nugget bank",
        help_text="Its next version has the nuggets; new if unknown.",
    )


def models_served() -> list[str]:
    """Return the models that the site's servers list, to be offered."""
    return sorted({model for state in server_states() if state.available for model in state.models})
