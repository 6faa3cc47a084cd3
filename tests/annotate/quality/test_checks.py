"""Consent and checks as the researcher sets them up, and known grades by page, file and API."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.timezone import now

from annotate.models import (
    Assignment,
    GoldGrade,
    Place,
    QualityRules,
    Task,
    TaskItem,
)
from annotate.quality.attention import add_check
from annotate.quality.gold import NoGold, gold_scores, mark_gold
from annotate.quality.survey import add_question, answer_questionnaire
from annotate.studies.lifecycle import enrol, open_study
from collection.models import Collection, Item, Study, User
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    the_criterion,
)
from tests.annotate.quality_factories import address, first_item, signed_in
from tests.annotate.studies.test_lifecycle import a_study_of

# --- Consent, questionnaire, attention checks, rules -----------------------------------------------


def test_rosa_sets_up_what_comes_before_the_work(study: Study, rosa: User) -> None:
    client = signed_in(rosa)

    client.post(address("checks_consent", study), {"markdown": "I agree to *this*."})
    client.post(
        address("checks_question", study),
        {"text": "How often do you read?", "kind": "one", "options": "daily\n\nseldom\ndaily", "required": "on"},
    )
    client.post(
        address("checks_attention", study),
        {"question": "Please choose ‘often’ here.", "options": "often\nnever", "right": "often", "after": "2"},
    )
    client.post(
        address("checks_rules", study),
        {"pass_percent": "80", "attempts": "3", "expected_minutes": "4", "consequence": "stop"},
    )
    page = client.get(address("checks", study)).content.decode()

    rules = QualityRules.objects.get()
    assert (rules.pass_mark, rules.attempts, rules.consequence) == (0.8, 3, "stop")
    assert study.survey_questions.get().options == ["daily", "seldom"]
    assert study.attention_checks.get().right == 0
    assert "Version 1 is active" in page
    assert "one failure counts" in page


@pytest.mark.parametrize(
    ("page", "sent", "complaint"),
    [
        ("checks_question", {"text": "", "kind": "text"}, "This field is required"),
        ("checks_question", {"text": "What?", "kind": "one", "options": "only"}, "at least two answers"),
        (
            "checks_attention",
            {"question": "Choose the second.", "options": "a\nb", "right": "b", "after": "1"},
            "must name the answer to choose",
        ),
        (
            "checks_attention",
            {"question": "Choose ‘c’.", "options": "a\nb", "right": "c", "after": "1"},
            "not one of the answers",
        ),
        ("checks_attention", {"question": "Choose ‘a’.", "options": "a", "right": "a", "after": "1"}, "at least two"),
        ("checks_rules", {"pass_percent": "101", "attempts": "0"}, "less than or equal to 100"),
    ],
)
def test_what_is_amiss_in_the_checks_is_refused_and_said(
    study: Study, rosa: User, page: str, sent: dict[str, str], complaint: str
) -> None:
    response = signed_in(rosa).post(address(page, study), sent)

    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert not study.survey_questions.exists()
    assert not study.attention_checks.exists()
    assert not QualityRules.objects.exists()


def test_questions_and_checks_can_be_taken_away(study: Study, rosa: User) -> None:
    question = add_question(study=study, text="Who are you?", kind="text")
    check = add_check(study=study, after=0, question="Choose ‘b’.", options=["a", "b"], right=1)
    client = signed_in(rosa)

    client.post(address("checks_question_retire", study, question.pk))
    client.post(address("checks_attention_retire", study, check.pk))

    assert not study.survey_questions.exists()
    assert not study.attention_checks.exists()


def test_rosa_chooses_answers_that_screen_out_and_sees_how_many_did(study: Study, rosa: User, ada: User) -> None:
    question = add_question(study=study, text="What can you read?", kind="one", options=["A1", "B1", "C1"])
    enrol(study=study, user=ada, at=NOON)
    client = signed_in(rosa)

    saved = client.post(
        address("checks_question_screening", study, question.pk), {"answers": ["A1", "B1"]}, follow=True
    )
    question.refresh_from_db()
    answer_questionnaire(study=study, user=ada, answers={question: "B1"}, at=NOON)
    page = " ".join(client.get(address("checks", study)).content.decode().split())

    assert "2 answers screen people out." in saved.content.decode()
    assert "screens out at: A1, B1 · 1 person screened out" in page


@pytest.mark.parametrize(("answers", "complaint"), [(["A1", "B1"], "Leave one out"), (["D2"], "Select a valid choice")])
def test_a_choice_of_answers_that_cannot_be_is_refused(
    study: Study, rosa: User, answers: list[str], complaint: str
) -> None:
    question = add_question(study=study, text="What can you read?", kind="one", options=["A1", "B1"])

    response = signed_in(rosa).post(address("checks_question_screening", study, question.pk), {"answers": answers})

    assert response.status_code == 422
    assert complaint in response.content.decode()
    question.refresh_from_db()
    assert question.screens_out == []


def test_questions_of_text_or_after_work_and_of_others_screen_nobody_out(
    study: Study, rosa: User, mallory: User
) -> None:
    text = add_question(study=study, text="Who are you?", kind="text")
    later = add_question(study=study, text="How was it?", kind="one", options=["good", "bad"], after=3)
    level = add_question(study=study, text="What can you read?", kind="one", options=["A1", "B1"])

    for question in (text, later):
        page = address("checks_question_screening", study, question.pk)
        assert signed_in(rosa).post(page, {"answers": ["good"]}).status_code == 404
    page = address("checks_question_screening", study, level.pk)
    assert signed_in(mallory).post(page, {"answers": ["A1"]}).status_code == 404


@pytest.mark.parametrize(
    ("minutes", "n_checks", "warned"), [(30, 1, True), (30, 2, False), (30, 0, False), (4, 1, False)]
)
def test_warns_of_a_check_that_can_never_count(
    study: Study, rosa: User, minutes: int, n_checks: int, warned: bool
) -> None:
    QualityRules.objects.create(study=study, expected_minutes=minutes)
    for n in range(n_checks):
        add_check(study=study, after=n, question=f"Choose ‘b’ the {n}th time.", options=["a", "b"], right=1)

    page = signed_in(rosa).get(address("checks", study)).content.decode()

    assert ("A single check can never count" in page) == warned


# --- Known grades ----------------------------------------------------------------------------------


def test_gold_scores_count_what_is_within_the_tolerance(judged_by_many: Study, ada: User, rosa: User) -> None:
    criterion = the_criterion(judged_by_many, "answerability")
    for item in judged_by_many.items.order_by("pk")[:4]:
        mark_gold(item=item, criterion=criterion, grade=0, by=rosa, at=now())

    score = gold_scores(judged_by_many)[ada.rater.pk]

    assert (score.right, score.n) == (0, 4)


def test_an_item_for_training_leaves_the_work(study: Study, rosa: User) -> None:
    task = a_key_point_task(study)
    first, second = [row.item for row in task.task_items.all()]
    criterion = the_criterion(study, "grounded")

    mark_gold(item=first, criterion=criterion, grade=1, purpose="training", by=rosa, at=now())
    left = [row.item for row in task.task_items.all()]
    mark_gold(item=second, criterion=criterion, grade=0, purpose="training", by=rosa, at=now())

    assert left == [second]
    assert not Task.objects.exists()
    assert not Place.objects.exists()


def test_what_was_given_as_work_cannot_be_for_training(in_hand: Assignment, study: Study, rosa: User) -> None:
    with pytest.raises(NoGold, match="given to somebody as work"):
        mark_gold(
            item=first_item(study),
            criterion=the_criterion(study, "answerability"),
            grade=1,
            purpose="training",
            by=rosa,
            at=now(),
        )

    assert TaskItem.objects.count() == 3


def test_items_can_be_marked_before_the_study_opens_and_are_then_never_asked(
    collection: Collection, rosa: User
) -> None:
    study = a_study_of(collection, "answerability")
    client = signed_in(rosa)

    client.post(address("gold_prepare", study))
    items = list(study.items.order_by("pk"))
    criterion = the_criterion(study, "answerability")
    client.post(
        address("gold_item", study, items[0].pk),
        {"purpose": "training", f"{criterion.name}-grade": "1", f"{criterion.name}-tolerance": "0"},
    )
    open_study(study=study, at=now())

    assert GoldGrade.objects.get().purpose == GoldGrade.Purpose.TRAINING
    assert TaskItem.objects.count() == len(items) - 1
    assert not TaskItem.objects.filter(item=items[0]).exists()


def test_marking_on_the_page_and_taking_it_back(read_by_ada: Study, rosa: User) -> None:
    client, item = signed_in(rosa), first_item(read_by_ada)
    where = address("gold_item", read_by_ada, item.pk)

    client.post(
        where,
        {
            "purpose": "gold",
            "answerability-grade": "1",
            "answerability-tolerance": "0",
            "answerability-explanation": "It says so.",
        },
    )
    marked = GoldGrade.objects.get()
    page = client.get(where).content.decode()
    client.post(where, {"purpose": "gold", "answerability-grade": "", "answerability-tolerance": "0"})

    assert (marked.grade, marked.explanation, marked.marked_by) == (1, "It says so.", rosa)
    assert "It says so." in page
    assert not GoldGrade.objects.exists()


def test_a_refused_mark_says_why(read_by_ada: Study, rosa: User) -> None:
    where = address("gold_item", read_by_ada, first_item(read_by_ada).pk)
    client = signed_in(rosa)

    taken = client.post(where, {"purpose": "training", "answerability-grade": "1", "answerability-tolerance": "0"})
    odd = client.post(where, {"purpose": "gold", "answerability-grade": "7", "answerability-tolerance": "-1"})

    assert taken.status_code == odd.status_code == 422
    assert "given to somebody as work" in taken.content.decode()
    assert "Select a valid choice" in odd.content.decode()
    assert not GoldGrade.objects.exists()


def upload(client: Client, study: Study, text: str | bytes) -> Any:
    body = text if isinstance(text, bytes) else text.encode()
    return client.post(address("gold_file", study), {"file": SimpleUploadedFile("gold.csv", body)})


def test_a_file_of_known_grades_goes_in_and_comes_out_again(read_by_ada: Study, rosa: User) -> None:
    first, second, _ = read_by_ada.items.order_by("pk")
    client = signed_in(rosa)
    lines = [
        "item_id,criterion,grade,tolerance,purpose,explanation",
        f'{first},answerability,1,0,gold,"It says so, twice."',
        f"{second},answerability,0,0,gold,",
    ]

    response = upload(client, read_by_ada, "\ufeff" + "\n".join(lines))
    file = client.get(address("gold_csv", read_by_ada)).content.decode()

    assert response.status_code == 302
    assert file.splitlines() == lines


def test_no_text_of_the_known_grades_is_a_formula_and_each_comes_back(read_by_ada: Study, rosa: User) -> None:
    item = first_item(read_by_ada)
    Item.objects.filter(pk=item.pk).update(item_id="=1+1")
    client = signed_in(rosa)
    upload(client, read_by_ada, "item_id,criterion,grade,explanation\n=1+1,answerability,1,@home it is so\n")

    file = client.get(address("gold_csv", read_by_ada)).content.decode()
    GoldGrade.objects.all().delete()
    upload(client, read_by_ada, file)

    assert file.splitlines()[1] == "'=1+1,answerability,1,0,gold,'@home it is so"
    known = GoldGrade.objects.get()
    assert (known.item, known.explanation) == (item, "@home it is so")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("item,grade\nx,1\n", "The column “item_id” is missing"),
        ("item_id,criterion,grade\nnope,answerability,1\n", "line 2: The study has no item “nope”"),
        ("item_id,criterion,grade\nITEM,odd,1\n", "no criterion “odd”"),
        ("item_id,criterion,grade\nITEM,answerability,x\n", "“x” is not a number"),
        ("item_id,criterion,grade\nITEM,answerability,3\n", "3 is not a grade of the scale"),
        ("item_id,criterion,grade,purpose\nITEM,answerability,1,magic\n", "“magic” is not a purpose"),
        ("item_id,criterion,grade,tolerance\nITEM,answerability,1,-2\n", "The tolerance must be 0 or more"),
        ("item_id,criterion,grade,purpose\nITEM,answerability,1,training\n", "given to somebody as work"),
        ("", "No column"),
    ],
)
def test_a_broken_file_changes_nothing_and_says_where(
    read_by_ada: Study, rosa: User, text: str, complaint: str
) -> None:
    item = first_item(read_by_ada)
    good = f"{item},answerability,1" + "," * (text.split("\n")[0].count(",") - 2) if text.count(",") > 1 else ""

    response = upload(signed_in(rosa), read_by_ada, text.replace("ITEM", str(item)) + good)

    assert response.status_code == 422
    page = response.content.decode()
    assert complaint in page or "The submitted file is empty" in page
    assert not GoldGrade.objects.exists()


def test_a_file_that_is_no_text_is_refused(read_by_ada: Study, rosa: User) -> None:
    response = upload(signed_in(rosa), read_by_ada, b"\xff\x00")

    assert response.status_code == 422
    assert "is not UTF-8" in response.content.decode()


def test_items_are_found_by_their_words(read_by_ada: Study, rosa: User) -> None:
    page = signed_in(rosa).get(address("gold", read_by_ada), {"q": "FACT q1"})

    assert [item.element.position for item in page.context["items"]] == [1]


# --- The API ---------------------------------------------------------------------------------------


def test_known_grades_go_in_and_out_by_the_api(read_by_ada: Study, rosa: User) -> None:
    first, second, _ = read_by_ada.items.order_by("pk")
    client = signed_in(rosa)
    known = [
        {"item_id": str(first), "criterion": "answerability", "grade": 1, "explanation": "It says so."},
        {"item_id": str(second), "criterion": "answerability", "grade": 0, "tolerance": 0.5},
    ]

    response = client.post(f"/api/v1/studies/{read_by_ada.name}/gold/", known, content_type="application/json")
    listed = client.get(f"/api/v1/studies/{read_by_ada.name}/gold/").json()["results"]

    assert (response.status_code, response.json()["marked"]) == (201, 2)
    assert [(row["item_id"], row["grade"], row["tolerance"], row["purpose"]) for row in listed] == [
        (str(first), 1, 0, "gold"),
        (str(second), 0, 0.5, "gold"),
    ]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"grade": 9}, "not a grade of the scale"),
        ({"item_id": "nope"}, "no item"),
        ({"grade": None}, "may not be null"),
    ],
)
def test_the_api_marks_all_or_nothing(
    read_by_ada: Study, rosa: User, changes: dict[str, object], complaint: str
) -> None:
    good = {"item_id": str(first_item(read_by_ada)), "criterion": "answerability", "grade": 1}

    response = signed_in(rosa).post(
        f"/api/v1/studies/{read_by_ada.name}/gold/", [good, good | changes], content_type="application/json"
    )

    assert response.status_code == 400
    assert complaint in response.content.decode()
    assert not GoldGrade.objects.exists()


@pytest.mark.parametrize("part", ["gold", "comments"])
def test_the_api_is_the_researchers_alone(read_by_ada: Study, mallory: User, ada: User, part: str) -> None:
    where = f"/api/v1/studies/{read_by_ada.name}/{part}/"

    assert signed_in(mallory).get(where).status_code == 404
    assert signed_in(ada).get(where).status_code == 404
    assert Client().get(where).status_code in {401, 403}
    assert signed_in(mallory).post(where, [], content_type="application/json").status_code in {404, 405}
