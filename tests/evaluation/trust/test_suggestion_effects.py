"""What suggestions did to a study's labels, by page, API and command, where their pull was planted."""

from __future__ import annotations

import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from collection.models import (
    Arm,
    Criterion,
    Exclusion,
    Item,
    Judgment,
    Rater,
    Report,
    RubricElement,
    Run,
    Study,
    Suggestion,
    System,
    Topic,
    User,
)
from evaluation.data.judgments import load_criterion
from evaluation.trust.suggestion_effects import NothingSuggested, measure_effects
from stats.judges.suggested_labels import AFTER, ARMS, NONE, POST_EDIT
from tests.annotate.factories import NOON, the_criterion
from tests.annotate.quality_factories import signed_in
from tests.factories import a_judge_rater, a_user, rater_of
from tests.simulations.suggestions import Planted, labels_of

PLANTED = Planted(8, 5, 0.56, 0.05, {NONE: 0.5, AFTER: 0.25, POST_EDIT: 0.25}, {AFTER: 0.1, POST_EDIT: 0.7})


@pytest.fixture
def criterion(study: Study) -> Criterion:
    """Labels of 12 people under three arms, whose pull was planted, on two systems' reports on eight topics."""
    of = the_criterion(study, "answerability")
    labels = labels_of(PLANTED, np.random.default_rng(4))
    collection = study.collection
    systems = [System.objects.create(collection=collection, name=name) for name in ("bridge-bot", "ferry-bot")]
    runs = [Run.objects.create(collection=collection, system=system, name=f"{system.name}-1") for system in systems]
    topics = [Topic.objects.create(collection=collection, topic_id=f"s{n}", request=f"Subject {n}") for n in range(8)]
    judge = a_judge_rater(collection, "llama")
    people = [rater_of(a_user(f"person-{n}")) for n in range(12)]
    reports = {
        (t, r): Report.objects.create(run=run, topic=topic, text="A report.")
        for t, topic in enumerate(topics)
        for r, run in enumerate(runs)
    }
    items: dict[int, Item] = {}
    for number in np.unique(labels.items).tolist():
        t = int(labels.topics[labels.items == number][0])
        element = RubricElement.objects.create(
            topic=topics[t], element_id=f"q{number}", kind="sub_question", text=f"Question {number}?", position=number
        )
        report = reports[t, number % 2]
        items[number] = Item.objects.create(
            study=study,
            task_type="answerability",
            item_id=f"i{number}",
            topic=topics[t],
            element=element,
            report=report,
        )
    given, shown = [], []
    for row in range(len(labels.arms)):
        item, rater, arm = items[int(labels.items[row])], people[int(labels.raters[row])], int(labels.arms[row])
        own = labels.first[row] if arm == AFTER else None
        given.append(
            Judgment(
                item=item, criterion=of, rater=rater, grade=labels.grades[row], judged_at=NOON,
                seconds=labels.seconds[row],
            )
        )  # fmt: skip
        shown.append(
            Suggestion(
                item=item, criterion=of, rater=rater, arm=ARMS[arm], probability=1 / labels.weights[row], judge=judge,
                grade=labels.judge[row], drawn_at=NOON, shown_at=None if arm == NONE else NOON, own_grade=own,
            )
        )  # fmt: skip
    Judgment.objects.bulk_create(given)
    Suggestion.objects.bulk_create(shown)
    Judgment.objects.bulk_create(
        Judgment(item=items[n], criterion=of, rater=judge, grade=labels.judge[labels.items == n][0], judged_at=NOON)
        for n in items
    )
    return of


def address(study: Study) -> str:
    return f"/studies/{study.name}/suggestions/effects/"


