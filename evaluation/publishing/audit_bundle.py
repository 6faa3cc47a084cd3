"""Writes a study's audit bundle: its tables without any text of the collection, and the figures that come of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from platform import python_version
from typing import IO, Any

from django.db.models import OuterRef, Subquery

from collection.completeness import Part
from collection.formats.judgments_reader import FLAGS
from collection.judgments.rater_names import published_names, study_raters
from collection.judgments.unaided import own_grades
from collection.masking import uncounted_items
from collection.models import (
    Draw,
    EarlierJudgment,
    Exclusion,
    Guideline,
    Item,
    Judgment,
    Rater,
    SplitTopic,
    Study,
    Suggestion,
    Topic,
    TopicDraw,
)
from collection.texts.generated import generated_in
from evaluation.data.judgments import completeness_of
from evaluation.data.visibility import Parts, parts_of
from evaluation.formats.zip_files import write_archive
from evaluation.publishing.croissant import CROISSANT, croissant_of
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.provenance import (
    about_criterion,
    about_exclusions,
    about_guidelines,
    about_rater,
    about_study,
    code_version,
    requirement_versions,
)
from stats.agreement.report import plain_grade
from stats.audit_bundle import ITEMS, JUDGMENTS, MANIFEST, RATERS, STUDY, TOPICS, figures_of, json_bytes, manifest_of
from stats.csv_files import csv_text

CHUNK = 10_000


def write_bundle(
    study: Study, out: IO[bytes], *, names: bool = False, with_simulated: bool = False, at: datetime
) -> None:
    """Write the bundle as a zip. The same study gives the same bytes but for `created_at` in its manifest, and the day
    in its Croissant description.

    People are called by numbers unless `names` asks for theirs; simulated assessors get into the qrels only where
    `with_simulated` asks for them. Their judgments are always in the tables, and marked.
    """
    called = published_names(study, names=names)
    raters = _raters(study, called)
    files = {
        STUDY: json_bytes(_about(study, called, names=names, with_simulated=with_simulated)),
        RATERS: json_bytes(raters),
        TOPICS: _topics(study),
        ITEMS: _items(study),
        JUDGMENTS: _judgments(study, called),
        "topic_draws.csv": _topic_draws(study),
        "draws.csv": _draws(study),
        **({"suggestions.csv": drawn} if (drawn := _suggestions(study, called)).count(b"\n") > 1 else {}),
        "environment.json": json_bytes(
            {"code": code_version(), "python": python_version(), "requirements": requirement_versions()}
        ),
        "data_card.md": compile_data_card(study, names=names).encode(),
        "README.md": README.encode(),
        **{
            f"guidelines/v{guideline.version}.md": guideline.markdown.encode()
            for guideline in Guideline.objects.filter(study=study)
        },
    }
    files |= figures_of(files)
    files[CROISSANT] = json_bytes(croissant_of(study, files, raters, at=at))
    files[MANIFEST] = manifest_of(files, study=study.name, created_at=at.isoformat(), code=code_version())
    write_archive(files, out)


def _about(study: Study, called: dict[int, str], *, names: bool, with_simulated: bool) -> dict[str, Any]:
    judgments = Judgment.objects.of_study(study)
    exclusions = list(Exclusion.objects.filter(study=study, lifted_at=None).order_by("pk"))
    return {
        **about_study(study),
        "state": study.state,
        "criteria": [about_criterion(one) for one in study.criteria.select_related("scale").order_by("position", "pk")],
        "guidelines": about_guidelines(study, judgments),
        "exclusions": about_exclusions(exclusions, called, names=names),
        "people": "by name" if names else "by number",
        **({"split": parts.as_dict() | {"seed": parts.split.seed}} if (parts := parts_of(study)) else {}),
        "qrels": {"with_simulated": with_simulated},
        "counts": {
            "judgments": judgments.count(),
            "ungraded": judgments.filter(grade=None).count(),
            "changed_or_withdrawn": EarlierJudgment.objects.filter(criterion__study=study).count(),
        },
    }


def _raters(study: Study, called: dict[int, str]) -> list[dict[str, Any]]:
    excluded = set(Exclusion.objects.filter(study=study, lifted_at=None).values_list("rater", flat=True))
    parts = parts_of(study)
    raters = study_raters(study)
    marks, generated = _marks(study, parts), generated_in(study)
    return [
        {
            **about_rater(rater, called[rater.pk], generated),
            "excluded": rater.pk in excluded,
            **({"test_readings": parts.readings.get(rater.pk, 0)} if parts and rater.kind == Rater.Kind.JUDGE else {}),
            **({"marks": marks[rater.pk]} if rater.pk in marks else {}),
        }
        for rater in raters
    ]


def _marks(study: Study, parts: Parts | None) -> dict[int, dict[str, dict[str, Any]]]:
    """Return by judge, part and criterion whether it is unfinished or failing; of the test part, once it was read."""
    names = dict(study.criteria.values_list("pk", "name"))
    marks: dict[int, dict[str, dict[str, Any]]] = {}
    for part in (Part.DEVELOPMENT, Part.TEST) if parts else (Part.DEVELOPMENT,):
        known = completeness_of(study, part)
        for (criterion, judge), found in known.found.items():
            if part == Part.DEVELOPMENT or (parts and parts.readings.get(judge)):
                called = "all" if parts is None else part.label.lower()
                marks.setdefault(judge, {}).setdefault(called, {})[names[criterion]] = found.as_dict()
    return marks


def _topics(study: Study) -> bytes:
    """Write the topics, with their parts where the study is split."""
    placed = dict(SplitTopic.objects.filter(split__study=study).values_list("topic_id", "part"))
    topics = Topic.objects.filter(items__study=study).distinct().order_by("pk").values_list("pk", "topic_id")
    return _written(["topic_id", "part"], ((topic_id, placed.get(pk, "")) for pk, topic_id in topics.iterator(CHUNK)))


def _items(study: Study) -> bytes:
    """Write what each item judges: ids and hashes, never a text."""
    fields = (
        "item_id",
        "task_type",
        "topic__topic_id",
        "element__element_id",
        "report__run__name",
        "passage__passage_id",
        "report__text_sha256",
        "passage__text_sha256",
        "other_report__run__name",
        "other_report__text_sha256",
        "pk",
    )
    names = ["item_id", "task_type", "topic_id", "element_id", "run", "passage_id", "text_sha256"]
    rows = Item.objects.filter(study=study).order_by("pk").values_list(*fields).iterator(CHUNK)
    uncounted = {pk for criterion in study.criteria.all() for pk in uncounted_items(criterion)}
    return _written(
        [*names, "other_run", "other_text_sha256", "masked"],
        ([*row[:6], row[6] if row[5] is None else row[7], *row[8:-1], int(row[-1] in uncounted)] for row in rows),
    )


def _judgments(study: Study, called: dict[int, str]) -> bytes:
    fields = (
        "item__topic__topic_id",
        "item__item_id",
        "criterion__name",
        "rater_id",
        "grade",
        "ungraded",
        "judged_at",
        "seconds",
        "guideline__version",
        *FLAGS,
    )
    judgments = Judgment.objects.of_study(study).with_changed_pages().order_by("item_id", "criterion_id", "rater_id")
    own = {
        (item, criterion.name, rater): grade
        for criterion in study.criteria.all()
        for (item, rater), grade in own_grades(criterion).items()
    }
    rows = _unaided(judgments.values_list("item_id", *fields).iterator(CHUNK), own)
    names = ["topic_id", "item_id", "criterion", "rater", "grade", "ungraded", "judged_at", "seconds"]
    return _written(
        [*names, "guideline_version", *FLAGS],
        (
            (
                topic,
                item,
                criterion,
                called[rater],
                _plain(grade),
                ungraded,
                _time(at),
                seconds,
                version,
                *map(int, flags),
            )
            for topic, item, criterion, rater, grade, ungraded, at, seconds, version, *flags in rows
        ),
    )


def _unaided(rows: Iterable[Any], own: Mapping[tuple[int, str, int], float | None]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows as figures count them: what people said before they saw a judge's grade, if they said anything."""
    for key, topic, item, criterion, rater, grade, *rest in rows:
        label = (key, criterion, rater)
        if label not in own or own[label] is not None:
            yield topic, item, criterion, rater, own.get(label, grade), *rest


