"""The researcher’s pages about people: who comes in, flags with their evidence, excluding and letting back in."""

from __future__ import annotations

import pytest
from django.test import Client
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from annotate.models import (
    AttentionCheck,
    TrainingAttempt,
)
from annotate.quality.attention import add_check
from annotate.quality.evidence import evidence_of
from annotate.quality.gold import mark_gold
from annotate.quality.inbox import comment_on
from annotate.quality.people import detail_of, people_of
from annotate.quality.screening import readmit, screen_out
from annotate.quality.survey import add_question, answer_questionnaire
from annotate.studies.lifecycle import enrol, revise_guidelines
from collection.judgments.services import record_judgment
from collection.models import Exclusion, Guideline, Judgment, Rater, Study, User
from tests.annotate.factories import (
    NOON,
    enrolled,
    the_criterion,
)
from tests.annotate.quality_factories import address, first_item, grades_by, many_items, signed_in
from tests.factories import a_user, rater_of

PAGES = ["people", "inbox", "checks", "gold", "gold_csv"]


POSTS = ["checks_consent", "checks_question", "checks_attention", "checks_rules", "gold_file", "gold_prepare"]


TO_A_PERSON = ["person_exclude", "person_include", "person_readmit"]


# --- Who comes in ----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_are_the_researchers_alone(
    read_by_ada: Study, rosa: User, mallory: User, ada: User, page: str
) -> None:
    where = address(page, read_by_ada)

    assert signed_in(rosa).get(where).status_code == 200
    assert signed_in(mallory).get(where).status_code == 404
    assert signed_in(ada).get(where).status_code == 404
    assert Client().get(where).status_code == 302


def test_a_persons_page_is_the_researchers_alone(read_by_ada: Study, rosa: User, mallory: User, ben: User) -> None:
    assert signed_in(rosa).get(address("person", read_by_ada, "ada")).status_code == 200
    assert signed_in(mallory).get(address("person", read_by_ada, "ada")).status_code == 404
    assert signed_in(rosa).get(address("person", read_by_ada, "ben")).status_code == 404


def test_mallory_can_change_nothing(read_by_ada: Study, mallory: User, ada_as_rater: Rater) -> None:
    item = first_item(read_by_ada)
    comment = comment_on(item=item, rater=ada_as_rater, text="Odd.", at=now())
    question = add_question(study=read_by_ada, text="Who are you?", kind="text")
    check = add_check(study=read_by_ada, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)
    client = signed_in(mallory)
    places = [
        *(address(page, read_by_ada) for page in POSTS),
        *(address(page, read_by_ada, "ada") for page in TO_A_PERSON),
        address("comment_handled", read_by_ada, comment.pk),
        address("comment_waiting", read_by_ada, comment.pk),
        address("checks_question_retire", read_by_ada, question.pk),
        address("checks_attention_retire", read_by_ada, check.pk),
        address("gold_item", read_by_ada, item.pk),
    ]

    answers = {client.post(place, {"reason": "spite", "markdown": "Mine"}).status_code for place in places}

    comment.refresh_from_db()
    assert answers == {404}
    assert comment.handled_at is None
    assert not Exclusion.objects.exists()
    assert AttentionCheck.objects.get().retired_at is None


# --- People ----------------------------------------------------------------------------------------


def test_flags_tell_who_clicked_through(judged_by_many: Study, ada: User) -> None:
    flags = {person.user.username: [flag.kind for flag in person.flags] for person in people_of(judged_by_many)}

    assert flags == {"ada": ["fast", "line", "disagrees"], "ben": [], "carla": [], "dan": []}


def test_agreement_is_paired_and_says_over_how_many(judged_by_many: Study, ada: User) -> None:
    detail = detail_of(judged_by_many, ada)

    agreement = detail.person.agreement
    assert agreement is not None
    assert agreement.n == 90
    assert [pair.n for _, pair in detail.pairs] == [30, 30, 30]
    # Each says 1 of the ten items 0, 3, 6, … but for two: Ben differs at 0 and 10, Carla at 1 and 11, Dan at 2 and 12.
    assert sorted(round(pair.value * 30) for _, pair in detail.pairs) == [10, 10, 12]


def test_who_is_excluded_is_compared_but_nobody_with_them(
    judged_by_many: Study, ada: User, ben: User, rosa: User
) -> None:
    Exclusion.objects.create(
        study=judged_by_many, rater=ada.rater, reason="Clicks.", excluded_by=rosa, excluded_at=NOON
    )

    evidence = evidence_of(judged_by_many)

    assert ada.rater.pk not in evidence.agreements[ben.rater.pk]
    assert len(evidence.agreements[ada.rater.pk]) == 3


def test_ungraded_judgments_are_counted_and_are_no_grades(judged_by_many: Study, ben: User) -> None:
    Judgment.objects.filter(rater=ben.rater, item__item_id="i0").update(grade=None, ungraded="unreadable")

    work = evidence_of(judged_by_many).work[ben.rater.pk]

    assert (work.judgments, work.ungraded, sum(map(len, work.grades.values()))) == (30, 1, 29)


