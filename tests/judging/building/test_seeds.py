"""Seed questions: the best of each category by people's grades or a judge's; new questions are made of them alone."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from annotate.studies.lifecycle import open_study
from collection.models import Collection, Criterion, Judgment, Rater, Study, Topic, User
from judging.building.additions.addition import add_to_collection
from judging.building.review import decide, products_to_review
from judging.building.seeds.choice import NoSeeds, best_questions, sizes_in, take_as_seeds
from judging.building.sources import CannotBuild
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.factories import a_judge_rater, rater_of
from tests.judging.building.test_evolution import built, script
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db

# What ada and ben say of each question: why0 and why3 tie at 3; of why4 nobody says anything.
SAID = {"why0": (3, 3), "why1": (2, 3), "why2": (1, 1), "why3": (3, None), "taste0": (2, 2), "taste1": (3, 2)}


@pytest.fixture
def judged(collection: Collection, ada: User, ben: User) -> Study:
    """Five questions that ask why and two of taste, graded by two people."""
    for name in [*SAID, "why4"]:
        category = "causal" if name.startswith("why") else "subjective"
        Topic.objects.create(
            collection=collection, topic_id=name, request=f"{name}?", attributes={"category": category}
        )
    study = a_study_of(collection, "question_fit")
    open_study(study=study, at=now())
    for place, user in enumerate((ada, ben)):
        grade_all(study, rater_of(user), {name: grades[place] for name, grades in SAID.items()})
    return study


def grade_all(study: Study, rater: Rater, said: dict[str, int | None]) -> None:
    criterion = the_criterion(study)
    for name, grade in said.items():
        if grade is not None:
            item = study.items.get(topic__topic_id=name)
            Judgment.objects.create(item=item, criterion=criterion, rater=rater, grade=grade, judged_at=now())


def the_criterion(study: Study) -> Criterion:
    return study.criteria.get(name="fit")


def names(found: Any) -> dict[str, list[str]]:
    return {one.name: [graded.topic.topic_id for graded in one.chosen] for one in found}


def test_the_best_of_each_category_come_first_and_what_does_not_fit_never(judged: Study) -> None:
    found = best_questions(the_criterion(judged), each=2, others={"subjective": 1})

    # Of two with a mean of 3, the one that two people graded comes first; why2 does not fit; why4 has no grade.
    assert names(found) == {"causal": ["why0", "why3"], "subjective": ["taste1"]}
    subjective, causal = found
    assert ([one.topic.topic_id for one in causal.behind], causal.unfit, causal.ungraded) == (["why1"], 1, 1)
    assert [(one.grade, one.n) for one in causal.chosen] == [(3, 2), (3, 1)]
    assert (subjective.missing, best_questions(the_criterion(judged))[1].missing) == (0, 12 - 3)


def test_a_judges_grades_choose_others(judged: Study, collection: Collection) -> None:
    judge = a_judge_rater(collection)
    with pytest.raises(NoSeeds, match="The judge judge has not yet graded a question"):
        best_questions(the_criterion(judged), judge=judge)
    grade_all(judged, judge, {"why2": 3, "why4": 2, "taste0": 1})

    assert names(best_questions(the_criterion(judged), judge=judge)) == {"causal": ["why2", "why4"], "subjective": []}


def test_new_questions_are_made_of_the_seeds_alone(judged: Study, collection: Collection, rosa: User) -> None:
    seen: list[set[str]] = []

    def looks(request: Any) -> str:
        seen.append({name for name in [*SAID, "why4"] if f"{name}?" in request.prompt})
        return script(request)

    criterion, at = the_criterion(judged), now()
    found = best_questions(criterion, each=2, others={"subjective": 1})
    taken = take_as_seeds(found, criterion, judge=None, by=rosa, at=at)
    built(collection, looks, rosa)

    assert taken == 3
    assert set().union(*seen) == {"why0", "why3", "taste1"}
    chosen = collection.topics.filter(attributes__seed_chosen=True).values_list("topic_id", flat=True)
    assert sorted(chosen) == ["taste1", "why0", "why3"]
    assert collection.topics.filter(attributes__seed_chosen=False).count() == len(SAID) + 1 - 3
    making = {
        "study": judged.name, "criterion": "fit", "threshold": criterion.threshold, "graded_by": "people",
        "chosen_by": "rosa", "chosen_at": at.isoformat(),
    }  # fmt: skip
    makings = {
        topic.topic_id: topic.attributes["generated_attributes"]["seed_chosen"]
        for topic in collection.topics.filter(attributes__has_key="seed_chosen")
    }
    assert makings["why0"] == makings["why3"] | {"grades": 2} == making | {"mean": 3.0, "grades": 2}
    assert makings["why2"] == makings["why4"] == making


def test_a_question_keeps_the_category_that_a_study_asks_about(
    judged: Study, collection: Collection, rosa: User
) -> None:
    build = finish(a_build(collection, "long2rag-categories", by=rosa), Scripted(lambda _: '{"category": "factual"}'))
    decide(build, [one.pk for one in products_to_review(build)], "accepted", by=rosa, at=now())

    with pytest.raises(CannotBuild, match="how well the question of topic why0 fits its category, “causal”"):
        add_to_collection(build, by=rosa, at=now())
    assert judged.items.get(topic__topic_id="why0").asked_about == "causal"


def test_rosa_looks_at_the_best_and_takes_them(
    client: Client, judged: Study, collection: Collection, rosa: User
) -> None:
    client.force_login(rosa)
    address = reverse("judging:seeds", args=[collection.name])
    sent = {"study": judged.name, "judge": "", "each": "2", "others": "subjective=1"}

    offered = client.get(address).content.decode()
    looked = " ".join(client.post(address, sent | {"look": "1"}).content.decode().split())
    nothing_yet = collection.topics.filter(attributes__has_key="seed_chosen").count()
    taken = client.post(address, sent | {"take": "1"}, follow=True).content.decode()
    wrong = client.post(address, sent | {"others": "tasty=1"})

    assert "subjective=7" in offered
    assert "<strong>causal</strong>: 2 of 2 · 1 behind them · 1 below the threshold · 1 without a grade" in looked
    assert nothing_yet == 0
    assert "New questions are made of 3 seed questions from now on." in taken
    assert reverse("judging:seeds", args=[collection.name]) in taken
    assert wrong.status_code == 422
    assert "No question has the category “tasty”" in wrong.content.decode()


def test_without_such_a_study_the_page_says_how_to_start_one(
    client: Client, collection: Collection, rosa: User, mallory: User
) -> None:
    address = reverse("judging:seeds", args=[collection.name])
    client.force_login(rosa)
    assert "Start one with the task type" in client.get(address).content.decode()

    client.force_login(mallory)
    assert client.get(address).status_code == 404


def test_the_api_says_and_takes_the_same(client: Client, judged: Study, collection: Collection, rosa: User) -> None:
    client.force_login(rosa)
    address = reverse("api:seeds", args=[collection.name])
    sent = {"study": judged.name, "each": 2, "others": ["subjective=1"]}

    def post(**more: object) -> Any:
        return client.post(address, sent | more, content_type="application/json")

    looked, refused = post().json(), post(judge="nobody")
    untouched = collection.topics.filter(attributes__has_key="seed_chosen").exists()
    post(take=True)

    assert [(one["category"], [of["topic_id"] for of in one["chosen"]]) for one in looked] == [
        ("subjective", ["taste1"]), ("causal", ["why0", "why3"]),
    ]  # fmt: skip
    assert looked[1]["chosen"][0] == {"topic_id": "why0", "request": "why0?", "grade": 3.0, "n": 2}
    assert refused.status_code == 400
    assert "No judge “nobody” graded questions here. Judges that did: none." in str(refused.json())
    assert not untouched
    assert collection.topics.filter(attributes__seed_chosen=True).count() == 3


def test_the_command_lists_and_takes_them(judged: Study, collection: Collection) -> None:
    def said(*more: str) -> str:
        out = StringIO()
        call_command("choose_seeds", "--collection", collection.name, "--study", judged.name, *more, stdout=out)
        return out.getvalue()

    looked = said("--each", "2", "--others", "subjective=1", "--look")
    untouched = collection.topics.filter(attributes__has_key="seed_chosen").exists()

    assert "causal: 2 of 2; 1 do not fit, 1 without a grade\n  3.00  why0  why0?" in looked
    assert looked.endswith("3 seed questions would be taken.\n")
    assert not untouched
    assert "subjective: 2 of 7; 0 do not fit" in said()
    with pytest.raises(CommandError, match=r"is not CATEGORY=NUMBER, such as subjective=7\."):
        said("--others", "subjective")


@pytest.mark.parametrize("line", ["subjective", "=7", "causal=-1", "causal=12345", "causal=x"])
def test_numbers_of_categories_are_checked(line: str) -> None:
    with pytest.raises(NoSeeds, match="is not CATEGORY=NUMBER"):
        sizes_in([line])
