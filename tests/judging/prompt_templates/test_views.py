"""The pages of templates, trial runs, comparisons and ensembles: do they work, and whom do they refuse."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries
from pytest_django.fixtures import Settings as SettingsWrapper

from collection.models import Item, Judgment, Rater, Split, SplitTopic, Study, User
from collection.models.studies import TaskType
from collection.questions.shapes import RUBRIC_0_5
from collection.splits import make_split, topics_in
from judging.comparison.figures import compare
from judging.data.human_labels import topics_to_compare
from judging.judges.registry import load_shipped, make_judge
from judging.models import Completion, GradingJob, Judge, PromptTemplate
from tests.evaluation.judged import FINGERPRINTS
from tests.judging.judges.test_ensembles import say
from tests.judging.prompts.test_few_shot import label
from tests.judging.scripted_server import MODEL, Raw, ScriptedServer, chat_completion
from tests.judging.world import criterion_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture(autouse=True)
def shipped(db: None) -> None:
    load_shipped()


@pytest.fixture
def split_study(judged_study: Study, ada_as_rater: Rater, ben_as_rater: Rater) -> Study:
    """Rosa's study, split, with every passage rated alike by Ada and Ben."""
    make_split(study=judged_study, test_share=0.5, by=None, at=now(), seed="1")
    label(judged_study, "rating", [ada_as_rater, ben_as_rater])
    return judged_study


def a_server_judge(template: str = "rating", **changes: Any) -> Judge:
    judge, _ = make_judge(
        engine=Judge.Engine.OPENAI,
        model=MODEL,
        template=PromptTemplate.objects.get(name=template),
        task_type=TaskType.RATING,
        criterion_name="rating",
        scale=RUBRIC_0_5.stored(),
        **changes,
    )
    return judge


def development_items(study: Study) -> list[Item]:
    topics = topics_in(study.split, SplitTopic.Part.DEVELOPMENT)
    return list(Item.objects.filter(study=study, task_type=TaskType.RATING, topic__in=topics).order_by("pk"))


# The preview.


def test_the_preview_says_that_its_tokens_are_guessed(rosas: Client, judged_study: Study) -> None:
    page = rosas.get(reverse("judging:template", args=["rating", 1]))

    assert "an estimate: four characters each" in page.content.decode()


@pytest.mark.parametrize(
    ("kind", "answers", "said"),
    [
        ("vllm", {"/tokenize": {"count": 321}}, "321 tokens, counted by vllm 0.32.0, whose context length is 4,096."),
        ("vllm", {"/tokenize": {"count": 5000}}, "too long, it would be ungraded"),
        (
            "llama.cpp",
            {"/apply-template": {"prompt": "<user>…"}, "/tokenize": {"tokens": list(range(77))}},
            "77 tokens, counted by llama.cpp b9000, whose context length is 2,048",
        ),
        ("vllm", {"/tokenize": {"count": "many"}}, "an estimate"),
        ("other", {}, "an estimate"),
    ],
)  # fmt: skip
def test_the_server_counts_the_tokens_if_it_can(
    rosas: Client, judged_study: Study, settings: SettingsWrapper, kind: str, answers: dict[str, Any], said: str
) -> None:
    server = ScriptedServer(kind=kind)
    server.posts = {path: Raw(body=json.dumps(answer).encode()) for path, answer in answers.items()}
    settings.JUDGE_BASE_URL, settings.JUDGE_MODEL = server.url, ""
    item = Item.objects.filter(study=judged_study, task_type=TaskType.RATING).first()
    assert item is not None

    counted = rosas.get(reverse("judging:template_tokens", args=["rating", 1, item.pk]))
    server.stop()

    assert said in counted.content.decode()


def test_a_stranger_counts_no_tokens_of_an_item_that_is_not_theirs(
    client: Client, mallory: User, judged_study: Study
) -> None:
    client.force_login(mallory)
    item = Item.objects.filter(study=judged_study, task_type=TaskType.RATING).first()
    assert item is not None

    assert client.get(reverse("judging:template_tokens", args=["rating", 1, item.pk])).status_code == 404


# The form.


def fields(**changes: str) -> dict[str, str]:
    return {
        "name": "mine",
        "criterion_name": "grounded",
        "task_type": "key_point",
        "text": "{text}\r\n{key_point}\r\n{choices}",
        "reply_with": "own",
        "replies": "no = 0\nneutral = 0\r\n\r\nyes = 1",
        "reply_rule": "first_line",
        "reply_tokens": "200",
        "cut_text_at": "5000",
        **changes,
    }