def _suggestions(study: Study, called: dict[int, str]) -> bytes:
    """All labels that were given in a task which drew an arm, as they stand, with what was shown and said before."""
    names = ["item_id", "criterion", "rater", "arm", "probability", "judge", "judges_grade", "own_grade"]
    fields = ("item__item_id", "criterion__name", "rater_id", "arm", "probability", "judge_id", "grade", "own_grade")
    label = Judgment.objects.filter(item=OuterRef("item"), criterion=OuterRef("criterion"), rater=OuterRef("rater"))
    drawn = Suggestion.objects.filter(criterion__study=study).annotate(now=Subquery(label.values("grade")[:1]))
    rows = drawn.filter(now__isnull=False).order_by("item_id", "criterion_id", "rater_id")
    return _written(
        [*names, "grade_now"],
        (
            (
                item,
                criterion,
                called[rater],
                arm,
                share,
                called.get(judge, ""),
                _plain(judges),
                _plain(own),
                _plain(now),
            )
            for item, criterion, rater, arm, share, judge, judges, own, now in rows.values_list(*fields, "now")
        ),
    )


def _draws(study: Study) -> bytes:
    fields = ("item__item_id", "purpose", "inclusion_probability", "design", "stratum", "drawn_at")
    rows = Draw.objects.filter(item__study=study).order_by("item_id", "purpose").values_list(*fields).iterator(CHUNK)
    names = ["item_id", "purpose", "inclusion_probability", "design", "stratum", "drawn_at"]
    return _written(names, ((*row[:5], _time(row[5])) for row in rows))


