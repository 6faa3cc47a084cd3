"""Templates, examples, ensembles and comparisons by API and by command."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.timezone import now

from collection.models import Item, Judgment, Rater, Study, User
from collection.models.studies import TaskType
from collection.questions.shapes import TASK_TYPES
from collection.questions.wordings import in_language
from collection.splits import make_split
from judging.judges.registry import load_shipped
from judging.models import Combination, Judge, PromptTemplate
from tests.judging.judges.test_ensembles import judges, say
from tests.judging.prompts.test_few_shot import label

pytestmark = pytest.mark.django_db


@pytest.fixture
def rosas(rosa: User, client: Client) -> Client:
    load_shipped()
    client.force_login(rosa)
    return client


def post(client: Client, path: str, **sent: Any) -> Any:
    return client.post(f"/api/v1/{path}", json.dumps(sent), content_type="application/json")


def run(name: str, *args: str) -> str:
    out = StringIO()
    call_command(name, *args, stdout=out)
    return out.getvalue()


def test_a_template_with_its_rule_is_stored_and_given_back(rosas: Client) -> None:
    sent = {
        "name": "mine", "task_type": "key_point", "criterion_name": "grounded", "text": "{text} {key_point} {choices}",
        "reply_with": "own", "replies": {"no": 0, "neutral": 0, "yes": 1}, "reply_tokens": 100, "cut_text_at": 900,
    }  # fmt: skip

    stored = post(rosas, "templates/", **sent)
    again = post(rosas, "templates/", **sent)
    refused = post(rosas, "templates/", **{**sent, "orders": 2})

    assert (stored.status_code, again.status_code, refused.status_code) == (201, 200, 400)
    assert stored.json()["replies"] == [["no", 0.0], ["neutral", 0.0], ["yes", 1.0]]
    assert "can be swapped" in refused.json()["text"]


def test_the_preview_fills_a_template_for_its_researcher_alone(
    rosas: Client, client: Client, mallory: User, judged_study: Study
) -> None:
    template = PromptTemplate.objects.get(name="rating")
    path = f"/api/v1/templates/{template.content_hash}/preview/"
    item = Item.objects.filter(study=judged_study, task_type=TaskType.RATING).last()
    assert item is not None

    shown = rosas.get(path, {"study": judged_study.name, "item": item.item_id}).json()
    unknown = rosas.get(path, {"study": judged_study.name, "item": "nowhere"})
    client.force_login(mallory)
    hers = client.get(path, {"study": judged_study.name})

    assert shown["item"] == item.item_id
    assert (item.judged_text.text or "") in shown["text"]
    assert (shown["swapped"], shown["cut"], shown["counted_by"]) == (None, {}, "")
    assert (unknown.status_code, hers.status_code) == (400, 404)


def test_a_judge_gets_examples_from_a_split_study_of_ones_own(
    rosas: Client, client: Client, mallory: User, judged_study: Study, ada_as_rater: Rater
) -> None:
    template = PromptTemplate.objects.get(name="rating-with-examples")
    sent = {
        "engine": "openai", "criterion_name": "rating", "model": "llama", "template": template.content_hash,
        "examples": {"study": judged_study.name, "count": 2},
    }  # fmt: skip
    label(judged_study, "rating", [ada_as_rater])

    without = post(rosas, "judges/", **sent)
    make_split(study=judged_study, test_share=0.5, by=None, at=now())
    made = post(rosas, "judges/", **sent)
    drawn = [row["item"] for row in Judge.objects.get(name=made.json()["name"]).examples]
    chosen = post(rosas, "judges/", **sent | {"examples": {"study": judged_study.name, "items": drawn[:1]}})
    neither = post(rosas, "judges/", **sent | {"examples": {"study": judged_study.name}})
    client.force_login(mallory)
    hers = post(client, "judges/", **sent)

    assert (chosen.status_code, chosen.json()["examples"]) == (201, 1)
    assert neither.status_code == 400
    assert "Give either count or items." in str(neither.json())
    assert without.status_code == 400
    assert "not split" in without.json()["non_field_errors"]
    assert (made.status_code, made.json()["examples"]) == (201, 2)
    assert hers.status_code == 404


def test_a_judge_with_examples_grades_on_the_scale_of_their_study(
    rosas: Client, judged_study: Study, ada_as_rater: Rater
) -> None:
    [shape] = TASK_TYPES["rating"].criteria
    template = PromptTemplate.objects.get(name="rating-with-examples")
    german = in_language(shape, TaskType.RATING, "de").scale.stored()
    judged_study.criteria.filter(name="rating").update(scale=german)
    label(judged_study, "rating", [ada_as_rater])
    make_split(study=judged_study, test_share=0.5, by=None, at=now())
    sent = {
        "engine": "openai", "criterion_name": "rating", "model": "llama", "template": template.content_hash,
        "examples": {"study": judged_study.name, "count": 2},
    }  # fmt: skip

    made = post(rosas, "judges/", **sent)
    on_another = post(rosas, "judges/", **sent, scale=shape.scale.content_hash)
    of_no_criterion = post(rosas, "judges/", **sent | {"criterion_name": "support"})

    assert (made.status_code, made.json()["scale"]) == (201, german.content_hash)
    assert on_another.status_code == 400
    assert all(
        points[0]["name"] in on_another.json()["non_field_errors"] for points in (german.points, shape.scale.as_stored)
    )
    assert of_no_criterion.status_code == 404


def test_an_ensemble_is_made_and_combined(rosas: Client, judged_study: Study) -> None:
    members = judges(2)
    for judge in members:
        say(judged_study, judge, 3, 4)

    made = post(rosas, "judges/ensembles/", members=[judge.name for judge in members], rule="median", name="both")
    done = post(rosas, "judges/both/combine/", study=judged_study.name, criterion="rating")
    refused = post(rosas, f"judges/{members[0].name}/combine/", study=judged_study.name, criterion="rating")
    samples = post(rosas, "judges/ensembles/", members=[members[0].name], samples=3)

    assert made.status_code == 201
    assert {key: done.json()[key] for key in ("graded", "ungraded", "waiting", "changed")} == {
        "graded": 2, "ungraded": 0, "waiting": 10, "changed": 2,
    }  # fmt: skip
    assert refused.status_code == 400
    assert (samples.status_code, len(samples.json()["decoding"]["members"])) == (201, 3)


def test_a_stranger_combines_and_compares_nothing(client: Client, mallory: User, judged_study: Study) -> None:
    from judging.judges.ensembles import make_ensemble

    ensemble, _ = make_ensemble(judges(2))
    client.force_login(mallory)

    combined = post(client, f"judges/{ensemble.name}/combine/", study=judged_study.name, criterion="rating")
    compared = client.get("/api/v1/judges/comparison/", {"study": judged_study.name, "criterion": "rating"})

    assert (combined.status_code, compared.status_code) == (404, 404)
    assert not Combination.objects.exists()


def test_the_comparison_is_over_all_topics_until_there_is_a_split(
    rosas: Client, judged_study: Study, ada_as_rater: Rater
) -> None:
    asked = {"study": judged_study.name, "criterion": "rating"}
    label(judged_study, "rating", [ada_as_rater])

    without = rosas.get("/api/v1/judges/comparison/", asked).json()
    make_split(study=judged_study, test_share=0.5, by=None, at=now())
    rows = rosas.get("/api/v1/judges/comparison/", asked).json()

    assert {row["labelled"] for row in without} == {12}
    assert {row["judge"] for row in rows} == {"embedded-rating", "lexical-rating"}
    assert all((row["labelled"], row["judged"], row["missing"], row["kappa"]) == (6, 0, 6, None) for row in rows)


def test_the_commands_make_an_ensemble_and_combine_it(judged_study: Study) -> None:
    members = judges(2)
    for judge in members:
        say(judged_study, judge, 3, None)

    made = run("make_ensemble", *(judge.name for judge in members), "--name", "both", "--ties", "higher")
    done = run("combine", "--ensemble", "both", "--study", judged_study.name, "--criterion", "rating")

    assert made.startswith("both is created.")
    assert done == "1 graded, 1 undecided, 10 waiting for a member; 2 new or changed.\n"
    assert Judgment.objects.filter(rater=Judge.objects.get(name="both").rater).count() == 2


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["make_ensemble", "nobody", "lexical-rating"], "No judge is called “nobody”"),
        (["make_ensemble", "lexical-rating"], "2 to 50 different members"),
        (["make_ensemble", "lexical-rating", "lexical-utility", "--samples", "3"], "taken of one judge"),
        (["combine", "--ensemble", "nobody", "--study", "s", "--criterion", "c"], "There is no judge “nobody”"),
        (["combine", "--ensemble", "lexical-rating", "--study", "s", "--criterion", "c"], "There is no study “s”"),
        (
            ["combine", "--ensemble", "lexical-rating", "--study", "bridges-study", "--criterion", "rating"],
            "is not an ensemble",
        ),
    ],
)
def test_the_commands_say_what_is_wrong(judged_study: Study, command: list[str], said: str) -> None:
    load_shipped()

    with pytest.raises(CommandError, match=said):
        run(*command)
