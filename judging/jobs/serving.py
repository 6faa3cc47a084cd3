"""A judge served like a submission: it grades the reports of a collection, and a folder holds all that it said.

The folder has `judge.json` (who judged), `replies.jsonl` (every reply, raw, with the rule by which its grade is read)
and what follows from these two: `grades.jsonl`, `evaluation.txt` and `grades.qrels`. `replay` makes these anew from
the replies alone: it asks no model, and reads no table.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction

from collection.finished_files import whole_folder
from collection.formats.json_fields import Fields, json_objects
from collection.formats.problems import BrokenFile, InputFile, Problem
from collection.formats.scores.evaluation_files import ALL, EvaluationRow, written_evaluation
from collection.importing.studies import closed_study
from collection.models import Collection, Criterion, Item, Judgment, Report, Study
from collection.questions.shapes import TASK_TYPES, title_of
from collection.questions.wordings import in_language, language_stored_in
from judging.data.items import with_texts
from judging.data.selection import Selection, items_asked
from judging.engines import GradeRequest, Reply
from judging.grading.jobs import missing, start_job
from judging.models import Completion, GradingJob, Judge
from judging.prompts.grade_parsing import read
from judging.prompts.rendering import requests_for

JUDGE, REPLIES, GRADES = "judge.json", "replies.jsonl", "grades.jsonl"
EVALUATION, QRELS = "evaluation.txt", "grades.qrels"
AT_ONCE = 500
# What the rule of reading says itself; any other kind is what the engine said, and stays.
READ_FROM_THE_REPLY = {Judgment.Ungraded.UNREADABLE, Judgment.Ungraded.CUT_OFF}


class NotServed(ValueError):
    """The judge cannot grade these reports, or its grades are not those of its replies."""


@dataclass(frozen=True)
class Served:
    """What a folder holds: so many grades and ungraded replies; `uneven` are the runs without a value over all."""

    n_graded: int
    n_ungraded: int
    uneven: tuple[str, ...]


def criterion_like(judge: Judge, study: Study) -> Criterion:
    """Return the study's criterion that the judge grades under, made as its task type has it if it is new."""
    criterion = planned_criterion(judge, study)
    if criterion.pk is None:
        criterion.save()
    return criterion


def planned_criterion(judge: Judge, study: Study) -> Criterion:
    """Return the same, not stored if it is new: its question is in the language of the judge's grades."""
    asked = next((one for one in TASK_TYPES[judge.task_type].criteria if one.name == judge.criterion_name), None)
    there = list(study.criteria.all()) if study.pk else []
    stored = next((one for one in there if one.name == judge.criterion_name), None)
    if stored is not None:
        return stored
    planned = Criterion(
        study=study,
        name=judge.criterion_name,
        task_type=judge.task_type,
        question=asked.question if asked else judge.criterion_name,
        scale=judge.scale,
        threshold=asked.threshold if asked else judge.scale.values[-1],
        position=len(there),
    )
    if asked:
        planned.question = in_language(asked, judge.task_type, language_stored_in(planned)).question
    return planned


def name_of_study(judge: Judge, collection: Collection, name: str) -> str:
    """Return this name for the collection's closed study that the judge grades in, or one with its scale's hash.

    The latter where the study asks the judge's criterion on another scale, as in another language. A criterion of
    another name would not do: baselines measure the one of theirs, and what follows a no goes by it.
    """
    asked = Criterion.objects.filter(study__name=name, study__collection=collection, name=judge.criterion_name)
    on_others = asked.exclude(scale=judge.scale_id)
    return f"{name[:91]}-{judge.scale.content_hash[:8]}" if on_others.exists() else name


