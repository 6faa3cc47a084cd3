"""What stands before the work: the order, consent, the questionnaire."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from pytest_django import DjangoAssertNumQueries

from annotate.models import (
    Assignment,
    ConsentAnswer,
    Enrolment,
    Place,
    ScreenOut,
    SurveyAnswer,
    SurveyQuestion,
    SurveyReply,
    TrainingAttempt,
)
from annotate.quality.attention import add_check, answer_check
from annotate.quality.consent import answer_consent
from annotate.quality.gates import next_gate
from annotate.quality.screening import readmit
from annotate.quality.survey import (
    CannotScreen,
    add_question,
    answer_questionnaire,
    answers_of,
    erase_answers,
    retire_question,
    screen_by_answers,
    screened_by_questions,
)
from collection.models import Judgment, Study, User
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_report_task,
    answer_report,
    in_hands_of,
)
from tests.annotate.quality_factories import a_consent, gate, signed_in, training_items

GATES = ["consent", "questionnaire", "training", "attention"]


# --- The order -------------------------------------------------------------------------------------


def test_without_anything_set_up_nothing_stands_before_the_work(open_study: Study, ada: User) -> None:
    assert next_gate(study=open_study, user=ada) is None


def test_the_gates_come_in_order(open_study: Study, ada: User, rosa: User) -> None:
    a_consent(open_study, rosa)
    question = add_question(study=open_study, text="How old are you?", kind="number")
    training_items(open_study, rosa)
    add_check(study=open_study, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)
    met = [gate(open_study, ada)]

    answer_consent(study=open_study, user=ada, version=1, agrees=True, at=now())
    met.append(gate(open_study, ada))
    answer_questionnaire(study=open_study, user=ada, answers={question: 30}, at=now())
    met.append(gate(open_study, ada))
    TrainingAttempt.objects.create(
        study=open_study, user=ada, number=1, started_at=now(), finished_at=now(), passed=True, share_right=1
    )
    met.append(gate(open_study, ada))
    answer_check(check=open_study.attention_checks.get(), user=ada, chosen=1, at=now())
    met.append(gate(open_study, ada))

    assert met == ["consent", "questionnaire", "training", "attention", None]


def test_what_stands_before_the_work_takes_one_query(
    open_study: Study, ada: User, rosa: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    a_consent(open_study, rosa)

    with django_assert_num_queries(1):
        address = next_gate(study=open_study, user=ada)

    assert address == f"/work/consent/{open_study.name}/"


def test_no_work_is_given_before_the_gate(open_study: Study, ada: User, rosa: User, as_ada: Client) -> None:
    a_consent(open_study, rosa)

    response = as_ada.post(reverse("annotate:next_assignment", args=[open_study.name]))

    assert response.headers["Location"] == reverse("annotate:consent", args=[open_study.name])
    assert not Assignment.objects.exists()


def test_the_api_gives_no_work_before_the_gate(open_study: Study, rosa: User, as_ada: Client) -> None:
    a_consent(open_study, rosa)

    response = as_ada.post(f"/api/v1/assignments/next/{open_study.name}/")

    assert response.status_code == 409
    assert reverse("annotate:consent", args=[open_study.name]) in response.json()["detail"]
    assert not Assignment.objects.exists()


def test_a_task_in_hand_is_not_shown_before_the_gate(study: Study, ada: User, rosa: User, as_ada: Client) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    a_consent(study, rosa)

    response = as_ada.get(reverse("annotate:assignment", args=[assignment.pk]))

    assert response.headers["Location"] == reverse("annotate:consent", args=[study.name])


@pytest.mark.parametrize("page", [*GATES, "screened_out"])
def test_strangers_and_assessors_of_other_studies_find_no_gate(
    open_study: Study, ben: User, rosa: User, page: str
) -> None:
    a_consent(open_study, rosa)
    address = reverse(f"annotate:{page}", args=[open_study.name])

    assert signed_in(ben).get(address).status_code == 404
    assert signed_in(ben).post(address).status_code in {404, 405}
    assert Client().get(address).status_code == 302


@pytest.mark.parametrize("page", [*GATES, "screened_out"])
def test_a_gate_that_stands_open_leads_back_to_the_work(
    open_study: Study, ada: User, as_ada: Client, page: str
) -> None:
    SurveyReply.objects.create(study=open_study, user=ada, answered_at=NOON)

    response = as_ada.get(reverse(f"annotate:{page}", args=[open_study.name]))

    assert response.status_code == (200 if page == "training" else 302)


# --- Consent ---------------------------------------------------------------------------------------


def test_agreeing_is_stored_with_version_and_time_and_gives_work(
    open_study: Study, rosa: User, as_ada: Client, ada: User
) -> None:
    a_consent(open_study, rosa)
    address = reverse("annotate:consent", args=[open_study.name])

    page = as_ada.get(address).content.decode()
    response = as_ada.post(address, {"answer": "agree", "version": "1"})

    answer = ConsentAnswer.objects.get()
    assert "<em>own</em>" in page
    assert (answer.user, answer.text.version, answer.agreed) == (ada, 1, True)
    assert response.headers["Location"] == reverse("annotate:assignment", args=[Assignment.objects.get().pk])


def test_declining_frees_what_was_held_and_keeps_what_was_submitted(
    open_study: Study, rosa: User, ada: User, as_ada: Client
) -> None:
    first = in_hands_of(ada, open_study.tasks.get())
    answer_report(first, [1, 0, 0])
    Assignment.objects.update(state=Assignment.State.SUBMITTED)
    second = in_hands_of(ada, a_key_point_task(open_study))
    a_consent(open_study, rosa)

    response = as_ada.post(
        reverse("annotate:consent", args=[open_study.name]), {"answer": "decline", "version": "1"}, follow=True
    )

    second.refresh_from_db()
    assert "Thank you for your time" in response.content.decode()
    assert second.state == Assignment.State.RETURNED
    assert not Place.objects.filter(task=second.task, holder__isnull=False).exists()
    assert Judgment.objects.count() == 3
    assert Enrolment.objects.get().left_at is not None
    assert gate(open_study, ada) == "screened_out"


def test_who_agreed_may_read_it_again_and_agree_no_longer(
    open_study: Study, rosa: User, ada: User, as_ada: Client
) -> None:
    a_consent(open_study, rosa)
    answer_consent(study=open_study, user=ada, version=1, agrees=True, at=now())
    address = reverse("annotate:consent", args=[open_study.name])

    page = as_ada.get(address).content.decode()
    as_ada.post(address, {"answer": "decline", "version": "1"})

    assert "You agreed to this text" in page
    assert list(ConsentAnswer.objects.values_list("agreed", flat=True)) == [True, False]
    assert gate(open_study, ada) == "screened_out"


def test_a_new_text_asks_everybody_again(open_study: Study, rosa: User, ada: User) -> None:
    a_consent(open_study, rosa)
    answer_consent(study=open_study, user=ada, version=1, agrees=True, at=now())

    a_consent(open_study, rosa, "Other words.")

    assert gate(open_study, ada) == "consent"


def test_the_same_text_again_makes_no_version_and_an_empty_one_asks_nobody(
    open_study: Study, rosa: User, ada: User
) -> None:
    a_consent(open_study, rosa)
    a_consent(open_study, rosa)
    versions = open_study.consent_texts.count()

    a_consent(open_study, rosa, "")

    assert versions == 1
    assert gate(open_study, ada) is None


def test_nobody_agrees_to_a_text_that_they_did_not_read(open_study: Study, rosa: User, as_ada: Client) -> None:
    a_consent(open_study, rosa)
    a_consent(open_study, rosa, "Other words.")

    response = as_ada.post(reverse("annotate:consent", args=[open_study.name]), {"answer": "agree", "version": "1"})

    assert response.status_code == 422
    assert "read it again" in response.content.decode()
    assert not ConsentAnswer.objects.exists()


def test_consent_shows_no_script(open_study: Study, rosa: User, as_ada: Client) -> None:
    a_consent(open_study, rosa, "<script>alert(1)</script> **bold**")

    page = as_ada.get(reverse("annotate:consent", args=[open_study.name])).content.decode()

    assert "<script>alert" not in page
    assert "<strong>bold</strong>" in page


# --- Questionnaire ---------------------------------------------------------------------------------


def test_answers_are_stored_per_person_and_question(open_study: Study, ada: User, as_ada: Client) -> None:
    age = add_question(study=open_study, text="How old are you?", kind="number")
    speaks = add_question(study=open_study, text="What do you speak?", kind="many", options=["English", "Latin", "Ga"])
    often = add_question(study=open_study, text="How often do you read?", kind="one", options=["daily", "seldom"])
    more = add_question(study=open_study, text="Anything else?", kind="text", required=False)

    response = as_ada.post(
        reverse("annotate:questionnaire", args=[open_study.name]),
        {
            f"question-{age.pk}": "41",
            f"question-{speaks.pk}": ["English", "Ga"],
            f"question-{often.pk}": "daily",
            f"question-{more.pk}": "",
        },
    )

    assert response.status_code == 302
    assert [(row.question.text, row.words) for row in answers_of(study=open_study, user=ada)] == [
        ("How old are you?", "41.0"),
        ("What do you speak?", "English, Ga"),
        ("How often do you read?", "daily"),
    ]
    assert gate(open_study, ada) is None


@pytest.mark.parametrize("kind", ["one", "many"])
def test_each_answer_to_choose_has_its_own_direction(open_study: Study, as_ada: Client, kind: str) -> None:
    add_question(study=open_study, text="Languages?", kind=kind, options=["English", "עברית"])

    page = as_ada.get(reverse("annotate:questionnaire", args=[open_study.name])).content.decode()

    assert all(f'<span dir="auto">{said}</span>' in page for said in ("Languages?", "English", "עברית"))


def test_a_missing_or_unreadable_answer_is_refused(open_study: Study, as_ada: Client) -> None:
    age = add_question(study=open_study, text="How old are you?", kind="number")
    add_question(study=open_study, text="How often do you read?", kind="one", options=["daily", "seldom"])

    response = as_ada.post(reverse("annotate:questionnaire", args=[open_study.name]), {f"question-{age.pk}": "forty"})

    assert response.status_code == 422
    assert "Enter a number" in response.content.decode()
    assert "This field is required" in response.content.decode()
    assert not SurveyReply.objects.exists()


def test_sending_twice_keeps_the_first_answers(open_study: Study, ada: User) -> None:
    age = add_question(study=open_study, text="How old are you?", kind="number")

    for value in (41, 14):
        answer_questionnaire(study=open_study, user=ada, answers={age: value}, at=now())

    assert SurveyAnswer.objects.get().value == 41


def test_erasing_takes_the_answers_and_asks_nobody_again(open_study: Study, ada: User, ben: User) -> None:
    age = add_question(study=open_study, text="How old are you?", kind="number")
    for user in (ada, ben):
        answer_questionnaire(study=open_study, user=user, answers={age: 41}, at=now())

    erased = erase_answers(study=open_study, user=ada, at=now())

    assert erased == 1
    assert [answer.user for answer in SurveyAnswer.objects.all()] == [ben]
    assert SurveyReply.objects.get(user=ada).erased_at is not None
    assert gate(open_study, ada) is None


def test_a_question_that_was_answered_is_retired_and_another_goes(open_study: Study, ada: User) -> None:
    age = add_question(study=open_study, text="How old are you?", kind="number")
    name = add_question(study=open_study, text="Who are you?", kind="text")
    answer_questionnaire(study=open_study, user=ada, answers={age: 41}, at=now())

    for question in (age, name):
        retire_question(question=question, at=now())

    assert [(q.text, q.retired_at is not None) for q in open_study.survey_questions.all()] == [
        ("How old are you?", True)
    ]


def test_numbers_of_five_thousand_digits_answer_nothing(
    open_study: Study, ada: User, rosa: User, as_ada: Client
) -> None:
    a_consent(open_study, rosa)
    many = "9" * 5_000
    consent = reverse("annotate:consent", args=[open_study.name])
    assert as_ada.post(consent, {"answer": "agree", "version": many}).status_code == 422
    answer_consent(study=open_study, user=ada, version=1, agrees=True, at=now())
    check = add_check(study=open_study, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)

    said = as_ada.post(reverse("annotate:attention", args=[open_study.name]), {"check": check.pk, "chosen": many})

    assert said.status_code == 422
    assert gate(open_study, ada) == "attention"


# --- Screening by answers --------------------------------------------------------------------------


@pytest.fixture
def level(open_study: Study) -> SurveyQuestion:
    question = add_question(study=open_study, text="What can you read?", kind="one", options=["A1", "B1", "C1"])
    screen_by_answers(question=question, answers=["A1"])
    return question


def test_an_answer_screens_out_before_the_work_and_says_so_kindly(
    open_study: Study, level: SurveyQuestion, ada: User, as_ada: Client
) -> None:
    address = reverse("annotate:questionnaire", args=[open_study.name])

    before = as_ada.get(address).content.decode()
    after = as_ada.post(address, {f"question-{level.pk}": "A1"}, follow=True).content.decode()

    assert "If so, you are told right after this page. There is no other consequence." in before
    assert "this study has no work for you" in after
    assert "There is no other consequence." in after
    out = ScreenOut.objects.get()
    assert (out.enrolment.user, out.reason, out.question) == (ada, "answer", level)
    assert gate(open_study, ada) == "screened_out"
    assert not Assignment.objects.exists()
    assert screened_by_questions(open_study) == {level.pk: 1}


def test_another_answer_leads_to_the_work(open_study: Study, level: SurveyQuestion, ada: User, as_ada: Client) -> None:
    as_ada.post(reverse("annotate:questionnaire", args=[open_study.name]), {f"question-{level.pk}": "C1"})

    assert gate(open_study, ada) is None
    assert not ScreenOut.objects.exists()


def test_any_of_several_answers_screens_out_and_the_first_question_counts(open_study: Study, ada: User) -> None:
    tools = add_question(study=open_study, text="What do you use?", kind="many", options=["a pen", "a chatbot", "none"])
    level = add_question(study=open_study, text="What can you read?", kind="one", options=["A1", "B1"])
    screen_by_answers(question=tools, answers=["a chatbot"])
    screen_by_answers(question=level, answers=["A1"])

    answer_questionnaire(study=open_study, user=ada, answers={level: "A1", tools: ["a pen", "a chatbot"]}, at=now())

    assert screened_by_questions(open_study) == {tools.pk: 1}


def test_a_readmitted_person_works_and_counts_no_more(open_study: Study, level: SurveyQuestion, ada: User) -> None:
    answer_questionnaire(study=open_study, user=ada, answers={level: "A1"}, at=now())

    readmit(study=open_study, user=ada, at=now())

    assert gate(open_study, ada) is None
    assert screened_by_questions(open_study) == {}


def test_erased_answers_no_longer_tell_which_one_screened_out(
    open_study: Study, level: SurveyQuestion, ada: User
) -> None:
    answer_questionnaire(study=open_study, user=ada, answers={level: "A1"}, at=now())

    erase_answers(study=open_study, user=ada, at=now())

    assert ScreenOut.objects.get().question is None
    assert gate(open_study, ada) == "screened_out"


@pytest.mark.parametrize(
    ("after", "answers", "said"),
    [(5, ["A1"], "before the work"), (0, ["D2"], "not one of the answers"), (0, ["A1", "B1"], "Leave one out")],
)
def test_a_question_that_cannot_screen_is_refused(open_study: Study, after: int, answers: list[str], said: str) -> None:
    question = add_question(study=open_study, text="Level?", kind="one", options=["A1", "B1"], after=after)

    with pytest.raises(CannotScreen, match=said):
        screen_by_answers(question=question, answers=answers)
