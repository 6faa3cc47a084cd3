"""Jobs that are done elsewhere: requests written to a file for a batch service, replies read back from one.

The files are those of OpenAI's batch API, which `vllm run-batch` reads and writes too: one JSON object a
line. A reply is read by the same rule as any other, and a pair that was read is never read again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db import transaction

from collection.formats.problems import BrokenLine, InputFile
from collection.formats.values import strict_object
from collection.http import Answer
from collection.models import Item
from judging.data.items import with_texts
from judging.engines import GradeRequest, Reply
from judging.engines.dialect import Dialect
from judging.engines.openai import request_body
from judging.engines.responses import Question, read_answer
from judging.engines.server_probe import Abilities, Findings, Server, path_of
from judging.engines.thinking import OFF, ON, SERVERS_OWN, WAYS_OFF, WAYS_ON, Thinking
from judging.grading.completions import items_done, write_read_replies
from judging.grading.jobs import finish_if_done
from judging.grading.worker import completion_of
from judging.models import GradingJob, Judge
from judging.prompts.pairwise import both
from judging.prompts.rendering import request_for
from stats.plurals import counted

AT_ONCE = 500
# What the services are known to honour. OpenAI's has no way to bind a reply to a few bare words.
SERVICES = {
    "vllm": Findings(Server("vllm", "batch", ()), Abilities(constraint="structured_outputs", log_probabilities=20)),
    "openai": Findings(
        Server("other", "batch", ()), Abilities(log_probabilities=5, dialect=Dialect(cap="max_completion_tokens"))
    ),
}
# How each is asked to think or not to, where the judge says so: nobody can try it out.
SWITCHES: dict[str, dict[str, Mapping[str, Any]]] = {
    "vllm": {OFF: WAYS_OFF[0], ON: WAYS_ON[1]},
    "openai": {OFF: {"reasoning_effort": "none"}, ON: {"reasoning_effort": "medium"}},
}
SWAPPED = "swapped"
KEY = re.compile(r"[0-9]{1,18}")


class NoBatch(ValueError):
    """Nothing of this job can be written to a file or read from one."""


@dataclass
class BatchRead:
    """What was read from a file of replies: pairs that are new, by what they became, and pairs that were there."""

    new: int = 0
    known: int = 0
    graded: int = 0
    ungraded: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(self.ungraded.items()))
        told = f"{counted(self.new, 'new replies')}: {self.graded:,} graded"
        told += f", {sum(self.ungraded.values()):,} ungraded ({kinds})." if kinds else "."
        return f"{told} {self.known:,} were already stored."


def write_requests(job: GradingJob, *, service: str) -> Iterator[str]:
    """Yield a line for each request that the job misses, in the order of its work. Raises NoBatch."""
    _check(job)
    findings = service_for(job.judge, service)
    endpoint = endpoint_of(job.judge)
    for items in _missing(job):
        for item in items:
            request = request_for(job.judge, item)
            for custom_id, asked in _named(job, request):
                body = request_body(
                    [asked], model=job.judge.model, endpoint=endpoint, findings=findings, decoding=job.judge.decoding
                )
                line = {"custom_id": custom_id, "method": "POST", "url": path_of(endpoint), "body": body}
                yield json.dumps(line, ensure_ascii=False) + "\n"


@transaction.atomic
def read_replies(*, job: GradingJob, file: InputFile, at: datetime) -> BatchRead:
    """Take the replies of a file into the job. Raises BrokenFile for a line that is none of it, and NoBatch.

    Pairs that the file lacks stay missing; another file may bring them.
    """
    _check(job)
    if job.over and job.state != GradingJob.State.DONE:
        raise NoBatch(f"Job {job.pk} is {job.get_state_display()}.")
    said = BatchRead()
    with file:
        lines = _lines(job, file)
    asked_for = {key for keys in job.chunks.values_list("item_ids", flat=True) for key in keys}
    with file:
        for key, (number, _) in lines.items():
            if key[0] not in asked_for:
                file.refuse(
                    number,
                    BrokenLine(f"Item {key[0]} does not belong to job {job.pk}.", "Choose the job that it belongs to."),
                )
    keys = list(dict.fromkeys(key for key, _ in lines))
    for start in range(0, len(keys), AT_ONCE):
        _take(job, keys[start : start + AT_ONCE], lines, said, at=at)
    if job.done == job.total:
        job.chunks.filter(finished_at=None).update(finished_at=at)
        finish_if_done(job=job, at=at)
    job.refresh_from_db()
    return said


def service_for(judge: Judge, service: str) -> Findings:
    """Return what the service honours of a judge's requests."""
    findings, thinking = SERVICES[service], Thinking.of(judge.decoding)
    if thinking.mode == SERVERS_OWN:
        return findings
    switch = SWITCHES[service].get(thinking.mode, thinking.ways[0])
    return replace(
        findings,
        abilities=replace(findings.abilities, switch=switch, thinks=thinking.wanted, thinks_freely=thinking.wanted),
    )


