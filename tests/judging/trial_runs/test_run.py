"""Trial runs of judges on any engine: five items beside what people said, and nothing stored."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Judgment, Rater, SplitTopic, Study, User
from collection.questions.shapes import RUBRIC_0_5
from collection.splits import make_split, topics_in
from judging.engines.embedded import EmbeddedServer, missing_packages
from judging.judges.registry import load_shipped, make_judge
from judging.models import Completion, GradingJob, Judge
from judging.trial_runs import engine_choice
from judging.trial_runs.engine_choice import NoTrialHere, criterion_to_try, seen_by, try_out
from judging.trial_runs.run import draw_items
from tests.factories import a_collection, a_study
from tests.judging.engines.test_probe_store import a_judge
from tests.judging.prompts.test_few_shot import label
from tests.judging.scripted_server import ScriptedServer, chat_completion
from tests.judging.world import criterion_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture
def split_study(judged_study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Rosa's study, split, with every passage rated alike by Ada and Ben."""
    load_shipped()
    make_split(study=judged_study, test_share=0.5, by=None, at=now(), seed="1")
    label(judged_study, "rating", [ada_as_rater, ben_as_rater])
    return judged_study


def of_engine(engine: str) -> Judge:
    return Judge.objects.select_related("rater", "template", "scale").get(engine=engine, name=f"{engine}-rating")


def tried(client: Client, judge: str, study: Study, **asked: str) -> Any:
    """Return the page of a trial run that a worker has done."""
    address = reverse("judging:judge_trial", args=[judge])
    return client.post(address, {"study": study.name, **asked}, follow=True)


def test_the_baseline_grades_five_items_of_the_development_part_and_stores_nothing(
    rosas: Client, split_study: Study
) -> None:
    before = Judgment.objects.count()

    page = tried(rosas, "lexical-rating", split_study, seed="1")

    trials = page.context["trials"]
    assert len(trials) == 5
    assert {each.item.topic_id for each in trials} == topics_in(split_study.split, SplitTopic.Part.DEVELOPMENT)
    assert all(each.reading.grade is not None and each.reply.score is not None for each in trials)
    assert Judgment.objects.count() == before
    assert not Completion.objects.exists()
    assert not GradingJob.objects.exists()


