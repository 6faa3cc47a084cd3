"""The researcher's pages: the list, a new study, one study."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now
from playwright.sync_api import Page, expect
from pytest_django import DjangoAssertNumQueries

from annotate.assignments.assignments import claim_next
from annotate.models import Enrolment
from annotate.studies.lifecycle import enrol, open_study
from annotate.task_types import criteria_asked, shapes_offered
from collection.models import Collection, ElementSpan, Exclusion, Study, User
from tests.annotate.studies.test_lifecycle import a_study_of, rank_everything
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.factories import a_user, rater_of

PAGES = ["annotate:study", "annotate:study_guidelines"]
ACTIONS = ["study_open", "study_pause", "study_close", "study_reopen", "study_people", "study_guidelines"]
PEOPLE = ["study_remove", "study_exclude", "study_include"]


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def filled_in(bridges: Collection, /, *task_types: str, **changes: object) -> dict[str, object]:
    """The new study's form as the browser sends it."""
    data: dict[str, object] = {
        "collection": bridges.name,
        "title": "Bridges, first round",
        "name": "",
        "task_types": list(task_types),
        "overlap": 2,
        "depth": 10,
        "guidelines": "# Read it all",
        "usernames": "",
    }
    for shape in shapes_offered():
        data[f"sample-{shape.task_type}"] = ""
        for criterion in shape.criteria:
            data[f"{criterion.name}-question"] = criterion.question
            data[f"{criterion.name}-threshold"] = f"{criterion.threshold:g}"
            for number, (_, name, text) in enumerate(criterion.scale.points):
                data[f"{criterion.name}-name-{number}"] = name
                data[f"{criterion.name}-text-{number}"] = text
    return data | changes


# --- The list -------------------------------------------------------------------------------------


def test_rosa_sees_her_studies_with_their_progress(collection: Collection, rosa: User, ada: User) -> None:
    study = a_study_of(collection, "answerability", overlap=1, assessors=[ada], title="Bridges")
    open_study(study=study, at=now())

    response = signed_in(rosa).get(reverse("annotate:studies"))

    assert response.status_code == 200
    assert "Bridges" in response.content.decode()
    assert "0 of 2 places submitted" in response.content.decode()


def test_mallory_does_not_see_rosas_studies(study: Study, mallory: User) -> None:
    response = signed_in(mallory).get(reverse("annotate:studies"))

    assert study.name not in response.content.decode()
    assert "No studies yet" in response.content.decode()


@pytest.mark.parametrize("page", ["annotate:studies", "annotate:study_new"])
def test_assessors_have_no_studies_pages(ada: User, page: str) -> None:
    assert signed_in(ada).get(reverse(page)).status_code == 404


