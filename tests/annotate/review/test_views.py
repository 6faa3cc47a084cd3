"""Deciding where people disagree, and looking over what they submitted."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.html import escape
from playwright.sync_api import Page, expect
from pytest_django import DjangoAssertNumQueries

from annotate.assignments.assignments import claim_next, submit_assignment
from annotate.models import Assignment, Enrolment, Place, SpotCheck
from annotate.quality.inbox import comment_on
from annotate.review.adjudication import (
    JudgedItThemselves,
    adjudicate,
    case_of,
    find_disagreements,
    find_disputed_items,
)
from annotate.review.spot_checks import NothingToCheck, draw_spot_checks
from annotate.studies.lifecycle import unenrol
from collection.accounts.access import StillAssesses
from collection.judgments.services import GradeNotOnScale, Span, record_judgment
from collection.models import Adjudication, Criterion, Item, Judgment, Rater, Study, User
from tests.annotate.factories import (
    NOON,
    a_key_point_task,
    a_report_task,
    an_open_study,
    answer_report,
    enrolled,
    in_hands_of,
)
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import a_user, rater_of


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def disputed(study: Study, ada: User, ben: User) -> Item:
    """A report's first question, answerable to Ada, who marked a word, and unanswerable to Ben."""
    task = a_report_task(an_open_study(study))
    item = task.items.order_by("task_item__position")[0]
    criterion = study.criteria.get(name="answerability")
    text = item.judged_text.text or ""
    record_judgment(
        item=item,
        criterion=criterion,
        rater=enrolled(ada, study),
        grade=1,
        spans=[Span(0, 4, text[:4])],
        at=NOON,
    )
    record_judgment(item=item, criterion=criterion, rater=enrolled(ben, study), grade=0, at=NOON)
    return item


def criterion_of(item: Item) -> Criterion:
    return item.study.criteria.get(name="answerability")


# --- Where people disagree ------------------------------------------------------------------------


def test_finds_what_people_grade_differently(disputed: Item) -> None:
    found, total = find_disagreements(disputed.study, across_threshold=True, undecided=True)

    assert total == 1
    assert (found[0].item, list(found[0].grades), found[0].spread) == (disputed, [0.0, 1.0], 1.0)
    assert found[0].crosses_threshold


def test_who_was_not_sure_is_shown(disputed: Item, ben_as_rater: Rater, rosa: User) -> None:
    Judgment.objects.filter(rater=ben_as_rater).update(unsure=True)
    client, study = signed_in(rosa), disputed.study

    found, _ = find_disagreements(study, across_threshold=True, undecided=True)
    listed = client.get(reverse("annotate:disagreements", args=[study.name]))
    case = client.get(reverse("annotate:adjudication", args=[study.name, disputed.pk, "answerability"]))

    assert found[0].unsure == 1
    assert "1 not sure" in listed.text
    assert case.text.count('<span class="badge warn">not sure</span>') == 1


def test_judges_and_excluded_people_are_no_side(disputed: Item, ben_as_rater: Rater, rosa: User) -> None:
    disputed.study.exclusions.create(rater=ben_as_rater, reason="A bot.", excluded_by=rosa, excluded_at=NOON)

    _, total = find_disagreements(disputed.study, across_threshold=False, undecided=False)

    assert total == 0


