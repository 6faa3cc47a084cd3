"""A data card on judges: what they are made of, how they agree with people, what they suggested and filled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Count, Exists, OuterRef

from collection.models import Arm, Judgment, Rater, Suggestion
from evaluation.data.judge_provenance import making_of
from evaluation.data.model_families import family_of
from evaluation.publishing.data_card_parts import Card, figure_cells, markdown_table, plain, share_of
from stats.completeness import complete_first
from stats.plurals import counted, times
from stats.votes import RULE_OF_PEOPLE

PROMPT_TEXTS = {"system_text": "System prompt", "text": "Prompt", "reply_with": "Reply"}


def describe_judges(card: Card) -> Iterator[str]:
    """Yield what each judge is made of: engine, model, settings and prompt."""
    judges = card.of_kind(Rater.Kind.JUDGE)
    if not judges:
        return
    yield "## Judges and their prompts"
    for judge in complete_first(judges, of=lambda judge: card.completeness.worst_of(judge.pk)):
        making, told = making_of(judge), judge.attributes
        facts = {
            "engine": making.engine or told.get("tool"),
            "model": making.model,
            "version": told.get("version"),
            "model family": family_of(judge),
            "prompt template": making.template,
            "members": ", ".join(judge.attributes.get("members") or ()),
            "settings": json.dumps(told["decoding"], ensure_ascii=False) if told.get("decoding") else "",
            "replies as": ", ".join(
                name for seen in ("answers_as", "answers_as_at") for name in judge.attributes.get(seen, ())
            ),
            "cannot be reproduced, for its servers refuse": ", ".join(told.get("not_sent") or ()),
            "examples in the prompt": len(told.get("examples") or ()) or "",
        }
        said = "; ".join(f"{name} {plain(str(value))}" for name, value in facts.items() if value)
        yield ""
        yield f"**{plain(card.called[judge.pk])}**: {said or 'nothing is known of its model and prompt'}."
        for title, text in _prompts(told):
            yield ""
            yield f"{title}:"
            yield ""
            yield from (f"    {line}" for line in text.splitlines())


def _prompts(told: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the texts of a judge's prompt: of its template, or as the file of an imported one says."""
    template = told.get("template")
    texts = template if isinstance(template, dict) else {"text": told.get("prompt") or ""}
    for name, title in PROMPT_TEXTS.items():
        if isinstance(text := texts.get(name), str) and text.strip():
            yield title, text


def compare_judges(card: Card) -> Iterator[str]:
    """Yield how far each judge agrees with people."""
    rows: list[list[Any]] = []
    for figures in card.figures:
        for judge in (*figures.judges, *figures.tests):
            compared = judge.comparison
            rows.append(
                [
                    plain(judge.one.name),
                    f"`{figures.criterion.name}`",
                    f"test, read {times(judge.readings)}" if judge.part == "test" else judge.part,
                    compared.n_items,
                    share_of(compared.n_ungraded, compared.n_items),
                    " ".join(figure_cells(compared.threshold.kappa)),
                    " ".join(figure_cells(compared.coverage.kendall)),
                ]
            )
    if not rows:
        return
    yield "## Judges compared with humans"
    yield ""
    yield f"Compared with assessors ({RULE_OF_PEOPLE}). An ungraded reply counts as a miss and lowers κ."
    yield ""
    yield from markdown_table(
        [
            "Judge",
            "Human criterion",
            "Topics",
            "Items",
            "Ungraded",
            "κ (unweighted) at the threshold",
            "τ_b of coverage",
        ],
        rows,
    )


def describe_suggestions(card: Card) -> Iterator[str]:
    """Yield how many labels were given under each arm, where a judge's grades were suggested."""
    labels = Judgment.objects.filter(
        item=OuterRef("item"), criterion=OuterRef("criterion"), rater=OuterRef("rater"), grade__isnull=False
    )
    drawn = Suggestion.objects.filter(Exists(labels), criterion__study=card.study)
    rows = list(drawn.order_by().values_list("arm", "judge__name").annotate(Count("pk")).order_by("judge__name", "arm"))
    if not rows:
        return
    yield "## Suggestions"
    yield ""
    yield (
        "Some tasks, drawn by chance, showed assessors a judge’s grade. All figures and qrels go by labels of *none* "
        "and first grades of *after*: labels that saw the judge’s help first (*verify*, *post-edit*) are left out."
    )
    yield ""
    for arm, judge, count in rows:
        yield f"- {Arm(arm).label}: {counted(count, 'labels')}, judge {plain(judge)}"


def describe_filling(card: Card) -> Iterator[str]:
    """Yield whose the lines of the filled qrels are that the card goes with, if it goes with any."""
    if card.filled is None:
        return
    counts, judge = card.filled["counts"], card.filled["judge"]
    name = plain(judge["name"])
    yield "## Filled qrels"
    yield ""
    yield (
        f"Of {counted(counts['lines'], 'lines')} of the qrels that this card goes with, {counts['human_lines']:,} are "
        f"people’s and **{counts['filled_lines']:,} are the judge {name}’s**: its grades stand where no person judged. "
        "The table of lines says of each whose it is."
    )
    yield ""
    yield f"- Labels of the judge’s grades: {plain(card.filled['labels_of_the_judge']['in_words'])}"
    pool = card.filled["pool"]
    runs = "all runs" if pool["runs"] == "all" else ", ".join(map(plain, pool["runs"]))
    where = "all that the judge graded" if pool["depth"] is None else f"the top {pool['depth']} of {runs}"
    yield f"- Filled: {where}"
    yield f"- Without a line even so: {counted(counts['left_unjudged_in_pool'], 'passages')} of the pool"
    for warning in card.filled["warnings"]:
        yield f"- {plain(warning)}"