def test_the_list_takes_the_same_number_of_queries_for_many_studies(
    collection: Collection, rosa: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(6):
        open_study(study=a_study_of(collection, "answerability"), at=now())
    client = signed_in(rosa)

    with django_assert_max_num_queries(5):
        client.get(reverse("annotate:studies"))


# --- A new study ----------------------------------------------------------------------------------


def test_rosa_makes_a_study(collection: Collection, rosa: User) -> None:
    data = filled_in(collection, "answerability", "rating", **{"rating-text-5": "All of it.", "sample-rating": 7})

    response = signed_in(rosa).post(reverse("annotate:study_new"), data)

    study = Study.objects.get()
    assert response.headers["Location"] == reverse("annotate:study", args=["bridges-first-round"])
    assert (study.state, study.overlap, study.created_by) == (Study.State.DRAFT, 2, rosa)
    assert study.criteria.get(name="rating").scale.points[5]["text"] == "All of it."
    assert study.sample_sizes == {"rating": 7}


def test_accounts_made_with_a_study_are_shown_once(collection: Collection, rosa: User, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(made_for=collection)
    client = signed_in(rosa)

    response = client.post(
        reverse("annotate:study_new"), filled_in(collection, "answerability", usernames="ada\ncarla")
    )

    carla = User.objects.get(username="carla@bridges")
    (account,) = response.context["accounts"]
    assert carla.check_password(account.password)
    assert account.password in response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]
    assert account.password not in client.get(reverse("annotate:study", args=["bridges-first-round"])).content.decode()
    assert set(Enrolment.objects.values_list("user__username", flat=True)) == {"ada", "carla@bridges"}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"task_types": []}, "Choose at least one task type"),
        ({"title": ""}, "This field is required"),
        ({"title": "???"}, "enter a name"),
        ({"name": "new"}, "is taken"),
        ({"overlap": 0}, "greater than or equal to 1"),
        ({"answerability-question": ""}, "Correct the criteria of"),
        ({"answerability-threshold": "7"}, "Select a valid choice"),
        ({"usernames": "fine\nnot/fine"}, "“not/fine”"),
        ({"collection": "somebody-elses"}, "Select a valid choice"),
    ],
)
def test_a_study_that_lacks_something_is_refused_and_says_what(
    collection: Collection, rosa: User, changes: dict[str, object], complaint: str
) -> None:
    data = filled_in(collection, "answerability", **changes)

    response = signed_in(rosa).post(reverse("annotate:study_new"), data)

    assert response.status_code == 422
    assert complaint in response.content.decode()
    assert not Study.objects.exists()


def test_criteria_of_a_task_type_that_is_not_chosen_do_not_matter(collection: Collection, rosa: User) -> None:
    data = filled_in(collection, "answerability", **{"rating-question": ""})

    signed_in(rosa).post(reverse("annotate:study_new"), data)

    assert [c.name for c in Study.objects.get().criteria.all()] == ["answerability"]


def test_mallory_cannot_make_a_study_on_rosas_collection(collection: Collection, mallory: User) -> None:
    Collection.objects.create(name="tunnels", owner=mallory)

    response = signed_in(mallory).post(reverse("annotate:study_new"), filled_in(collection, "answerability"))

    assert response.status_code == 422
    assert not Study.objects.exists()


def test_without_a_collection_the_page_says_where_to_begin(rosa: User) -> None:
    response = signed_in(rosa).get(reverse("annotate:study_new"))

    assert "No collection yet" in response.content.decode()


def test_the_preview_shows_markdown_and_lets_no_script_through(rosa: User) -> None:
    response = signed_in(rosa).post(
        reverse("annotate:guidelines_preview"), {"guidelines": "**Read** <script>alert(1)</script>"}
    )

    assert "<strong>Read</strong>" in response.content.decode()
    assert "<script>" not in response.content.decode()


# --- One study ------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_the_pages_of_a_study_are_its_researchers_alone(study: Study, rosa: User, mallory: User, page: str) -> None:
    url = reverse(page, args=[study.name])

    assert signed_in(rosa).get(url).status_code == 200
    assert signed_in(mallory).get(url).status_code == 404
    assert Client().get(url).status_code == 302


@pytest.mark.parametrize("action", ACTIONS)
def test_mallory_can_do_nothing_to_rosas_study(study: Study, mallory: User, action: str) -> None:
    response = signed_in(mallory).post(reverse(f"annotate:{action}", args=[study.name]), {"usernames": "eve"})

    study.refresh_from_db()
    assert response.status_code == 404
    assert study.state == Study.State.DRAFT
    assert not User.objects.filter(username="eve").exists()


@pytest.mark.parametrize("action", PEOPLE)
def test_mallory_can_do_nothing_to_rosas_people(study: Study, mallory: User, ada: User, action: str) -> None:
    enrol(study=study, user=ada, at=now())

    response = signed_in(mallory).post(reverse(f"annotate:{action}", args=[study.name, "ada"]), {"reason": "spite"})

    assert response.status_code == 404
    assert Enrolment.objects.get(study=study).left_at is None
    assert not Exclusion.objects.exists()