@pytest.mark.skipif(bool(missing_packages()), reason="the embedded model is not installed")
def test_the_embedded_model_is_started_for_the_run_and_ended_behind_it(
    split_study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers: list[EmbeddedServer] = []

    def remembered() -> EmbeddedServer:
        servers.append(EmbeddedServer())
        return servers[-1]

    monkeypatch.setattr(engine_choice, "EmbeddedServer", remembered)
    drawn = draw_items(criterion_of(split_study, "rating"), seed=1)

    trials = try_out(of_engine("embedded"), drawn, seconds=120, by=None)

    assert [each.reading is not None and each.reading.grade is not None for each in trials] == [True] * 5
    (server,) = servers
    assert server._process is None
    assert not engine_choice._embedded.locked()


def test_vllm_in_a_worker_says_where_it_can_be_tried_and_offers_five_items_in_a_job(
    rosas: Client, split_study: Study
) -> None:
    judge = a_judge(Judge.Engine.VLLM)

    page = rosas.post(reverse("judging:judge_trial", args=[judge.name]), {"study": split_study.name})

    told = page.content.decode()
    assert page.status_code == 503
    assert f"manage.py judge trial {judge.name}" in told
    assert "Estimate a job on five items" in told
    chosen = {"criterion": "rating", "judge": judge.name, "sample": "5"}
    estimated = rosas.post(reverse("judging:job_estimate", args=[split_study.name]), chosen)
    assert estimated.context["expected"][0].estimate.pairs == 5


def test_an_ensemble_is_not_tried(split_study: Study) -> None:
    ensemble = Judge(engine=Judge.Engine.ENSEMBLE, name="three")

    with pytest.raises(NoTrialHere, match="run its members"):
        try_out(ensemble, draw_items(criterion_of(split_study, "rating"), seed=1), by=None)


def test_a_judge_on_a_server_is_tried_from_its_page_too(
    rosas: Client, split_study: Study, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url
    server.script(lambda body: chat_completion("3"))

    page = tried(rosas, a_judge().name, split_study)

    assert [each.reading.grade for each in page.context["trials"]] == [3.0] * 5


def test_shows_what_a_measuring_judge_sees_of_an_item(rosas: Client, split_study: Study) -> None:
    address = reverse("judging:judge_trial", args=["lexical-rating"])

    first = rosas.get(address, {"study": split_study.name})
    second = rosas.get(address, {"study": split_study.name, "item": first.context["seen"].item.pk})

    seen = first.context["seen"]
    assert seen.measures
    assert (seen.request.query, seen.request.text) == (seen.item.element.text, seen.item.passage.text)
    assert seen.item.passage.text in first.content.decode()
    assert second.context["seen"].item.pk > seen.item.pk


def test_a_judge_with_a_template_sees_a_prompt(split_study: Study) -> None:
    judge = a_judge()

    seen = seen_by(judge, criterion_of(split_study, "rating"))

    assert seen is not None
    assert not seen.measures
    assert seen.item.judged_text.text is not None
    assert seen.item.judged_text.text in seen.request.prompt


def test_a_judge_of_report_ratings_is_not_tried_where_they_are_not_asked(judged_study: Study) -> None:
    load_shipped()
    judge = Judge.objects.get(name="lexical-report-rating")

    assert criterion_to_try(judge, judged_study) is None


def test_strangers_try_nothing_on_a_study_of_others(
    client: Client, mallory: User, ada: User, split_study: Study
) -> None:
    address = reverse("judging:judge_trial", args=["lexical-rating"])
    a_study(a_collection(owner=mallory, name="hers"), name="hers")

    client.force_login(mallory)
    assert client.post(address, {"study": split_study.name}).status_code == 404
    assert split_study.name not in client.get(address).content.decode()
    client.force_login(ada)
    assert client.get(address).status_code == 404


def test_a_test_run_warns_of_grades_without_words(
    rosas: Client, split_study: Study, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url
    server.script(lambda body: chat_completion("3"))
    bare = tuple((value, f"{value:g}", "") for value in RUBRIC_0_5.values)
    scale = replace(RUBRIC_0_5, name="bare", points=bare).stored()
    split_study.criteria.filter(name="rating").update(scale=scale)
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model="judge-model",
        template=a_judge().template,
        task_type="rating",
        criterion_name="rating",
        scale=scale,
    )
    said = StringIO()

    trial = tried(rosas, judge.name, split_study)
    about = rosas.get(reverse("judging:judge", args=[judge.name]))
    seen = rosas.get(f"/api/v1/judges/{judge.name}/preview/?study={split_study.name}").json()
    call_command("try_judge", judge.name, study=split_study.name, stdout=StringIO(), stderr=said)

    assert "The grades of the scale “bare” have no descriptions" in trial.content.decode()
    assert "The grades of the scale “bare” have no descriptions" in about.content.decode()
    assert seen["wordless"] is True
    assert "The grades of “bare” have no descriptions" in said.getvalue()


def test_a_judge_that_measures_needs_no_words(rosas: Client, split_study: Study) -> None:
    page = rosas.get(reverse("judging:judge_trial", args=["lexical-rating"]), {"study": split_study.name})

    assert "have no descriptions" not in page.content.decode()


def test_by_command(split_study: Study) -> None:
    said = StringIO()

    call_command("try_judge", "lexical-rating", study=split_study.name, stdout=said)

    lines = said.getvalue().splitlines()
    assert len(lines) == 5
    assert all("people: " in line and "judge: " in line for line in lines)
    assert not Completion.objects.exists()


def test_the_command_says_what_is_wrong(split_study: Study) -> None:
    with pytest.raises(CommandError, match="no judge “nobody”"):
        call_command("try_judge", "nobody", study=split_study.name)
    with pytest.raises(CommandError, match="has no criterion that"):
        call_command("try_judge", "lexical-report-rating", study=split_study.name)


def test_by_api(rosas: Client, split_study: Study) -> None:
    address = "/api/v1/judges/lexical-rating/"

    seen = rosas.get(f"{address}preview/", {"study": split_study.name}).json()
    asked = rosas.post(f"{address}trial/", {"study": split_study.name, "seed": 1}, "application/json")
    told = rosas.get(asked.headers["Location"])

    assert (seen["measures"], seen["prompt"], seen["choices"]) == (True, "", ["0", "1", "2", "3", "4", "5"])
    trials = told.json()["trials"]
    assert (asked.status_code, told.status_code) == (202, 200)
    assert (told.json()["state"], told.json()["probes"], len(trials)) == ("done", None, 5)
    assert all(each["grade"] is not None and each["people"] for each in trials)


def test_the_api_refuses_what_cannot_be_tried(rosas: Client, client: Client, mallory: User, split_study: Study) -> None:
    judge = a_judge(Judge.Engine.VLLM)
    sent = {"study": split_study.name}

    def tried(name: str) -> int:
        return client.post(f"/api/v1/judges/{name}/trial/", sent, "application/json").status_code

    assert tried(judge.name) == 409
    assert tried("lexical-report-rating") == 400
    client.force_login(mallory)
    assert tried("lexical-rating") == 404
    assert client.get("/api/v1/judges/lexical-rating/preview/", sent).status_code == 404