@transaction.atomic
def criterion_of_reports(judge: Judge, collection: Collection) -> Criterion:
    """Return the criterion under which the judge grades the collection's reports, with an item for all it is asked.

    It stands in the collection's closed study `NAME-served`, or in one apart (`name_of_study`). Raises NotServed.
    """
    shape = TASK_TYPES[judge.task_type]
    if shape.text != "report":
        raise NotServed(
            f"“{judge}” is for “{title_of(judge.task_type)}”, and does not grade reports. Use manage.py job start."
        )
    name = name_of_study(judge, collection, f"{collection.name[:93]}-served")
    study = closed_study(name, collection, owner=collection.owner, source="serve_judge")
    criterion = criterion_like(judge, study)
    reports = Report.objects.filter(run__collection=collection).select_related("run", "topic").order_by("pk")
    items = []
    for report in reports.defer("text"):
        parts = [judge.task_type, report.topic.topic_id, report.run.name]
        made = {"study": study, "task_type": judge.task_type, "topic": report.topic, "report": report}
        if shape.element_kind is None:
            items.append(Item(item_id="/".join(parts), **made))
            continue
        items += [
            Item(item_id="/".join([*parts, element.element_id]), element=element, **made)
            for element in report.topic.rubric_elements.filter(kind=shape.element_kind, masked=False)
        ]
    known = set(Item.objects.filter(study=study).values_list("item_id", flat=True))
    Item.objects.bulk_create([item for item in items if item.item_id not in known], batch_size=AT_ONCE)
    if not items:
        needs = f" with a {shape.element_kind.label}" if shape.element_kind else ""
        raise NotServed(f"The collection “{collection}” has no report on a topic{needs}.")
    return criterion


def start_serving(judge: Judge, criterion: Criterion, *, at: datetime) -> GradingJob | None:
    """Start a job for what the judge has not graded; None where it has graded everything."""
    if not missing(items_asked(criterion), criterion=criterion, judge=judge, attempt=1).exists():
        return None
    return start_job(criterion=criterion, judge=judge, selection=Selection(), by=None, at=at)


def write_served(judge: Judge, criterion: Criterion, folder: Path) -> Served:
    """Write the folder of what the judge replied. Raises NotServed where a grade is not that of its reply."""
    with whole_folder(folder) as beside:
        (beside / JUDGE).write_text(_pretty(_who(judge, criterion)), encoding="utf-8")
        replies = (json.dumps(line, ensure_ascii=False, allow_nan=False) for line in _replies(judge, criterion))
        _write(beside / REPLIES, (f"{reply}\n" for reply in replies))
        served = _write_what_follows(beside)
        stored = _last_completions(judge, criterion)
        n_graded = sum(completion.grade is not None for completion in stored.values())
        if (served.n_graded, served.n_ungraded) != (n_graded, len(stored) - n_graded):
            raise NotServed("The replies do not give the stored grades: the rule of reading has changed since.")
    return served


def replay(source: Path, folder: Path) -> Served:
    """Make the files anew in another folder, from the replies of the first. Raises BrokenFile."""
    with whole_folder(folder) as beside:
        for name in (JUDGE, REPLIES):
            if not (source / name).is_file():
                problem = Problem(None, f"The folder has no {name}.", "Choose one that was served.")
                raise BrokenFile(str(source), [problem])
            shutil.copyfile(source / name, beside / name)
        return _write_what_follows(beside)


def _who(judge: Judge, criterion: Criterion) -> dict[str, Any]:
    return {
        "judge": judge.name,
        "sha256": judge.content_hash,
        "engine": judge.engine,
        "model": judge.model,
        "template": str(judge.template) if judge.template else "",
        "decoding": judge.decoding,
        "criterion": criterion.name,
        "scale": judge.scale.points,
    }


def _last_completions(judge: Judge, criterion: Criterion) -> dict[int, Completion]:
    """Return the last completion of each item that the judge replied about."""
    completions = Completion.objects.filter(judge=judge, criterion=criterion).order_by("attempt", "pk")
    return {completion.item_id: completion for completion in completions.iterator(AT_ONCE)}


def _replies(judge: Judge, criterion: Criterion) -> Iterator[dict[str, Any]]:
    completions = _last_completions(judge, criterion)
    items = items_asked(criterion).filter(pk__in=completions).select_related("report__run")
    for start in range(0, len(completions), AT_ONCE):
        found = with_texts(items.order_by("item_id")[start : start + AT_ONCE])
        runs = {report.pk: report.run.name for report in _reports_of(found)}
        for item, request in zip(found, requests_for(judge, found), strict=True):
            completion = completions[item.pk]
            engine_said = completion.ungraded if completion.ungraded not in READ_FROM_THE_REPLY else ""
            reply = {
                "text": completion.reply,
                "thinking": completion.thinking,
                "finish_reason": completion.finish_reason,
                "ungraded": engine_said,
                "error": completion.error if engine_said else "",
                "log_probabilities": completion.log_probabilities,
                "score": completion.score,
            }
            yield {
                "topic_id": item.topic.topic_id,
                "run_id": runs[item.report_id or 0],
                "element_id": item.element.element_id if item.element else None,
                "request_sha256": _hash_of(request),
                "read_by": {name: getattr(request, name) for name in ("choices", "values", "rule", "mark")},
                "reply": reply,
                "engine": completion.engine_identity,
                "sent": completion.sent,
                "at": completion.completed_at.isoformat(),
            }


