"""What a build reads of a collection: its topics, the human summaries and the documents that were chosen for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from django.db.models import QuerySet

from collection.models import Collection, Passage, RankedPassage, Report, Run, System, Topic
from collection.rankings import Ranked, in_order
from judging.building.pipelines import Document, Needs, Options, Pipeline, TopicInputs
from judging.models import Build
from stats.measures.words import TOKENIZERS, Tokenizer

MOST_NAMED = 20


class CannotBuild(ValueError):
    """The build cannot start as it was asked for; the message says why."""


def runs_of_reports(collection: Collection) -> QuerySet[Run]:
    """Return the runs that wrote reports: one of them may be the human summaries."""
    return Run.objects.filter(collection=collection, reports__isnull=False).distinct()


def runs_that_rank(collection: Collection) -> QuerySet[Run]:
    """Return the runs that rank passages."""
    return Run.objects.filter(collection=collection, ranking__isnull=False).distinct()


def chosen_topics(collection: Collection, topic_ids: Sequence[str]) -> list[Topic]:
    """Return the named topics, all if none is named. Raises CannotBuild."""
    topics = list(collection.topics.order_by("pk"))
    if not topics:
        raise CannotBuild("The collection has no topics. Import topics first.")
    known = {topic.topic_id: topic for topic in topics}
    if unknown := [name for name in topic_ids if name not in known]:
        raise CannotBuild(f"The collection has no topic “{unknown[0]}”.")
    return [known[name] for name in dict.fromkeys(topic_ids)] or topics


def check_sources(
    collection: Collection, pipeline: Pipeline, *, summaries: str, documents: str, words_of: str = ""
) -> None:
    """Raise CannotBuild where the pipeline needs a run that was not named or is not there."""
    wanted: list[tuple[Needs, str, QuerySet[Run]]] = [
        ("summary", summaries, runs_of_reports(collection)),
        ("documents", documents, runs_that_rank(collection)),
    ]
    for need, name, runs in wanted:
        if need not in pipeline.needs:
            continue
        if not name:
            raise CannotBuild(f"“{pipeline.title}” needs {pipeline.need(need)}. Choose one{_among(runs)}.")
        if not runs.filter(name=name).exists():
            what = "reports" if need == "summary" else "ranked passages"
            raise CannotBuild(f"The collection has no run “{name}” with {what}. Choose one{_among(runs)}.")
    if words_of and not runs_that_rank(collection).filter(name=words_of).exists():
        raise CannotBuild(f"The collection has no run “{words_of}” with ranked passages to count the words of.")


def _among(runs: QuerySet[Run]) -> str:
    """Return the first runs to choose among, in words; empty where there is none."""
    names = list(runs.order_by("name").values_list("name", flat=True)[:MOST_NAMED])
    return f" of {', '.join(names)}" if names else ""


def usual_name(build: Build) -> str:
    """Return what the run is called where nobody names it."""
    return f"{build.pipeline}-{build.pk}"


def check_new_run(collection: Collection, name: str) -> None:
    """Raise CannotBuild where no run of this name can be made."""
    if len(name) > 200 or any(character.isspace() for character in name):
        raise CannotBuild(f"“{name[:200]}” is not a name of a run: use at most 200 characters and no white space.")
    if Run.objects.filter(collection=collection, name=name).exists():
        raise CannotBuild(f"There is a run “{name}” already. Name another.")
    if System.objects.filter(collection=collection, name=name).exists():
        raise CannotBuild(f"There is a system “{name}” already. Name another run.")


def inputs_of(
    topics: Iterable[Topic], options: Options, *, summaries: str = "", documents: str = "", depth: int = 10
) -> dict[int, TopicInputs]:
    """Return what there is of each topic: its summary, and of a ranking’s first `depth` passages those with a text.

    Where the options name a run whose words count, `words` are those of all its passages on the topic. Where they
    limit the context’s tokens, it ends before the passage that would take it over.
    """
    tokenizer, words_of = TOKENIZERS[options.tokenizer], options.words_of
    listed = list(topics)
    texts: dict[int, str] = {}
    if summaries:
        reports = Report.objects.filter(topic__in=listed, run__name=summaries).values_list("topic_id", "text")
        texts = dict(reports)
    found = _documents(listed, documents, depth) if documents else {}
    counted = _documents(listed, words_of, None) if words_of else {}
    words = {topic.pk: tokenizer.count(one.text for one in counted.get(topic.pk, ())) for topic in listed}
    within = {pk: _within(texts, options.context_tokens, tokenizer) for pk, texts in found.items()}
    return {
        topic.pk: TopicInputs(
            topic.pk,
            topic.topic_id,
            topic.request,
            texts.get(topic.pk, ""),
            tuple(within[topic.pk]) if topic.pk in within else (),
            topic.attributes,
            words[topic.pk] if words_of else None,
            tuple(found[topic.pk][len(within[topic.pk]) :]) if topic.pk in within else (),
        )
        for topic in listed
    }


def _within(documents: Sequence[Document], most: int, tokenizer: Tokenizer) -> Sequence[Document]:
    """Return the first passages that have together at most so many tokens, titles included; 0: all of them."""
    tokens = accumulate(tokenizer.count([one.title, one.text]) for one in documents)
    return documents[: sum(count <= most for count in tokens)] if most else documents


def filled_cells(collection: Collection) -> dict[str, int]:
    """Return how many questions that came of seeds each category and domain has already, both in a name."""
    made = collection.topics.filter(attributes__has_key="seed").values_list("attributes", flat=True)
    return dict(sorted(Counter(f"{one.get('category')}\t{one.get('domain')}" for one in made).items()))


def _documents(topics: Sequence[Topic], run: str, depth: int | None) -> dict[int, list[Document]]:
    ranked: dict[int, list[Ranked]] = defaultdict(list)
    rows = RankedPassage.objects.filter(topic__in=topics, run__name=run)
    for topic, docno, rank, score in rows.values_list("topic_id", "passage_id", "rank", "score"):
        ranked[topic].append(Ranked(docno, rank, score))
    best = {topic: in_order(lines)[:depth] for topic, lines in ranked.items()}
    named = {docno for docnos in best.values() for docno in docnos}
    held = Passage.objects.filter(collection=topics[0].collection_id, passage_id__in=named).exclude(text=None)
    texts = {docno: Document(docno, text, title) for docno, text, title in _columns(held)}
    return {topic: [texts[docno] for docno in docnos if docno in texts] for topic, docnos in best.items()}


def _columns(passages: QuerySet[Passage]) -> Iterable[tuple[Any, ...]]:
    return passages.values_list("passage_id", "text", "title")


def lacking(inputs: TopicInputs, pipeline: Pipeline) -> list[str]:
    """Return what of this topic is missing: such a topic is left out, and said so."""
    there = {
        "request": inputs.request.strip(),
        "summary": inputs.summary.strip(),
        "documents": inputs.documents,
        "category": inputs.attributes.get("category"),
    }
    no_words = ["passages in the run whose words count"] if inputs.words == 0 else []
    if inputs.over and not inputs.documents:
        return ["passage within the context’s limit of tokens"]
    return [pipeline.need(need) for need in pipeline.needs if not there[need]] + no_words
