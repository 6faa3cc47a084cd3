"""Jobs that a batch service does: requests written to a file, replies read back by the same rule."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.formats.problems import BrokenFile, InputFile
from collection.models import Judgment, Study, User
from judging.grading.batch_files import NoBatch, read_replies, write_requests
from judging.grading.jobs import grade_again, start_job
from judging.grading.progress import counts_of_job
from judging.models import Completion, GradingJob
from tests.judging.grading.test_spending import a_model_judge
from tests.judging.world import a_job, criterion_of, saying, work_through

pytestmark = pytest.mark.django_db


def a_batch(study: Study, service: str = "openai") -> GradingJob:
    return start_job(criterion=criterion_of(study), judge=a_model_judge(study), away=service, by=None, at=now())


def output_line(request: dict[str, Any], text: str = "1", **changes: Any) -> dict[str, Any]:
    """What a service writes for a request."""
    body = {
        "id": "chatcmpl-1", "object": "chat.completion", "model": request["body"]["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 1},
    }  # fmt: skip
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": "batch_req_1", "custom_id": request["custom_id"], "response": response, "error": None, **changes}


def requests_of(job: GradingJob) -> list[dict[str, Any]]:
    return [json.loads(line) for line in write_requests(job, service=job.selection["service"])]


def a_file(tmp_path: Path, lines: list[Any], name: str = "replies.jsonl") -> InputFile:
    path = tmp_path / name
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return InputFile(path)


def test_writes_a_request_for_each_pair_as_the_service_takes_it(judged_study: Study) -> None:
    requests = requests_of(a_batch(judged_study))

    assert len(requests) == len({request["custom_id"] for request in requests}) == 6
    first = requests[0]
    assert (first["method"], first["url"]) == ("POST", "/v1/chat/completions")
    assert first["body"]["model"] == "m"
    assert "structured_outputs" not in first["body"]


def test_binds_vllm_to_the_choices_in_its_own_way(judged_study: Study) -> None:
    (first, *_) = requests_of(a_batch(judged_study, "vllm"))

    assert first["body"]["structured_outputs"] == {"choice": ["0", "1"]}


def test_no_worker_touches_such_a_job(judged_study: Study) -> None:
    job = a_batch(judged_study)
    engine = saying("1")

    work_through(job, engine)

    assert engine.asked == []
    assert job.state == "away"


def test_reads_replies_by_the_strict_rule_with_their_kinds_of_ungraded(judged_study: Study, tmp_path: Path) -> None:
    job = a_batch(judged_study)
    requests = requests_of(job)
    failed: dict[str, Any] = {"response": {"status_code": 500, "body": {"error": {"message": "out of memory"}}}}
    lines = [
        output_line(requests[0], "1"),
        output_line(requests[1], "0\n"),
        output_line(requests[2], "I would say 1."),
        output_line(requests[3], **failed),
        output_line(requests[4], response=None, error={"code": "batch_expired", "message": "too late"}),
    ]

    said = read_replies(job=job, file=a_file(tmp_path, lines), at=now())

    counts = counts_of_job(job)
    assert counts.graded == {0.0: 1, 1.0: 1}
    assert counts.ungraded == {"unreadable": 1, "engine_error": 2}
    assert (counts.waiting, job.state) == (1, "away")
    assert (said.new, said.known, said.graded) == (5, 0, 2)
    assert Judgment.objects.count() == 5
    assert Completion.objects.filter(ungraded="engine_error", error__contains="batch_expired").count() == 1


def test_the_same_file_again_changes_nothing(judged_study: Study, tmp_path: Path) -> None:
    job = a_batch(judged_study)
    lines = [output_line(request) for request in requests_of(job)]
    read_replies(job=job, file=a_file(tmp_path, lines), at=now())
    before = list(Completion.objects.order_by("pk").values())

    said = read_replies(job=job, file=a_file(tmp_path, lines), at=now())

    assert (said.new, said.known) == (0, 6)
    assert list(Completion.objects.order_by("pk").values()) == before
    assert job.state == "done"


def test_another_file_brings_what_is_missing_and_the_job_is_done(judged_study: Study, tmp_path: Path) -> None:
    job = a_batch(judged_study)
    requests = requests_of(job)
    read_replies(job=job, file=a_file(tmp_path, [output_line(one) for one in requests[:4]]), at=now())

    assert [one["custom_id"] for one in requests_of(job)] == [one["custom_id"] for one in requests[4:]]
    read_replies(job=job, file=a_file(tmp_path, [output_line(one) for one in requests[4:]]), at=now())

    assert (job.state, job.graded) == ("done", 6)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda line: "{", "not JSON"),
        (lambda line: "[1]", "not an object"),
        (lambda line: {"response": {}}, "no custom_id"),
        (lambda line: {**line, "custom_id": "request-7"}, "was not written here"),
        (lambda line: {**line, "custom_id": "assize-99999-1"}, "of job 99999"),
        (lambda line: {"custom_id": line["custom_id"], "body": {}}, "file of requests"),
    ],
)
def test_a_bad_line_is_named_with_its_reason_and_nothing_is_read(
    judged_study: Study, tmp_path: Path, spoil: Any, reason: str
) -> None:
    job = a_batch(judged_study)
    lines = [output_line(request) for request in requests_of(job)]

    with pytest.raises(BrokenFile, match=f"line 2.*{reason}"):
        read_replies(job=job, file=a_file(tmp_path, [lines[0], spoil(lines[1]), *lines[2:]]), at=now())

    assert not Completion.objects.exists()


def test_refuses_two_replies_to_one_request_and_an_item_of_another_job(judged_study: Study, tmp_path: Path) -> None:
    job = a_batch(judged_study)
    line = output_line(requests_of(job)[0])
    stranger = {**line, "custom_id": f"assize-{job.pk}-999999"}

    with pytest.raises(BrokenFile, match="is already on line 1"):
        read_replies(job=job, file=a_file(tmp_path, [line, line]), at=now())
    with pytest.raises(BrokenFile, match="does not belong to job"):
        read_replies(job=job, file=a_file(tmp_path, [stranger]), at=now())


def test_a_reply_of_another_model_is_no_grade(judged_study: Study, tmp_path: Path) -> None:
    job = a_batch(judged_study)
    line = output_line(requests_of(job)[0])
    line["response"]["body"]["model"] = "another"

    read_replies(job=job, file=a_file(tmp_path, [line]), at=now())

    assert counts_of_job(job).ungraded == {"engine_error": 1}


def test_what_was_ungraded_can_be_asked_of_the_service_again(judged_study: Study, tmp_path: Path) -> None:
    job = a_batch(judged_study)
    read_replies(job=job, file=a_file(tmp_path, [output_line(request, "hm") for request in requests_of(job)]), at=now())

    again = grade_again(job=job, by=None, at=now())
    read_replies(job=again, file=a_file(tmp_path, [output_line(one) for one in requests_of(again)]), at=now())

    assert (again.state, again.attempt, again.graded) == ("done", 2, 6)
    assert set(Judgment.objects.values_list("grade", flat=True)) == {1.0}


def test_a_job_for_workers_has_no_batch(judged_study: Study, tmp_path: Path) -> None:
    with pytest.raises(NoBatch, match="uses no prompt"):
        list(write_requests(a_job(judged_study), service="openai"))
    job = start_job(criterion=criterion_of(judged_study), judge=a_model_judge(judged_study), by=None, at=now())
    with pytest.raises(NoBatch, match="graded by workers"):
        read_replies(job=job, file=a_file(tmp_path, []), at=now())


def test_the_commands_write_and_read(judged_study: Study, tmp_path: Path) -> None:
    judge = a_model_judge(judged_study)
    out, said = tmp_path / "requests.jsonl", StringIO()
    call_command(
        "write_batch", study=judged_study.name, criterion="answerability", judge=[judge.name], out=out, service="vllm",
        stderr=StringIO(),
    )  # fmt: skip
    job = GradingJob.objects.get()
    lines = [output_line(json.loads(line)) for line in out.read_text().splitlines()]
    replies = a_file(tmp_path, lines)

    call_command("read_batch", str(replies.path), job=job.pk, quiet=True, stdout=said)

    assert "6 new replies: 6 graded. 0 were already stored." in said.getvalue()
    with pytest.raises(CommandError, match="line 1"):
        call_command("read_batch", str(out), job=job.pk, quiet=True)


def test_the_page_gives_the_requests_and_takes_the_replies(client: Client, rosa: User, judged_study: Study) -> None:
    client.force_login(rosa)
    judge = a_model_judge(judged_study)
    chosen = {"criterion": "answerability", "judge": judge.name, "service": "openai"}
    client.post(reverse("judging:job_start", args=[judged_study.name]), chosen)
    job = GradingJob.objects.get()
    address = reverse("judging:job_batch_requests", args=[judged_study.name, job.pk])

    downloaded = b"".join(client.get(address)).decode()
    lines = "\n".join(json.dumps(output_line(json.loads(line))) for line in downloaded.splitlines())
    sent = SimpleUploadedFile("out.jsonl", lines.encode())
    replies = reverse("judging:job_batch_replies", args=[judged_study.name, job.pk])
    response = client.post(replies, {"file": sent}, follow=True)

    assert "6 new replies" in response.content.decode()
    job.refresh_from_db()
    assert job.state == "done"


def test_the_page_says_what_is_wrong_with_a_file(client: Client, rosa: User, judged_study: Study) -> None:
    client.force_login(rosa)
    job = a_batch(judged_study)

    sent = SimpleUploadedFile("out.jsonl", b"nonsense\n")
    response = client.post(reverse("judging:job_batch_replies", args=[judged_study.name, job.pk]), {"file": sent})

    assert response.status_code == 422
    assert "out.jsonl, line 1: This is not JSON" in response.content.decode()


def test_a_stranger_gets_neither(client: Client, mallory: User, judged_study: Study) -> None:
    job = a_batch(judged_study)
    client.force_login(mallory)

    assert client.get(reverse("judging:job_batch_requests", args=[judged_study.name, job.pk])).status_code == 404
    assert client.post(reverse("judging:job_batch_replies", args=[judged_study.name, job.pk])).status_code == 404