def _reports_of(items: Sequence[Item]) -> Iterator[Report]:
    pks = {item.report_id for item in items if item.report_id is not None}
    yield from Report.objects.filter(pk__in=pks).select_related("run").defer("text")


def _hash_of(request: GradeRequest) -> str:
    said = {name: getattr(request, name) for name in ("system", "prompt", "query", "text")}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _write_what_follows(folder: Path) -> Served:
    """Read every reply in the folder by its rule, and write the grades, the evaluation file and the qrels."""
    who = _object_of(folder / JUDGE)
    grades = list(_grades(folder / REPLIES))
    _write(folder / GRADES, (json.dumps(grade, ensure_ascii=False) + "\n" for grade in grades))
    by_text: dict[tuple[str, str], list[float]] = defaultdict(list)
    for grade in grades:
        if grade["grade"] is not None:
            by_text[grade["run_id"], grade["topic_id"]].append(grade["grade"])
    rows, uneven = _rows(by_text, str(who.get("criterion", "grade")))
    _write(folder / EVALUATION, written_evaluation(rows, form="tot"))
    _write(folder / QRELS, (f"{topic} 0 {run} {max(found):g}\n" for (run, topic), found in sorted(by_text.items())))
    n_graded = sum(grade["grade"] is not None for grade in grades)
    return Served(n_graded, len(grades) - n_graded, uneven)


def _rows(
    by_text: Mapping[tuple[str, str], Sequence[float]], measure: str
) -> tuple[list[EvaluationRow], tuple[str, ...]]:
    """Return a run's mean grade on each topic, then over all; a run that lacks a topic has no value over all."""
    means = {key: sum(found) / len(found) for key, found in sorted(by_text.items())}
    topics = sorted({topic for _, topic in means})
    rows = [EvaluationRow(run, topic, measure, mean) for (run, topic), mean in means.items()]
    uneven = []
    for run in sorted({run for run, _ in means}):
        values = [means[run, topic] for topic in topics if (run, topic) in means]
        if len(values) < len(topics):
            uneven.append(run)
        else:
            rows.append(EvaluationRow(run, ALL, measure, sum(values) / len(values)))
    return rows, tuple(uneven)


def _grades(path: Path) -> Iterator[dict[str, Any]]:
    file = InputFile(path)
    with file:
        for number, found in json_objects(file):
            with file.line(number):
                yield _graded(found)


def _graded(found: dict[str, Any]) -> dict[str, Any]:
    fields = Fields(found)
    topic, run = fields.name("topic_id"), fields.name("run_id")
    by, said = Fields(fields.take("read_by")), Fields(fields.take("reply"))
    request = GradeRequest(
        item_id=0,
        choices=tuple(by.take("choices")),
        query="",
        text="",
        values=tuple(by.take("values")),
        rule=by.text("rule"),
        mark=by.text("mark"),
    )
    reply = Reply(
        text=said.text("text"),
        ungraded=said.text("ungraded"),
        error=said.text("error"),
        finish_reason=said.text("finish_reason"),
        log_probabilities=said.take("log_probabilities"),
    )
    reading = read(request, reply)
    return {
        "topic_id": topic,
        "run_id": run,
        "element_id": fields.take("element_id"),
        "grade": reading.grade,
        "ungraded": str(reading.ungraded),
        "expected_grade": reading.expected_grade,
        "reply": reply.text,
    }


def _object_of(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BrokenFile(str(path), [Problem(None, f"The file cannot be read: {error}")]) from error
    if not isinstance(found, dict):
        raise BrokenFile(str(path), [Problem(None, "This is JSON, but not an object.")])
    return found


def _write(path: Path, lines: Iterator[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(lines)


def _pretty(found: Any) -> str:
    return json.dumps(found, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