def test_a_draft_tells_what_will_be_asked_and_what_is_missing(collection: Collection, rosa: User) -> None:
    study = a_study_of(collection, "answerability", "rating")

    page = signed_in(rosa).get(reverse("annotate:study", args=[study.name])).content.decode()

    assert "6 items in all" in page
    assert "has no ranked passage" in page


def test_rosa_opens_pauses_closes_and_reopens(collection: Collection, rosa: User) -> None:
    study = a_study_of(collection, "answerability")
    client = signed_in(rosa)
    states = []

    for move in ["open", "pause", "open", "close", "reopen"]:
        client.post(reverse(f"annotate:study_{move}", args=[study.name]))
        study.refresh_from_db()
        states.append(study.state)

    assert states == ["open", "paused", "open", "closed", "open"]


def test_a_move_that_is_not_possible_is_explained(study: Study, rosa: User) -> None:
    response = signed_in(rosa).post(reverse("annotate:study_pause", args=[study.name]), follow=True)

    assert "This study is draft; it cannot become paused" in response.content.decode()


def test_opening_a_study_that_lacks_its_texts_explains_it(rosa: User, collection: Collection) -> None:
    ElementSpan.objects.all().delete()
    study = a_study_of(collection, "key_point")

    response = signed_in(rosa).post(reverse("annotate:study_open", args=[study.name]), follow=True)

    assert "has no key point" in response.content.decode()


def test_adding_people_by_name_and_by_choice(study: Study, collection: Collection, rosa: User, ada: User) -> None:
    User.objects.filter(pk=ada.pk).update(made_for=collection)
    a_study_of(collection, "answerability", assessors=[ada])

    response = signed_in(rosa).post(
        reverse("annotate:study_people", args=[study.name]), {"people": ["ada"], "usernames": "carla"}
    )

    assert "carla" in response.content.decode()
    assert set(study.enrolments.values_list("user__username", flat=True)) == {"ada", "carla@bridges"}


def test_adding_nobody_is_refused(study: Study, rosa: User) -> None:
    response = signed_in(rosa).post(reverse("annotate:study_people", args=[study.name]), {"usernames": " "})

    assert response.status_code == 422
    assert "Choose somebody" in response.content.decode()


def test_removing_excluding_and_counting_again(study: Study, rosa: User, ada: User) -> None:
    enrol(study=study, user=ada, at=now())
    client = signed_in(rosa)

    client.post(reverse("annotate:study_exclude", args=[study.name, "ada"]), {"reason": ""})
    without_reason = Exclusion.objects.count()
    client.post(reverse("annotate:study_exclude", args=[study.name, "ada"]), {"reason": "clicks through"})
    page = client.get(reverse("annotate:study", args=[study.name])).content.decode()
    client.post(reverse("annotate:study_include", args=[study.name, "ada"]))
    client.post(reverse("annotate:study_remove", args=[study.name, "ada"]))

    assert without_reason == 0
    assert "clicks through" in page
    assert Exclusion.objects.get().lifted_at is not None
    assert Enrolment.objects.get().left_at is not None


def test_a_new_version_of_the_guidelines_keeps_the_first(study: Study, rosa: User) -> None:
    client = signed_in(rosa)

    client.post(reverse("annotate:study_guidelines", args=[study.name]), {"guidelines": "Read it *twice*."})
    page = client.get(reverse("annotate:study_guidelines", args=[study.name])).content.decode()

    assert "Version 2" in page
    assert "<em>twice</em>" in page
    assert "<em>everything</em>" in page


def test_htmx_gets_the_progress_alone(collection: Collection, rosa: User, ada: User) -> None:
    study = a_study_of(collection, "answerability", overlap=1, assessors=[ada])
    open_study(study=study, at=now())
    claim_next(study=study, rater=ada.rater, at=now())

    response = signed_in(rosa).get(reverse("annotate:study", args=[study.name]), headers={"HX-Request": "true"})

    assert "<html" not in response.content.decode()
    assert "0 of 2 places submitted" in response.content.decode()
    assert response.context["progress"].assessors[0].open == 1