def test_people_stand_by_their_flags_or_as_asked(judged_by_many: Study, rosa: User) -> None:
    client = signed_in(rosa)

    by_flags = client.get(address("people", judged_by_many)).context["people"]
    by_name = client.get(address("people", judged_by_many), {"order": "name"}).context["people"]
    by_nonsense = client.get(address("people", judged_by_many), {"order": "x"}).context["order"]

    assert by_flags[0].user.username == "ada"
    assert [person.user.username for person in by_name] == ["ada", "ben", "carla", "dan"]
    assert by_nonsense == "flags"


def test_the_pages_say_it_in_words(judged_by_many: Study, rosa: User) -> None:
    client = signed_in(rosa)

    everybody = client.get(address("people", judged_by_many)).content.decode()
    ada = client.get(address("person", judged_by_many, "ada")).content.decode()

    assert "1 of 4 assessors has flags" in everybody
    assert "Much faster than others" in ada
    assert "Median 1.0 s per item over 30 items; others need 10.0 s at the median." in ada


def test_judgments_show_by_version_of_the_guidelines(read_by_ada: Study, rosa: User, ada: User) -> None:
    item = first_item(read_by_ada)
    Judgment.objects.filter(item__study=read_by_ada).update(guideline=Guideline.objects.get(version=1))
    revise_guidelines(study=read_by_ada, markdown="Other words.", by=rosa)
    newest = Guideline.objects.get(version=2)
    record_judgment(
        item=item,
        criterion=the_criterion(read_by_ada, "answerability"),
        rater=ada.rater,
        grade=0,
        guideline=newest,
        at=now(),
    )

    page = signed_in(rosa).get(address("person", read_by_ada, "ada")).content.decode()

    assert "version 1: 2; version 2: 1" in page


@pytest.mark.parametrize("page", ["people", "person"])
def test_a_study_where_nothing_happened_yet_has_its_pages(study: Study, rosa: User, ada: User, page: str) -> None:
    enrolled(ada, study)
    more = ["ada"] if page == "person" else []

    response = signed_in(rosa).get(address(page, study, *more))

    assert response.status_code == 200


def test_a_study_without_people_says_where_to_add_them(study: Study, rosa: User) -> None:
    assert "No assessors yet" in signed_in(rosa).get(address("people", study)).content.decode()


@pytest.mark.parametrize("page", ["people", "person"])
def test_queries_do_not_grow_with_people(
    judged_by_many: Study, rosa: User, page: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    items = list(judged_by_many.items.order_by("pk"))
    for number in range(8):
        user = a_user(f"person{number}")
        enrol(study=judged_by_many, user=user, at=NOON)
        grades_by(rater_of(user), judged_by_many, items, [0, 1] * 15)
        comment_on(item=items[number], rater=rater_of(user), text="Hm.", at=now())
    client = signed_in(rosa)
    more = ["ada"] if page == "person" else []

    with django_assert_max_num_queries(37 if page == "person" else 25):
        client.get(address(page, judged_by_many, *more))


def test_excluding_and_counting_again_keeps_the_labels(read_by_ada: Study, rosa: User) -> None:
    client = signed_in(rosa)

    client.post(address("person_exclude", read_by_ada, "ada"), {"reason": " "})
    without_reason = Exclusion.objects.count()
    client.post(address("person_exclude", read_by_ada, "ada"), {"reason": "Clicks through."})
    client.post(address("person_exclude", read_by_ada, "ada"), {"reason": "Again."})
    left_out = Judgment.objects.without_the_excluded().count()
    client.post(address("person_include", read_by_ada, "ada"))
    page = client.get(address("person", read_by_ada, "ada")).content.decode()

    assert without_reason == 0
    assert left_out == 0
    assert Exclusion.objects.get().lifted_at is not None
    assert Judgment.objects.without_the_excluded().count() == 3
    assert "Clicks through." in page
    assert "Lifted" in page


def test_readmission_lets_somebody_work_again(read_by_ada: Study, rosa: User, ada: User) -> None:
    screen_out(study=read_by_ada, user=ada, reason="training", at=now())  # type: ignore[arg-type]
    client = signed_in(rosa)

    page = client.get(address("person", read_by_ada, "ada")).content.decode()
    client.post(address("person_readmit", read_by_ada, "ada"))

    assert "did not pass the training" in page
    assert read_by_ada.enrolments.get().left_at is None
    assert not readmit(study=read_by_ada, user=ada, at=now())


def test_the_person_page_shows_what_came_before_the_work(read_by_ada: Study, rosa: User, ada: User) -> None:
    question = add_question(study=read_by_ada, text="What do you read?", kind="text")
    answer_questionnaire(study=read_by_ada, user=ada, answers={question: "<b>Novels</b>"}, at=now())
    TrainingAttempt.objects.create(
        study=read_by_ada, user=ada, number=1, started_at=NOON, finished_at=NOON, passed=False, share_right=0.5
    )
    mark_gold(
        item=many_items(read_by_ada, 1)[0],
        criterion=the_criterion(read_by_ada, "answerability"),
        grade=1,
        purpose="training",
        by=rosa,
        at=now(),
    )

    page = signed_in(rosa).get(address("person", read_by_ada, "ada")).content.decode()

    assert "&lt;b&gt;Novels" in page
    assert "50 % right" in page
