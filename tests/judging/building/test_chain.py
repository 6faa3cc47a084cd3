"""From reports to a leaderboard: sentences as passages, graded beside those of all other systems."""

from __future__ import annotations

from collections import Counter
from hashlib import md5
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.models import (
    Collection,
    Judgment,
    Passage,
    RankedPassage,
    Report,
    ReportSentence,
    RubricElement,
    Run,
    User,
)
from collection.texts.sentence_passages import NoSentences, sentences_as_passages
from judging import celery_tasks
from judging.building.chain.following import follow_those_that_wait
from judging.building.sources import CannotBuild
from judging.judges.registry import load_shipped
from judging.models import Build, GradingJob, Judge
from tests.judging.building.test_builds import SCRIPTS
from tests.judging.building.world import Scripted, a_build, finish, with_ranking

pytestmark = pytest.mark.django_db


def named(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def test_a_sentence_is_one_passage_however_many_systems_say_it(collection: Collection) -> None:
    Report.objects.all().delete()
    alpha = Run.objects.get(name="alpha-1")
    beta = Run.objects.create(collection=collection, system=alpha.system, name="beta-1")
    topic = collection.topics.order_by("pk")[0]
    cited = Report.objects.create(run=alpha, topic=topic, text="Cats purr.  They sleep. Cats purr. Fish swim.")
    for position, (start, end) in enumerate([(0, 12), (12, 23), (24, 34), (35, 45)]):
        ReportSentence.objects.create(report=cited, position=position, start=start, end=end)
    Report.objects.create(run=beta, topic=topic, text="Über alles.\nCats purr. One. Two. Three.")

    made = sentences_as_passages(collection, most=3)
    again = sentences_as_passages(collection, most=3)

    assert (made.new, made.known, made.ranked) == (5, 0, 6)
    assert (again.new, again.known, again.ranked) == (0, 5, 0)
    ranking = RankedPassage.objects.filter(run__in=made.runs).order_by("run__name", "rank")
    assert list(ranking.values_list("run__name", "rank", "passage_id")) == [
        ("alpha-1-sentences", 1, named("Cats purr.")), ("alpha-1-sentences", 2, named("They sleep.")),
        ("alpha-1-sentences", 3, named("Fish swim.")), ("beta-1-sentences", 1, named("Über alles.")),
        ("beta-1-sentences", 2, named("Cats purr.")), ("beta-1-sentences", 3, named("One.")),
    ]  # fmt: skip
    assert Passage.objects.get(passage_id=named("Cats purr.")).text == "Cats purr."
    Run.objects.filter(name="beta-1-sentences").update(attributes={})
    with pytest.raises(NoSentences, match="does not rank the sentences"):
        sentences_as_passages(collection)


@pytest.fixture
def judge(collection: Collection) -> Judge:
    load_shipped()
    with_ranking(collection)
    return Judge.objects.get(task_type="rating", engine="lexical")


def test_one_command_goes_from_documents_to_the_leaderboard(
    collection: Collection, rosa: User, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(celery_tasks, "writer_for", lambda *_: Scripted(SCRIPTS["rifer"]))
    told = StringIO()
    options: dict[str, Any] = {"collection": collection.name, "documents": "alpha-1", "stdout": told}

    call_command("build", "rifer", **options, run="mine", grade_by=judge.name, accept_as="rosa")

    assert Run.objects.get(name="mine").reports.count() == 2
    graded = Judgment.objects.filter(rater=judge.rater, item__study__name=f"{collection.name}-sentences")
    ranked = RankedPassage.objects.filter(run__name__in=("mine-sentences", "alpha-1-sentences"))
    pairs = {(one.topic_id, one.passage_id) for one in ranked}
    asked = RubricElement.objects.filter(topic__in={topic for topic, _ in pairs}, kind="sub_question", masked=False)
    questions = Counter(element.topic_id for element in asked)
    assert graded.count() == sum(questions[topic] for topic, _ in pairs)
    making = Passage.objects.filter(attributes__has_key="generated").first()
    assert making is not None
    assert making.attributes["generated"]["review"] == "accepted unread"
    board = told.getvalue().split("graded in the study")[1]
    assert "mine" in board
    assert "alpha" in board
    with pytest.raises(CommandError, match="a run “mine” already"):
        call_command("build", "rifer", **options, run="mine", grade_by=judge.name, accept_as="rosa")
    with pytest.raises(CommandError, match="in whose name"):
        call_command("build", "rifer", **options, grade_by=judge.name)
    with pytest.raises(CommandError, match="makes no reports"):
        call_command("build", "nuggets", **options, grade_by=judge.name, accept_as="rosa")


def test_one_click_does_it_and_a_refusal_can_be_tried_again(
    client: Client, collection: Collection, rosa: User, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.force_login(rosa)
    monkeypatch.setattr(celery_tasks, "writer_for", lambda *_: Scripted(lambda _: "One is. Two is [1]."))
    sent = {"documents": "alpha-1", "run": "mine", "grade_by": judge.name, "start": "1"}
    page = client.post(reverse("judging:build_new", args=[collection.name, "report-passages"]), sent)["Location"]
    build = Build.objects.get()
    taken = Run.objects.create(collection=collection, system=Run.objects.get().system, name="mine")

    while celery_tasks.take_one_build_turn(build.pk, build.generation):
        pass
    refused = client.get(page).content.decode()
    taken.delete()
    client.post(reverse("judging:build_move", args=[collection.name, build.pk, "follow"]))
    done = client.get(page).content.decode()

    assert "It stopped here: There is a run “mine” already" in refused
    job = GradingJob.objects.get()
    assert f"job {job.pk}" in done
    assert reverse("evaluation:leaderboard", args=[f"{collection.name}-sentences"]) in done
    follow_those_that_wait(at=now())
    assert GradingJob.objects.count() == 1


def test_what_a_worker_left_between_a_build_and_what_follows_is_done_later(
    collection: Collection, rosa: User, judge: Judge
) -> None:
    build = a_build(collection, "report-direct", by=rosa, grade_by=judge.name)
    finish(build, Scripted(lambda _: "So it is."))
    assert not Run.objects.filter(name__startswith="report-direct").exists()

    follow_those_that_wait(at=now())

    build.refresh_from_db()
    assert build.options["then"]["job"] == GradingJob.objects.get().pk
    report_judge = Judge.objects.filter(task_type="answerability").first()
    assert report_judge is not None
    with pytest.raises(CannotBuild, match="does not grade passages"):
        a_build(collection, "report-direct", by=rosa, grade_by=report_judge.name)
