"""Anchor items: a judge that may have changed is looked at before its new grades join the old ones."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import Item, Passage, RubricElement, Study, User
from judging.engines import EngineUnavailable, GradeRequest, Reply
from judging.grading.drift import ANCHOR_ITEMS, drift_of
from judging.grading.jobs import grade_again, resume_job, start_job
from judging.models import AnchorCheck, AnchorSet, Completion, GradingJob, Judge, PromptTemplate
from stats.intervals import SHARE, UNBOUNDED, ratio_interval
from tests.factories import an_item
from tests.judging.grading.test_spending import a_model_judge
from tests.judging.world import ScriptedEngine, a_job, criterion_of, many_items, work_through

pytestmark = pytest.mark.django_db


def from_server(identity: str, text: str = "1") -> ScriptedEngine:
    return ScriptedEngine(lambda _: Reply(text=text, finish_reason="stop", identity=identity))


def a_graded_study(study: Study) -> tuple[Judge, GradingJob]:
    """A study of 46 items that a judge on server A graded 1, with 20 new items since."""
    many_items(study, 40)
    judge = a_model_judge(study)
    work_through(start_job(criterion=criterion_of(study), judge=judge, by=None, at=now()), from_server("A"))
    report = study.items.get(item_id="many/many-0").report
    assert report is not None
    for number in range(20):
        element = RubricElement.objects.create(
            topic=report.topic, kind="sub_question", element_id=f"new-{number}", position=5000 + number, text="What?"
        )
        Item.objects.create(
            study=study, task_type="answerability", item_id=f"new/{number}", topic=report.topic, element=element,
            report=report,
        )  # fmt: skip
    return judge, start_job(criterion=criterion_of(study), judge=judge, by=None, at=now())


def test_the_items_are_chosen_once_by_chance_and_stored(judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)

    chosen = AnchorSet.objects.get(criterion=second.criterion)
    assert chosen.items.count() == ANCHOR_ITEMS
    cut = {
        item.report_id
        for item in Item.objects.filter(study=judged_study, report__in=chosen.items.values("report"))
        if not item.item_id.startswith("new/") and not chosen.items.filter(pk=item.pk).exists()
    }
    assert len(cut) <= 1
    assert not chosen.items.filter(item_id__startswith="new/").exists()


def test_the_same_server_goes_on_without_a_look(judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)

    job = work_through(second, from_server("A"))

    assert job.state == "done"
    assert not AnchorCheck.objects.exists()


def test_another_server_is_looked_at_before_a_single_grade_is_written(judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)
    engine = from_server("B", "0")

    job = work_through(second, engine)

    assert (job.state, job.pause_cause, job.done) == ("paused", "drift", 0)
    assert not Completion.objects.filter(engine_identity="B").exists()
    drift = drift_of(AnchorCheck.objects.get())
    assert (drift.items, drift.changed.value, drift.mean.value) == (30, 1.0, -1.0)
    assert "30 of 30 anchor items changed their grade" in job.reason
    assert "“B”" in job.reason


def test_the_grades_join_once_a_researcher_has_said_so(judged_study: Study, rosa: User) -> None:
    judge, second = a_graded_study(judged_study)
    work_through(second, from_server("B", "0"))

    resume_job(job=second, by=rosa, at=now())
    job = work_through(second, from_server("B", "0"))

    assert (job.state, job.done) == ("done", 20)
    seen = AnchorCheck.objects.get()
    assert (seen.judge, seen.confirmed_by) == (judge, rosa)
    assert seen.confirmed_at is not None


def test_a_server_that_changes_in_the_middle_stops_the_job_there(judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)

    def changes(request: GradeRequest) -> Reply:
        return Reply(text="1", identity="A" if len(engine.asked) <= 5 else "B")

    engine = ScriptedEngine(changes)
    job = work_through(second, engine)

    assert (job.pause_cause, job.done) == ("drift", 5)
    assert not Completion.objects.filter(engine_identity="B").exists()


def test_a_server_that_fails_while_it_is_looked_at_is_looked_at_again(judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)

    def fails(request: GradeRequest) -> Reply:
        if len(engine.asked) > 20:
            raise EngineUnavailable("It is gone.")
        return Reply(text="0", identity="B")

    engine = ScriptedEngine(fails)
    job = work_through(second, engine)
    assert "could not be judged again" in job.reason
    assert not AnchorCheck.objects.exists()

    resume_job(job=job, at=now())
    job = work_through(job, from_server("B", "0"))

    assert AnchorCheck.objects.count() == 1
    assert job.done == 0


def test_the_next_version_of_a_template_is_held_against_the_last(judged_study: Study) -> None:
    judge, second = a_graded_study(judged_study)
    work_through(second, from_server("A"))
    template = judge.template
    assert template is not None
    template.pk, template.version, template.content_hash = None, template.version + 1, "next"
    template.text += "\nThink well."
    template.save()
    from judging.judges.registry import make_judge

    newer, _ = make_judge(
        engine=judge.engine, model=judge.model, template=PromptTemplate.objects.get(content_hash="next"),
        task_type=judge.task_type, criterion_name=judge.criterion_name, scale=judge.scale,
    )  # fmt: skip
    job = start_job(criterion=criterion_of(judged_study), judge=newer, by=None, at=now())

    work_through(job, from_server("A", "0"))

    job.refresh_from_db()
    assert job.pause_cause == "drift"
    assert AnchorCheck.objects.get().earlier_judge == judge
    resume_job(job=job, at=now())
    assert work_through(job, from_server("A", "0")).state == "done"


def test_errors_of_the_engine_tell_nothing_of_its_identity(judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)
    engine = ScriptedEngine(
        lambda request: (
            Reply(ungraded="engine_error", error="500", identity="B")
            if request.item_id % 2
            else Reply(text="1", identity="A")
        )
    )

    assert work_through(second, engine).state == "done"


def test_grading_again_on_another_server_is_looked_at_too(judged_study: Study) -> None:
    first = work_through(
        start_job(criterion=criterion_of(judged_study), judge=a_model_judge(judged_study), by=None, at=now()),
        ScriptedEngine(lambda request: Reply(text="hm" if request.item_id % 2 else "1", identity="A")),
    )

    again = work_through(grade_again(job=first, by=None, at=now()), from_server("B"))

    assert again.pause_cause == "drift"


def test_the_job_page_shows_the_drift_and_resuming_there_confirms_it(
    client: Client, rosa: User, judged_study: Study
) -> None:
    _, second = a_graded_study(judged_study)
    work_through(second, from_server("B", "0"))
    client.force_login(rosa)

    page = " ".join(client.get(reverse("judging:job", args=[judged_study.name, second.pk])).content.decode().split())
    client.post(reverse("judging:job_move", args=[judged_study.name, second.pk, "resume"]))

    assert ">Drift</h2>" in page
    assert "<dt>Now</dt><dd>B</dd>" in page
    drift = drift_of(AnchorCheck.objects.get())
    for shown, figure in (("100 %", drift.changed), ("−1.00", drift.mean)):
        assert figure.sample is not None
        assert (figure.low, figure.sample.n_topics) == (None, texts_of_anchors())
        assert f"{shown}, no interval: {figure.reason}" in page
    assert "Accept the new model’s grades" in page
    assert AnchorCheck.objects.get().confirmed_by == rosa


def test_the_api_gives_the_drift(client: Client, rosa: User, judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)
    work_through(second, from_server("B", "0"))
    client.force_login(rosa)

    (seen,) = client.get(f"/api/v1/grading-jobs/{second.pk}/anchor-checks/").json()

    assert (seen["earlier_identity"], seen["identity"]) == ("A", "B")
    drift = drift_of(AnchorCheck.objects.get())
    texts = texts_of_anchors()
    assert seen["drift"] == {
        "items": 30, "both_graded": 30, "became_ungraded": 0, "was_ungraded": 0,
        "mean": -1.0, "mean_interval": None, "mean_reason": drift.mean.reason, "mean_texts": texts,
        "changed": 1.0, "changed_interval": None, "changed_reason": drift.changed.reason, "changed_texts": texts,
    }  # fmt: skip
    assert drift.changed.reason != ""


def test_intervals_are_over_texts_and_shown_with_their_number(client: Client, rosa: User, judged_study: Study) -> None:
    _, second = a_graded_study(judged_study)
    work_through(second, from_server("B", "0"))
    texts = many_texts(judged_study, 6)
    before = {item: 1.0 for text in texts for item in text}
    after = before | {item: 0.0 for text in texts[:2] for item in text}
    AnchorCheck.objects.update(before=before, after=after)
    client.force_login(rosa)

    page = " ".join(client.get(reverse("judging:job", args=[judged_study.name, second.pk])).content.decode().split())
    (seen,) = client.get(f"/api/v1/grading-jobs/{second.pk}/anchor-checks/").json()

    share = ratio_interval([5, 5, 0, 0, 0, 0], [5] * 6, within=SHARE)
    mean = ratio_interval([-5, -5, 0, 0, 0, 0], [5] * 6, within=UNBOUNDED)
    assert share.low is not None
    assert share.high is not None
    assert (seen["drift"]["changed_interval"], seen["drift"]["changed_texts"]) == ([share.low, share.high], 6)
    assert (seen["drift"]["mean_interval"], seen["drift"]["mean_texts"]) == ([mean.low, mean.high], 6)
    drift = drift_of(AnchorCheck.objects.get())
    for words in (page, str(drift)):
        assert words.count(", 6 texts") == 2
    assert f"interval {100 * share.low:.0f} to {100 * share.high:.0f} %, 6 texts" in page


def texts_of_anchors() -> int:
    return AnchorSet.objects.get().items.values("report").distinct().count()


def many_texts(study: Study, count: int) -> list[list[int]]:
    """Give the study so many passages with five items each, and return these by passage."""
    elements = RubricElement.objects.filter(element_id__startswith="many-")[:5]
    made = []
    for number in range(count):
        passage = Passage.objects.create(collection=study.collection, passage_id=f"p-{number}", text=f"Text {number}.")
        made.append([an_item(study, "rating", topic=one.topic, element=one, text=passage).pk for one in elements])
    return made


def test_a_lexical_judge_is_never_looked_at(judged_study: Study) -> None:
    work_through(a_job(judged_study))
    many_items(judged_study, 5)

    assert work_through(a_job(judged_study)).state == "done"
    assert not AnchorCheck.objects.exists()