def test_a_prompt_is_pasted_with_the_rule_by_which_it_is_read(rosas: Client) -> None:
    sent = rosas.post(reverse("judging:template_new"), fields())

    stored = PromptTemplate.objects.get(name="mine")
    assert sent.status_code == 302
    assert stored.text == "{text}\n{key_point}\n{choices}"
    assert stored.replies == [["no", 0.0], ["neutral", 0.0], ["yes", 1.0]]
    assert (stored.reply_tokens, stored.cut_text_at, stored.orders) == (200, 5000, 1)


def test_the_next_version_starts_from_all_of_the_last(rosas: Client) -> None:
    like = PromptTemplate.objects.get(name="preference")

    form = rosas.get(reverse("judging:template_new"), {"like": like.content_hash}).context["form"]

    assert form.initial["replies"] == "A = 1\nB = -1\ntie = 0"
    assert (form.initial["orders"], form.initial["reply_rule"]) == (2, "first_line")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"replies": "yes is one"}, "Line 1, “yes is one”, is not a reply with a grade"),
        ({"reply_rule": "last_line", "reply_tokens": ""}, "give the reply token limit"),
        ({"orders": "2"}, "only two texts can be swapped"),
    ],
)
def test_says_what_is_wrong_with_a_pasted_prompt(rosas: Client, change: dict[str, str], said: str) -> None:
    refused = rosas.post(reverse("judging:template_new"), fields(**change))

    assert refused.status_code == 422
    assert said in refused.content.decode()
    assert not PromptTemplate.objects.filter(name="mine").exists()


# The trial run.


def trial(client: Client, study: Study, judge: Judge, **changes: str) -> Any:
    assert judge.template is not None
    sent = {"study": study.name, "judge": judge.name, "seed": "7", **changes}
    return client.post(reverse("judging:template_trial", args=[judge.template.name, 1]), sent, follow=True)