def endpoint_of(judge: Judge) -> Any:
    """Return which of the server's endpoints the judge asks."""
    return judge.decoding.get("endpoint", "chat")


Lines = dict[tuple[int, str], tuple[int, Answer]]


def _lines(job: GradingJob, file: InputFile) -> Lines:
    """Return the answer of each line by item and order."""
    lines: Lines = {}
    for number, text in file.lines():
        with file.line(number):
            key, answer = _answer(job, text)
            if key in lines:
                raise BrokenLine(f"Its custom_id is already on line {lines[key][0]}.", "Remove one of the two lines.")
            lines[key] = (number, answer)
    return lines


def _answer(job: GradingJob, text: str) -> tuple[tuple[int, str], Answer]:
    line = strict_object(text)
    if not isinstance(line.get("custom_id"), str):
        raise BrokenLine("The line has no custom_id.", "Give the service’s output file as it came.")
    custom_id = line["custom_id"]
    name, _, rest = custom_id.partition("-")
    of_job, _, rest = rest.partition("-")
    item, _, order = rest.partition("-")
    if name != "assize" or not (KEY.fullmatch(of_job) and KEY.fullmatch(item)) or order not in {"", SWAPPED}:
        raise BrokenLine(f"The custom_id “{custom_id}” was not written here.", "Choose another file.")
    if int(of_job) != job.pk:
        raise BrokenLine(f"The line is of job {of_job}, not of job {job.pk}.", "Read it into that job.")
    if "response" not in line and "error" not in line:
        raise BrokenLine("The line has neither a response nor an error.", "This looks like a file of requests.")
    return (int(item), order), as_answer(line)


def as_answer(line: dict[str, Any]) -> Answer:
    """Return the HTTP answer that the line tells of; an error without one is told as a failure of the server."""
    response = line.get("response")
    if not isinstance(response, dict):
        return Answer(500, json.dumps(line.get("error")).encode())
    status = response.get("status_code")
    body = json.dumps(response.get("body")).encode()
    return Answer(status if isinstance(status, int) else 200, body)


def _take(job: GradingJob, keys: Sequence[int], lines: Lines, said: BatchRead, *, at: datetime) -> None:
    done = set(items_done(job, keys))
    said.known += len(done)
    rows = []
    for item in with_texts(Item.objects.filter(pk__in=[key for key in keys if key not in done])):
        request = request_for(job.judge, item)
        reply = _reply(job, request, lines)
        if reply is not None:
            rows.append(completion_of(request, reply))
    for row in write_read_replies(job, rows, at=at):
        said.new += 1
        if row.ungraded:
            said.ungraded[row.ungraded] = said.ungraded.get(row.ungraded, 0) + 1
        else:
            said.graded += 1


def _reply(job: GradingJob, request: GradeRequest, lines: Lines) -> Reply | None:
    """Return what the file says to this request; None if one of a pair's two orders is not there."""
    replies = []
    for order, asked in (("", request), (SWAPPED, request.swapped)):
        if asked is None:
            continue
        found = lines.get((request.item_id, order))
        if found is None:
            return None
        names = job.judge.names_at(())
        service = service_for(job.judge, job.selection.get("service", "openai"))
        replies += read_answer(found[1], [asked], Question(job.judge.model, service, 0.0, other_names=names))
    return replies[0] if len(replies) == 1 else both(*replies)


def _named(job: GradingJob, request: GradeRequest) -> Iterator[tuple[str, GradeRequest]]:
    yield f"assize-{job.pk}-{request.item_id}", request
    if request.swapped is not None:
        yield f"assize-{job.pk}-{request.item_id}-{SWAPPED}", request.swapped


def _missing(job: GradingJob) -> Iterator[list[Item]]:
    for keys in job.chunks.values_list("item_ids", flat=True):
        done = set(items_done(job, keys))
        found = {item.pk: item for item in with_texts(Item.objects.filter(pk__in=set(keys) - done))}
        yield [found[key] for key in keys if key in found]


def _check(job: GradingJob) -> None:
    if not job.judge.reads_prompts:
        raise NoBatch(f"“{job.judge}” uses no prompt, so it cannot be sent to a batch service.")
    if job.state not in {GradingJob.State.AWAY, *GradingJob.OVER}:
        raise NoBatch(f"Job {job.pk} is graded by workers. Start a job for a batch file instead.")