def test_finds_the_planted_pull_again(criterion: Criterion) -> None:
    found = measure_effects(criterion.study)

    by_arm = {one.arm: one for one in found.arms}
    assert set(by_arm) == {Arm.NONE, Arm.AFTER, Arm.POST_EDIT}
    assert sum(one.n_labels for one in found.arms) == 8 * 5 * 3 * 4
    edited = by_arm[Arm.POST_EDIT].pull
    assert edited.low is not None
    assert edited.high is not None
    assert edited.low < 0.7 < edited.high
    assert edited.low > 0.2
    after = by_arm[Arm.AFTER].pull
    assert after.low is not None
    assert after.high is not None
    assert after.low < 0.1 < after.high
    assert found.turned.value == pytest.approx(0.1, abs=0.1)
    assert found.before.low is not None
    assert found.before.low < 0
    saved = by_arm[Arm.POST_EDIT].saved
    assert saved.low is not None
    assert saved.low < 9 < (saved.high or 0)  # 20 seconds and 11
    assert [one.name for one in found.boards.systems] == sorted(
        ("bridge-bot-1", "ferry-bot-1"), key=lambda name: -next(
            one.scores[NONE].value or 0 for one in found.boards.systems if one.name == name)
    )  # fmt: skip


def test_figures_of_the_study_hold_none_of_what_was_filled_in(criterion: Criterion) -> None:
    edited = Suggestion.objects.filter(arm=Arm.POST_EDIT).count()

    loaded = load_criterion(criterion)

    assert loaded.n_aided == edited > 50
    assert loaded.people.n_ratings == Suggestion.objects.exclude(arm=Arm.POST_EDIT).count()


def test_leaves_out_whom_the_researcher_excluded(criterion: Criterion, rosa: User) -> None:
    someone = Rater.objects.get(name="person-0")
    theirs = Judgment.objects.filter(rater=someone).count()
    before = measure_effects(criterion.study).n_labels

    Exclusion.objects.create(study=criterion.study, rater=someone, reason="Tired", excluded_by=rosa, excluded_at=NOON)

    assert measure_effects(criterion.study).n_labels == before - theirs < before


def test_refuses_where_nothing_was_suggested(study: Study) -> None:
    with pytest.raises(NothingSuggested, match="suggestions are off"):
        measure_effects(study)


def test_the_page_shows_arms_and_leaderboards(criterion: Criterion, rosa: User) -> None:
    answer = signed_in(rosa).get(address(criterion.study))

    words = answer.content.decode()
    assert answer.status_code == 200
    assert "By arm" in words
    assert "Post-edit" not in words.split("By arm")[0]
    assert "The leaderboard under each arm" in words
    assert "bridge-bot-1" in words
    assert "8 topics" in words
    assert "{%" not in words


def test_the_page_says_so_where_nothing_was_suggested(study: Study, rosa: User) -> None:
    answer = signed_in(rosa).get(address(study))

    assert answer.status_code == 200
    assert "No suggestions yet" in answer.content.decode()


def test_the_page_refuses_another_judge(criterion: Criterion, rosa: User) -> None:
    answer = signed_in(rosa).get(address(criterion.study), {"judge": "nobody"})

    assert answer.status_code == 422
    assert "Choose among" in answer.content.decode()


def test_strangers_see_nothing(criterion: Criterion, mallory: User, ada: User) -> None:
    for user in (mallory, ada):
        assert signed_in(user).get(address(criterion.study)).status_code == 404


def test_the_api_and_the_command_give_the_same(criterion: Criterion, rosa: User) -> None:
    told = signed_in(rosa).get(f"/api/v1{address(criterion.study)}").json()
    out = StringIO()
    call_command("suggestion_effects", "--study", criterion.study.name, "--json", stdout=out)

    assert json.loads(out.getvalue()) == told
    assert [one["arm"] for one in told["arms"]] == ["none", "after", "post_edit"]
    assert "shift" not in told["arms"][0]
    assert told["arms"][2]["pull"]["n_topics"] == 8
    plain = StringIO()
    call_command("suggestion_effects", "--study", criterion.study.name, stdout=plain)
    assert "post-edit" in plain.getvalue()


def test_the_command_says_what_there_is(criterion: Criterion) -> None:
    with pytest.raises(CommandError, match="Choose among: answerability, llama"):
        call_command("suggestion_effects", "--study", criterion.study.name, "--judge", "nobody")


def test_the_api_refuses_where_nothing_was_suggested(study: Study, rosa: User) -> None:
    assert signed_in(rosa).get(f"/api/v1{address(study)}").status_code == 400