def _topic_draws(study: Study) -> bytes:
    names = ["topic_id", "inclusion_probability", "design", "stratum", "drawn_at"]
    rows = TopicDraw.objects.filter(study=study).order_by("topic_id").values_list("topic__topic_id", *names[1:])
    return _written(names, ((*row[:4], _time(row[4])) for row in rows))


def _written(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    return csv_text([names, *rows]).encode()


def _plain(grade: float | None) -> int | float | str | None:
    return None if grade is None else plain_grade(grade)


def _time(time: datetime) -> str:
    return time.astimezone(UTC).isoformat()


README = """# Audit bundle

Everything that the figures of this study are computed from, and the figures. The judged texts are not included: they
belong to their collection and its licence. Their SHA-256 hashes are, so that anyone with the texts can check them.

| file | |
| --- | --- |
| manifest.json | the SHA-256 of every other file |
| croissant.json | what the files and their columns are, for programs (MLCommons Croissant 1.1) |
| study.json | criteria and scales, guideline versions, exclusions |
| raters.json | raters; judges with the hash of their settings, and what is known of their prompts |
| topics.csv, items.csv | judged items, by id and hash; `masked` is 1 if the figures leave the item out |
| judgments.csv | the current judgments in long form; an empty grade is ungraded, never 0 |
| topic_draws.csv | which topics were drawn or chosen, with their probabilities; empty where all were asked about |
| draws.csv | which items were drawn, with their probabilities |
| suggestions.csv | where judges' grades were suggested: labels as they stand; judgments.csv has those given unaided |
| guidelines/ | each version that was shown |
| figures/, qrels/ | agreement, judges compared with humans, labels: computed only from the tables above |
| environment.json | versions of the code and its libraries |
| data_card.md | description of the study |

In the CSV files, a text that a spreadsheet might read as a formula starts with an apostrophe.

To verify: `manage.py export verify FILE.zip` compares all hashes, recomputes the figures and answers yes or no.
"""