def test_a_difference_on_one_side_of_the_threshold_is_left_out_unless_asked_for(
    study: Study, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    item = a_report_task(study).items.all()[0]
    criterion = study.criteria.get(name="rating")
    for rater, grade in ((ada_as_rater, 4), (ben_as_rater, 5)):
        record_judgment(item=item, criterion=criterion, rater=rater, grade=grade, at=NOON)

    assert find_disagreements(study, across_threshold=True, undecided=True)[1] == 0
    assert find_disagreements(study, across_threshold=False, undecided=True)[1] == 1


def test_the_case_shows_both_sides_and_what_each_marked(disputed: Item) -> None:
    case = case_of(disputed, criterion_of(disputed))

    assert [(side.letter, side.grade, len(side.judgments)) for side in case.sides] == [("A", 0.0, 1), ("B", 1.0, 1)]
    text = disputed.judged_text.text or ""
    assert [(piece.text, piece.names) for piece in case.pieces] == [(text[:4], ("B",)), (text[4:], ())]


# --- The decision ---------------------------------------------------------------------------------


def test_a_third_person_decides_and_the_judgments_stay(disputed: Item, rosa: User) -> None:
    rater = Rater.objects.create(kind="assessor", name="rosa", user=rosa)

    adjudicate(item=disputed, criterion=criterion_of(disputed), rater=rater, grade=1, note="Clear.", at=NOON)

    assert Judgment.objects.filter(item=disputed).count() == 2
    assert find_disagreements(disputed.study, across_threshold=True, undecided=True)[1] == 0
    assert find_disagreements(disputed.study, across_threshold=True, undecided=False)[0][0].decided is not None


def test_another_decision_keeps_the_first(disputed: Item, rosa: User) -> None:
    rater = Rater.objects.create(kind="assessor", name="rosa", user=rosa)
    for grade in (1, 1, 0):
        adjudicate(item=disputed, criterion=criterion_of(disputed), rater=rater, grade=grade, at=NOON)

    decided = Adjudication.objects.order_by("pk").values_list("grade", "superseded_at")
    assert list(decided) == [(1.0, NOON), (0.0, None)]


def test_nobody_decides_about_their_own_judgment(disputed: Item, ada_as_rater: Rater) -> None:
    with pytest.raises(JudgedItThemselves):
        adjudicate(item=disputed, criterion=criterion_of(disputed), rater=ada_as_rater, grade=1, at=NOON)


def test_a_decision_is_a_grade_of_the_scale(disputed: Item, rosa: User) -> None:
    rater = Rater.objects.create(kind="assessor", name="rosa", user=rosa)

    with pytest.raises(GradeNotOnScale):
        adjudicate(item=disputed, criterion=criterion_of(disputed), rater=rater, grade=3, at=NOON)


# --- The pages ------------------------------------------------------------------------------------


def test_leads_rosa_back_to_the_study_and_an_adjudicator_to_their_work(disputed: Item, rosa: User) -> None:
    carla = a_user("carla")
    enrolled(carla, disputed.study)
    carla.enrolments.update(adjudicates=True)
    page, study = (reverse(f"annotate:{name}", args=[disputed.study.name]) for name in ("disagreements", "study"))

    hers = signed_in(rosa).get(page).content.decode()
    theirs = signed_in(carla).get(page).content.decode()

    assert f'href="{study}"' in hers
    assert f'href="{study}"' not in theirs


def test_rosa_decides_on_the_page(disputed: Item, rosa: User) -> None:
    client = signed_in(rosa)
    page = reverse("annotate:adjudication", args=[disputed.study.name, disputed.pk, "answerability"])

    shown = client.get(page).content.decode()
    response = client.post(page, {"grade": "1", "note": "It is there."})

    assert "Guidelines" in shown
    assert response["Location"] == reverse("annotate:disagreements", args=[disputed.study.name])
    assert Adjudication.objects.get().note == "It is there."


def asked(page: str, item: Item) -> str:
    """What the page says beside the name of whoever looks at it."""
    text = page.split("<main")[1]
    assert item.study.name in text
    return text


def test_who_said_what_is_hidden_from_whoever_decides(disputed: Item, rosa: User, ada: User) -> None:
    comment_on(item=disputed, rater=ada.rater, text="Unclear.", at=NOON)
    page = reverse("annotate:adjudication", args=[disputed.study.name, disputed.pk, "answerability"])

    shown = asked(signed_in(rosa).get(page).text, disputed)

    assert "Person 1" in shown
    assert "Person 2" in shown
    assert "Person 3" not in shown
    assert "Unclear." in shown
    assert not re.search(r"\b(ada|ben)\b", shown)


def test_an_adjudicator_sees_only_what_nobody_will_ask_them(disputed: Item) -> None:
    carla = a_user("carla")
    rater = enrolled(carla, disputed.study)
    carla.enrolments.update(adjudicates=True)
    study, client = disputed.study.name, signed_in(carla)
    listed = reverse("annotate:disagreements", args=[study])
    page = reverse("annotate:adjudication", args=[study, disputed.pk, "answerability"])

    def seen() -> tuple[bool, int]:
        return page in client.get(listed).text, client.get(page).status_code

    before = seen()
    claim_next(study=disputed.study, rater=rater, at=NOON)
    Place.objects.filter(holder=None).delete()
    in_hand = seen()
    Place.objects.update(holder=rater_of(a_user("dora")))

    assert (before, in_hand, seen()) == ((False, 404), (False, 404), (True, 200))


def test_a_researcher_who_assesses_reads_what_others_said_once_they_left(disputed: Item, rosa: User) -> None:
    study, client = disputed.study, signed_in(rosa)
    closed = reverse("annotate:inbox", args=[study.name])
    enrolled(rosa, study)

    refused, api = client.get(closed), client.get(f"/api/v1/studies/{study.name}/judgments/")
    own_page = client.get(reverse("annotate:study", args=[study.name]))
    unenrol(study=study, user=rosa, at=NOON)
    left = client.get(closed)
    enrolled(rosa, study)
    Study.objects.update(state=Study.State.CLOSED)

    assert (refused.status_code, api.status_code, own_page.status_code, left.status_code) == (403, 403, 200, 200)
    assert refused.context["reason"] == api.json()["detail"] == StillAssesses.default_detail
    assert client.get(closed).status_code == 200


def test_the_study_can_show_its_researchers_and_nobody_else_who_said_what(disputed: Item, rosa: User) -> None:
    study, carla = disputed.study, a_user("carla")
    Place.objects.all().delete()
    enrolled(carla, study)
    carla.enrolments.update(adjudicates=True)
    page = reverse("annotate:adjudication", args=[study.name, disputed.pk, "answerability"])
    switch = reverse("annotate:disagreements_names", args=[study.name])

    refused = signed_in(carla).post(switch)
    signed_in(rosa).post(switch)
    hers, theirs = (asked(signed_in(user).get(page).text, disputed) for user in (rosa, carla))
    signed_in(rosa).post(switch)

    assert refused.status_code == 404
    assert re.search(r"\bada\b", hers)
    assert not re.search(r"\bada\b", theirs)
    assert not re.search(r"\bada\b", asked(signed_in(rosa).get(page).text, disputed))


def test_an_item_is_listed_once_with_all_its_criteria_and_the_beginning_of_its_text(
    study: Study, ada_as_rater: Rater, ben_as_rater: Rater, rosa: User
) -> None:
    item = a_key_point_task(study).items.all()[0]
    for criterion in study.criteria.filter(name__in=["grounded", "utility"]):
        for rater, grade in ((ada_as_rater, 0), (ben_as_rater, criterion.scale.points[-1]["value"])):
            record_judgment(item=item, criterion=criterion, rater=rater, grade=grade, at=NOON)

    found, total = find_disputed_items(study, across_threshold=True, undecided=True)
    page = signed_in(rosa).get(reverse("annotate:disagreements", args=[study.name])).text

    assert total == 1
    assert [one.criterion.name for one in found[0].disagreements] == ["grounded", "utility"]
    assert page.count('<th scope="row">') == 1
    assert found[0].text_name[:20] in page


def test_the_meanings_of_grades_stand_beside_them(disputed: Item, rosa: User) -> None:
    page = reverse("annotate:adjudication", args=[disputed.study.name, disputed.pk, "answerability"])
    meanings = [point["text"] for point in criterion_of(disputed).scale.points if point["text"]]

    shown = signed_in(rosa).get(page).text

    assert meanings
    assert all(escape(meaning) in shown for meaning in meanings)


def test_a_decision_without_a_grade_is_refused(disputed: Item, rosa: User) -> None:
    page = reverse("annotate:adjudication", args=[disputed.study.name, disputed.pk, "answerability"])

    response = signed_in(rosa).post(page, {"note": "?"})

    assert response.status_code == 422
    assert not Adjudication.objects.exists()


def test_an_assessor_decides_only_when_asked_to(disputed: Item, rosa: User) -> None:
    carla = a_user("carla")
    enrolled(carla, disputed.study)
    page = reverse("annotate:disagreements", args=[disputed.study.name])
    refused = signed_in(carla).get(page)

    signed_in(rosa).post(reverse("annotate:adjudicator", args=[disputed.study.name, "carla"]))

    assert refused.status_code == 404
    assert Enrolment.objects.get(user=carla).adjudicates
    assert signed_in(carla).get(page).status_code == 200
    assert page in signed_in(carla).get(reverse("annotate:queue")).content.decode()


@pytest.mark.parametrize(
    ("name", "more"),
    [("disagreements", []), ("adjudication", [1, "answerability"]), ("spot_checks", []), ("spot_check", [1])],
)
def test_strangers_and_assessors_find_nothing(
    disputed: Item, mallory: User, ada: User, name: str, more: list[object]
) -> None:
    page = reverse(f"annotate:{name}", args=[disputed.study.name, *more])

    assert signed_in(mallory).get(page).status_code == 404
    assert signed_in(ada).get(page).status_code == 404


def test_the_list_takes_the_same_number_of_queries_for_many(
    study: Study,
    ada_as_rater: Rater,
    ben_as_rater: Rater,
    rosa: User,
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    criterion = study.criteria.get(name="answerability")
    for item in a_report_task(study).items.all():
        for rater, grade in ((ada_as_rater, 0), (ben_as_rater, 1)):
            record_judgment(item=item, criterion=criterion, rater=rater, grade=grade, at=NOON)
    client = signed_in(rosa)

    with django_assert_max_num_queries(17):
        response = client.get(reverse("annotate:disagreements", args=[study.name]))

    assert "questions that two or more people judged, " in response.content.decode()
    assert response.content.decode().count("<tr>") >= 4


# --- Spot checks ----------------------------------------------------------------------------------


@pytest.fixture
def submitted(study: Study, ada: User) -> Assignment:
    assignment = in_hands_of(ada, a_report_task(an_open_study(study)))
    answer_report(assignment, [0, 0, 1])
    submit_assignment(assignment=assignment, at=NOON)
    return assignment


def test_draws_each_assignment_once_and_stores_its_chance(submitted: Assignment) -> None:
    study, rater = submitted.task.study, submitted.rater

    (check,) = draw_spot_checks(study=study, rater=rater, n=5, at=NOON)

    assert (check.assignment, check.inclusion_probability) == (submitted, 1.0)
    with pytest.raises(NothingToCheck):
        draw_spot_checks(study=study, rater=rater, n=5, at=NOON)


def test_rosa_draws_looks_and_notes(submitted: Assignment, rosa: User) -> None:
    client, name = signed_in(rosa), submitted.task.study.name

    drawn = client.post(reverse("annotate:spot_checks_draw", args=[name, submitted.rater.pk]), {"n": 1})
    check = SpotCheck.objects.get()
    shown = client.get(reverse("annotate:spot_check", args=[name, check.pk])).content.decode()
    noted = client.post(reverse("annotate:spot_check", args=[name, check.pk]), {"verdict": "good", "note": "Fine."})

    assert drawn["Location"] == noted["Location"] == reverse("annotate:spot_checks", args=[name])
    assert "answerable" in shown
    check.refresh_from_db()
    assert (check.verdict, check.note, check.checked_by) == ("good", "Fine.", rosa)


def test_a_number_that_is_none_draws_nothing(submitted: Assignment, rosa: User) -> None:
    name = submitted.task.study.name

    signed_in(rosa).post(reverse("annotate:spot_checks_draw", args=[name, submitted.rater.pk]), {"n": "many"})

    assert not SpotCheck.objects.exists()


# --- In the browser -------------------------------------------------------------------------------


@pytest.mark.browser
def test_rosa_goes_through_disagreements_and_decides_by_keyboard(
    page: Page, phone: Page, sign_in: SignIn, submitted: Assignment, ben_as_rater: Rater, rosa: User
) -> None:
    study = submitted.task.study
    items = list(submitted.task.items.order_by("pk"))
    for item, grade in zip(items, (1, 1, 0), strict=True):  # Ada says 0, 0, 1
        record_judgment(item=item, criterion=criterion_of(item), rater=ben_as_rater, grade=grade, at=NOON)
    sign_in(phone, rosa)
    _the_pages_fit_a_phone(phone, items[-1], submitted)

    sign_in(page, rosa)
    page.goto(reverse("annotate:adjudication", args=[study.name, items[0].pk, "answerability"]))
    first, second, third = (item.element.text for item in items if item.element)
    _decides_two_by_keys_alone(page, first, second, third)
    page.goto(reverse("annotate:disagreements", args=[study.name]))
    check_accessibility(page)

    page.get_by_role("rowheader").get_by_role("link").first.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Judgments")).to_be_visible()
    check_accessibility(page)
    page.get_by_label("1 – answerable").focus()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Decide").focus()
    page.keyboard.press("Enter")

    expect(page.get_by_text("No disagreements")).to_be_visible()

    decided = Adjudication.objects.order_by("pk").values_list("item__element__text", "grade", "note")
    assert list(decided) == [(first, 1.0, ""), (second, 0.0, "It is 0."), (third, 1.0, "")]


def _the_pages_fit_a_phone(phone: Page, item: Item, submitted: Assignment) -> None:
    (check,) = draw_spot_checks(study=item.study, rater=submitted.rater, n=1, at=NOON)
    for name, more in (
        ("disagreements", []),
        ("adjudication", [item.pk, "answerability"]),
        ("spot_checks", []),
        ("spot_check", [check.pk]),
    ):
        phone.goto(reverse(f"annotate:{name}", args=[item.study.name, *more]))
        check_no_sideways_scroll(phone)
        check_accessibility(phone)


def _decides_two_by_keys_alone(page: Page, first: str, second: str, third: str) -> None:
    heading = page.get_by_role("heading", level=1)
    page.keyboard.press("g")
    expect(page.get_by_role("dialog", name="Guidelines")).to_be_visible()
    check_accessibility(page)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(heading).to_have_text(second)
    page.keyboard.press("p")
    expect(heading).to_have_text(first)
    page.keyboard.press("1")
    expect(heading).to_have_text(second)
    page.keyboard.press("r")
    page.keyboard.type("It is 0.")
    page.keyboard.press("Escape")
    page.keyboard.press("0")
    expect(heading).to_have_text(third)