def test_five_items_are_tried_beside_the_labels_and_nothing_is_stored(
    rosas: Client, split_study: Study, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url
    server.script(lambda body: chat_completion("3"))
    before = Judgment.objects.count()

    page = trial(rosas, split_study, a_server_judge())

    trials = page.context["trials"]
    assert len(trials) == 5
    assert {each.item.topic_id for each in trials} == topics_in(split_study.split, SplitTopic.Part.DEVELOPMENT)
    assert len({each.majority for each in trials}) == 5
    assert {each.reading.grade for each in trials} == {3}
    assert (Judgment.objects.count(), Completion.objects.count(), GradingJob.objects.count()) == (before, 0, 0)
    assert "run again" in page.content.decode().lower()


def test_the_same_seed_tries_the_same_items(
    rosas: Client, split_study: Study, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url
    judge = a_server_judge()

    first, second = (trial(rosas, split_study, judge).context["trials"] for _ in range(2))

    assert [each.item for each in first] == [each.item for each in second]


def test_a_test_run_without_a_split_warns(
    rosas: Client, judged_study: Study, server: ScriptedServer, settings: SettingsWrapper
) -> None:
    settings.JUDGE_BASE_URL = server.url

    page = trial(rosas, judged_study, a_server_judge())

    assert "not split yet" in page.content.decode()
    assert page.context["trials"][0].majority is None


def test_a_test_run_says_that_there_is_no_server(rosas: Client, split_study: Study, settings: SettingsWrapper) -> None:
    settings.JUDGE_BASE_URL = ""

    page = trial(rosas, split_study, a_server_judge())

    assert "JUDGE_BASE_URL" in page.content.decode()


def test_a_slow_server_costs_a_test_run_no_more_than_its_time(split_study: Study) -> None:
    import time

    from judging.engines import EngineState, Reply
    from judging.trial_runs.run import draw_items, run_trial

    class Slow:
        def state(self) -> EngineState:
            return EngineState(available=True)

        def grade(self, requests: Any, *, stopping: Any) -> Any:
            for number, request in enumerate(requests):
                if number == 1:
                    time.sleep(5)
                yield request, Reply(text="3", finish_reason="stop")

    drawn = draw_items(criterion_of(split_study, "rating"), seed=1)

    began = time.monotonic()
    trials = run_trial(judge=a_server_judge(), drawn=drawn, engine_for=lambda judge: Slow(), seconds=0.5)

    assert time.monotonic() - began < 3
    assert [each.reading is not None for each in trials] == [True, False, False, False, False]


def test_strangers_and_other_templates_get_no_test_run(client: Client, mallory: User, split_study: Study) -> None:
    judge = a_server_judge()
    client.force_login(mallory)

    assert trial(client, split_study, judge).status_code == 404


def test_a_judge_with_another_template_is_not_tried(rosas: Client, split_study: Study) -> None:
    judge = a_server_judge("self-rated-answerability")

    refused = rosas.post(
        reverse("judging:template_trial", args=["rating", 1]), {"study": split_study.name, "judge": judge.name}
    )

    assert refused.status_code == 404


# Side by side.


def grade_development(study: Study, judge: Judge, *grades: float | None) -> None:
    criterion = criterion_of(study, "rating")
    for item, grade in zip(development_items(study), grades, strict=True):
        Judgment.objects.create(
            item=item, criterion=criterion, rater=judge.rater, grade=grade,
            ungraded="" if grade is not None else Judgment.Ungraded.CUT_OFF, judged_at=now(),
        )  # fmt: skip


def test_compares_judges_with_people_on_the_development_part_alone(split_study: Study) -> None:
    judge = a_server_judge()
    criterion = criterion_of(split_study, "rating")
    people = [
        Judgment.objects.filter(item=item, criterion=criterion)[0].grade for item in development_items(split_study)
    ]
    grade_development(split_study, judge, *people[:4], None, (people[5] or 0) - 1 if people[5] else 1)
    locked = Item.objects.filter(study=split_study, task_type=TaskType.RATING).exclude(
        pk__in=[item.pk for item in development_items(split_study)]
    )
    for item in locked:
        Judgment.objects.create(item=item, criterion=criterion, rater=judge.rater, grade=0, judged_at=now())

    compared = compare(criterion)

    figures = next(row for row in compared.figures if row.judge == judge)
    assert (compared.labelled, compared.items, compared.tied) == (6, 6, 0)
    assert (figures.judged, figures.ungraded, figures.agreeing, figures.missing) == (6, 1, 4, 0)
    assert figures.agreement == pytest.approx(4 / 6)
    assert figures.ungraded_share == pytest.approx(1 / 6)
    assert figures.kappa is not None
    assert 0.8 < figures.kappa < 1


def test_kappa_is_that_of_the_literature() -> None:
    """Cohen (1960), table 1 of Fleiss, Levin and Paik's example: 2 × 2 with po = .85 and pe = .5 gives κ = .7."""
    from judging.comparison.figures import kappa_of
    from tests.scales import ANSWERABLE

    pairs = [(1.0, 1.0)] * 45 + [(0.0, 0.0)] * 40 + [(1.0, 0.0)] * 5 + [(0.0, 1.0)] * 10

    assert kappa_of(pairs, ANSWERABLE.stored()) == pytest.approx(0.7, abs=0.001)
    assert kappa_of([(1.0, 1.0)] * 9, ANSWERABLE.stored()) is None


def test_without_a_split_judges_are_compared_over_all_topics_and_no_item_is_shown(
    judged_study: Study, rosas: Client, ada_as_rater: Rater
) -> None:
    first, second = a_server_judge(), a_server_judge("self-rated-answerability")
    label(judged_study, "rating", [ada_as_rater])
    say(judged_study, first, 3)
    say(judged_study, second, 5)
    asked = {"criterion": "rating", "judge": [first.name, second.name]}

    page = rosas.get(reverse("judging:comparison", args=[judged_study.name]), asked)

    text = page.content.decode()
    assert not page.context["comparison"].development
    assert page.context["comparison"].topics == judged_study.items.values("topic").distinct().count()
    assert page.context["difference"].items == 1
    assert "these figures are over all its topics" in text
    assert "shown for development topics only" in text
    assert "rows" not in page.context


def test_without_a_split_topics_that_another_study_tests_on_stay_out(judged_study: Study) -> None:
    locked = Item.objects.filter(study=judged_study)[0].topic
    other = Study.objects.create(collection=judged_study.collection, name="other", created_by=judged_study.created_by)
    split = Split.objects.create(study=other, test_share=0.5, seed="1", made_at=now())
    SplitTopic.objects.create(split=split, topic=locked, part=SplitTopic.Part.TEST)

    topics, development = topics_to_compare(judged_study)

    assert locked.pk not in topics
    assert topics
    assert not development


def test_a_judge_that_was_just_made_is_there(rosas: Client, split_study: Study) -> None:
    address = f"{reverse('judging:comparison', args=[split_study.name])}?criterion=rating"
    before = {row.judge for row in rosas.get(address).context["comparison"].figures}

    judge = a_server_judge()

    assert {row.judge for row in rosas.get(address).context["comparison"].figures} == {*before, judge}


def test_the_page_shows_where_two_judges_differ(rosas: Client, split_study: Study) -> None:
    first, second = a_server_judge(), a_server_judge("self-rated-answerability")
    grade_development(split_study, first, 0, 1, 2, 3, 4, None)
    grade_development(split_study, second, 0, 1, 2, 3, 5, 5)

    page = rosas.get(
        reverse("judging:comparison", args=[split_study.name]),
        {"criterion": "rating", "judge": [first.name, second.name]},
    )

    assert page.context["differing"] == 2
    rows = page.context["rows"]
    assert [row.item.pk for row in rows] == [item.pk for item in development_items(split_study)[4:]]
    assert [[words for words, _ in row.said] for row in rows] == [["4", "5"], ["ungraded: cut off", "5"]]


def test_agreement_over_few_topics_says_why_it_has_no_interval(rosas: Client, split_study: Study) -> None:
    judge = a_server_judge()
    grade_development(split_study, judge, 0, 1, 2, 3, 4, None)

    page = rosas.get(reverse("judging:comparison", args=[split_study.name]), {"criterion": "rating"})

    figures = next(row for row in page.context["comparison"].figures if row.judge == judge)
    assert figures.agreement_interval is None
    assert "too few for an interval, which takes 5" in page.content.decode()


def test_a_difference_that_is_not_established_is_called_so(rosas: Client, split_study: Study) -> None:
    first, second = a_server_judge(), a_server_judge("self-rated-answerability")
    grade_development(split_study, first, 0, 1, 2, 3, 4, None)
    grade_development(split_study, second, 0, 1, 2, 3, 5, 5)
    asked = {"criterion": "rating", "judge": [first.name, second.name]}

    page = rosas.get(reverse("judging:comparison", args=[split_study.name]), asked)
    by_api = rosas.get(
        "/api/v1/judges/difference/",
        {"study": split_study.name, "criterion": "rating", "first": first.name, "second": second.name},
    ).json()

    found = page.context["difference"]
    assert (found.items, found.topics, found.interval) == (6, 1, None)
    assert "No difference shown." in page.content.decode()
    assert (by_api["difference"], by_api["established"]) == (pytest.approx(found.difference), False)


def test_judges_that_share_no_labelled_item_are_told_apart_by_nothing(rosas: Client, split_study: Study) -> None:
    first, second = a_server_judge(), a_server_judge("self-rated-answerability")
    asked = {"study": split_study.name, "criterion": "rating", "first": first.name, "second": second.name}

    assert rosas.get("/api/v1/judges/difference/", asked).status_code == 409


def test_a_judge_grades_the_development_part_and_no_more(rosas: Client, split_study: Study) -> None:
    judge = Judge.objects.get(name="lexical-rating")

    sent = rosas.post(
        reverse("judging:comparison_start", args=[split_study.name]), {"criterion": "rating", "judge": judge.name}
    )

    job = GradingJob.objects.get()
    assert sent.status_code == 302
    assert job.total == 6
    items = {key for chunk in job.chunks.all() for key in chunk.item_ids}
    assert items == {item.pk for item in development_items(split_study)}


def test_a_stranger_compares_nothing(client: Client, mallory: User, split_study: Study) -> None:
    client.force_login(mallory)

    assert client.get(reverse("judging:comparison", args=[split_study.name])).status_code == 404
    assert client.post(reverse("judging:comparison_start", args=[split_study.name])).status_code == 404


def test_the_comparison_asks_as_many_questions_for_many_items_as_for_few(
    rosas: Client, split_study: Study, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    judge = a_server_judge()
    grade_development(split_study, judge, 0, 1, 2, 3, 4, 5)

    with django_assert_max_num_queries(20 + FINGERPRINTS):
        rosas.get(reverse("judging:comparison", args=[split_study.name]), {"criterion": "rating"})
