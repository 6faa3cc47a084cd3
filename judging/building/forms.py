"""What somebody may ask of a build, declared once: fields of the page, from which the command makes its arguments."""

from __future__ import annotations

import json
from typing import Any

from django import forms

from collection.importing.uploads import at_most
from collection.models import Collection
from collection.questions.shapes import TASK_TYPES
from judging.building.drafts import Request, Writer
from judging.building.pipelines import Options, Pipeline
from judging.building.prompt_files import BadPrompt, StepPrompt, read_prompt
from judging.building.shipped import PIPELINES
from judging.building.sources import runs_of_reports, runs_that_rank
from judging.jobs.forms import LimitsForm, Lines
from judging.models import Build, Judge
from stats.measures.words import TOKENIZERS, WHITESPACE

PROMPT = "prompt_"
# What only some pipelines ask for: those that name it.
ASKED_BY_SOME = (
    "rounds", "keep_at", "words", "words_of", "tokenizer", "context_tokens", "most_citations", "examples", "facts",
    "domains", "per_cell", "barren",
)  # fmt: skip
OPTIONS = ("count", "reply_tokens", "temperature", "top_p", *ASKED_BY_SOME)


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
    rounds = forms.IntegerField(
        min_value=1, max_value=10, initial=3, required=False, label="Rounds",
        help_text="How often each document is asked at most; one that brings nothing new is the last.",
    )  # fmt: skip
    keep_at = forms.FloatField(
        min_value=0, max_value=1, initial=0.7, required=False, label="Score to keep",
        help_text="Key points with a lower score are masked when they are added; 0 masks none.",
    )  # fmt: skip
    words = forms.IntegerField(
        min_value=1, max_value=10_000, initial=400, required=False, label="Words of a report",
        help_text="At most. The model is given the number; what is longer is cut.",
    )  # fmt: skip
    words_of = forms.CharField(
        max_length=200, required=False, label="As many words as",
        help_text="The run, as the oracle, whose passages of a topic have as many words as its report may have.",
    )  # fmt: skip
    tokenizer = forms.ChoiceField(
        choices=[(one.name, f"{one.name}: {one.meaning}") for one in TOKENIZERS.values()], required=False,
        initial=WHITESPACE.name, label="Counted in", help_text="How the words of a report and of its context count.",
    )  # fmt: skip
    context_tokens = forms.IntegerField(
        min_value=0, max_value=1_000_000, required=False, label="Tokens of the context",
        help_text="At most, with titles; it ends before the passage that goes over it. 0: no limit. Empty: 2500 for "
        "report-passages, as CRUX, and no limit for the others.",
    )  # fmt: skip
    most_citations = forms.IntegerField(
        min_value=1, max_value=100, initial=3, required=False, label="Most citations a sentence",
        help_text="The best ranked are kept. TREC RAG allows 3.",
    )  # fmt: skip
    examples = forms.ChoiceField(
        choices=[("0", "none"), ("1/0", "one that can be answered"), ("1/1", "one of each kind")], required=False,
        initial="0", label="Examples", help_text="Answers that stand before the question.",
    )  # fmt: skip
    facts = forms.IntegerField(
        min_value=1, max_value=50, initial=10, required=False, label="Key facts of a document",
        help_text="At most; each is looked for in all documents behind its own.",
    )  # fmt: skip
    domains = Lines(label="Domains", help_text="What new questions are about, one per line. Ten usual ones if empty.")
    per_cell = forms.IntegerField(
        min_value=1, max_value=1000, initial=7, required=False, label="Questions of a cell",
        help_text="How many each category has in each domain.",
    )  # fmt: skip
    barren = forms.IntegerField(
        min_value=1, max_value=20, initial=3, required=False, label="Rounds without anything new",
        help_text="After so many in a row a cell is given up.",
    )  # fmt: skip
    run = forms.CharField(
        max_length=200, required=False, label="Run", help_text="A new run that the reports are added as."
    )
    grade_by = forms.CharField(
        max_length=200, required=False, label="Then grade by",
        help_text="This judge grades their sentences beside those of all other reports. They are accepted unread.",
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
        options = {name: sent[name] for name in OPTIONS}
        if options["context_tokens"] in (None, "") and pipeline in PIPELINES:
            options["context_tokens"] = PIPELINES[pipeline].defaults.context_tokens
        return Request(
            pipeline=pipeline,
            writer=Writer(sent["engine"], sent["model"], sent["endpoint"]),
            topics=sent["topics"],
            summaries=sent["summaries"],
            documents=sent["documents"],
            depth=sent["depth"],
            options=Options(**options),
            prompts=prompts,
            seed=sent["seed"],
            reviews_steps=sent["review_steps"],
            reviewers=sent["reviewers"],
            limits=self.terms,
            grade_by=sent["grade_by"],
            run=sent["run"],
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
                if said := pipeline.words.get("summary" if name == "summaries" else "documents"):
                    self.fields[name].label, self.fields[name].help_text = "Run", said.capitalize()
            else:
                del self.fields[name]
        if "documents" not in pipeline.needs:
            del self.fields["depth"]
        if not pipeline.asks_for_a_count:
            del self.fields["count"]
        for name in set(ASKED_BY_SOME) - set(pipeline.asks):
            del self.fields[name]
        if pipeline.makes == "report":
            told = self.fields["grade_by"]
            choices = [("", "nobody: they wait for review"), *((one, one) for one in judges_of_passages())]
            self.fields["grade_by"] = forms.ChoiceField(
                choices=choices, required=False, label=told.label, help_text=told.help_text
            )
        else:
            del self.fields["grade_by"], self.fields["run"]
        if "words_of" in self.fields:
            told = self.fields["words_of"]
            choices = [("", "the number above"), *((run.name, run.name) for run in runs_that_rank(collection))]
            self.fields["words_of"] = forms.ChoiceField(
                choices=choices, required=False, label=told.label, help_text=told.help_text
            )
        if "context_tokens" in self.fields:
            self.fields["context_tokens"].initial = pipeline.defaults.context_tokens
        self.fields["kept_prompts"] = forms.JSONField(required=False, widget=forms.HiddenInput)
        for name, slot in pipeline.slots.items():
            self.fields[f"{PROMPT}{name}"] = forms.FileField(
                required=False, label=f"Prompt of “{slot.label}”", validators=[at_most(1, command="build")],
                help_text="A TOML file, in place of the shipped prompt.",
            )  # fmt: skip

    def clean_kept_prompts(self) -> dict[str, str]:
        kept = self.cleaned_data["kept_prompts"] or {}
        if not isinstance(kept, dict) or not all(isinstance(text, str) for text in kept.values()):
            raise forms.ValidationError("These are not prompts.")
        return {name: kept[name] for name in self.pipeline.slots if name in kept}

    def clean(self) -> dict[str, Any]:
        """Read the prompts; those that came with the estimate are kept until it is started."""
        sent = super().clean()
        self.prompts: dict[str, StepPrompt] = {}
        self.kept: dict[str, str] = sent.get("kept_prompts") or {}
        for name, slot in self.pipeline.slots.items():
            field = f"{PROMPT}{name}"
            if file := sent.get(field):
                self.kept[name] = file.read().decode("utf-8", "replace")
            if name in self.kept:
                try:
                    prompt = read_prompt(self.kept[name].encode(), file_name=file.name if file else name)
                    slot.check(prompt)
                except BadPrompt as bad:
                    self.add_error(field, str(bad))
                else:
                    self.prompts[name] = prompt
        return sent

    @property
    def prompts_to_keep(self) -> str:
        return json.dumps(self.kept)

    @property
    def essential(self) -> list[forms.BoundField]:
        """What everybody decides; the rest has a usual value."""
        names = (
            "engine",
            "model",
            "summaries",
            "documents",
            "depth",
            "count",
            *ASKED_BY_SOME,
            "run",
            "grade_by",
            "review_steps",
        )
        return [self[name] for name in names if name in self.fields]

    @property
    def other(self) -> list[forms.BoundField]:
        essential = {field.name for field in self.essential}
        return [field for field in self.visible_fields() if field.name not in essential]


class AgainForm(forms.Form):
    """A step that is done again."""

    step = forms.CharField(max_length=50, widget=forms.HiddenInput)
    kind = forms.CharField(max_length=50, required=False, label="Which prompt")
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


def judges_of_passages() -> list[str]:
    """Return the judges that grade passages by asking a model, to be offered."""
    types = [name for name, shape in TASK_TYPES.items() if shape.text == "passage"]
    judges = Judge.objects.filter(task_type__in=types).exclude(engine=Judge.Engine.ENSEMBLE)
    return list(judges.order_by("name").values_list("name", flat=True))