def test_the_page_takes_the_same_number_of_queries_for_many_assessors(
    collection: Collection, rosa: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    people = [a_user(f"person{number}") for number in range(8)]
    study = a_study_of(collection, "answerability", overlap=8, assessors=people)
    open_study(study=study, at=now())
    for person in people:
        claim_next(study=study, rater=rater_of(person), at=now())
    client = signed_in(rosa)

    with django_assert_max_num_queries(36):
        client.get(reverse("annotate:study", args=[study.name]))


# --- In the browser -------------------------------------------------------------------------------


@pytest.mark.browser
def test_rosa_makes_opens_edits_copies_and_closes_a_study(
    page: Page, phone: Page, sign_in: SignIn, rosa: User, ada: User, collection: Collection
) -> None:
    rank_everything(collection)
    sign_in(page, rosa)

    _makes_and_opens_a_study(page)
    address = page.url
    _edits_and_copies_it(page)
    page.goto(address)
    page.locator("summary", has_text="Close").click()
    page.get_by_role("button", name="Close the study").click()
    expect(page.get_by_text("The study is closed.")).to_be_visible()
    assert list(Study.objects.values_list("title", flat=True)) == ["Bridges at dusk"]

    study = a_study_of(collection, "answerability", "key_point", assessors=[ada], title="Bridges at dusk and at dawn")
    open_study(study=study, at=now())
    sign_in(phone, rosa)
    for address in [
        reverse("annotate:studies"),
        reverse("annotate:study_new"),
        reverse("annotate:study", args=[study.name]),
        reverse("annotate:study_guidelines", args=[study.name]),
        reverse("annotate:study_edit", args=[study.name]),
        reverse("annotate:study_copy", args=[study.name]),
    ]:
        phone.goto(address)
        check_no_sideways_scroll(phone)
        check_accessibility(phone)


def _makes_and_opens_a_study(page: Page) -> None:
    page.goto(reverse("annotate:study_new"))
    page.get_by_role("textbox", name="Title").fill("Bridges at dusk")
    page.get_by_role("checkbox", name="answerability of a report").check()
    page.get_by_text("Criterion answerability: question").click()
    page.get_by_role("textbox", name="Name of grade 1").fill("answered")
    page.get_by_label("Language").select_option("de")
    [(_, german)] = criteria_asked("answerability", "de")
    expect(page.locator("[name=answerability-question]")).to_have_value(german.question)
    expect(page.locator("[name=answerability-name-0]")).to_have_value(german.scale.points[0][1])
    expect(page.locator("[name=answerability-name-1]")).to_have_value("answered")
    page.get_by_role("textbox", name="Guidelines").fill("# Read\n\n*all* of it")
    expect(page.locator("#preview em")).to_have_text("all")
    page.get_by_label("Names").fill("carla")
    check_accessibility(page)
    page.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("heading", name="New accounts")).to_be_visible()
    check_accessibility(page)
    page.get_by_role("link", name="Go to the study").click()
    page.get_by_role("region", name=re.compile("^Next step")).get_by_role("button", name="Open the study").click()

    expect(page.get_by_text("The study is open, with 2 tasks.")).to_be_visible()
    expect(page.get_by_text("0 of 6 places submitted")).to_be_visible()
    check_accessibility(page)


def _edits_and_copies_it(page: Page) -> None:
    """Edit the study, and delete its copy."""
    page.get_by_role("link", name="Edit", exact=True).click()
    check_accessibility(page)
    page.get_by_label("Assessors per item").fill("4")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved. Added:")).to_be_visible()
    page.get_by_role("link", name="Copy", exact=True).click()
    check_accessibility(page)
    page.get_by_label("Title").fill("Again")
    page.get_by_role("button", name="Create the copy").click()
    expect(page.get_by_role("heading", name="Again", level=1)).to_be_visible()
    page.locator("summary", has_text="Delete").click()
    page.get_by_role("button", name="Delete the draft").click()
    expect(page.get_by_role("heading", name="Studies", level=1)).to_be_visible()
