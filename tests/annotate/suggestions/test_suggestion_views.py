"""The page on which a study's suggestions are designed."""

from __future__ import annotations

import pytest
from django.test import Client

from collection.models import Arm, Rater, Study, SuggestionDesign, User
from tests.annotate.factories import a_rating_task, in_hands_of
from tests.annotate.quality_factories import signed_in
from tests.annotate.suggested import graded_by_a_judge, suggesting


@pytest.fixture
def as_rosa(rosa: User) -> Client:
    return signed_in(rosa)


@pytest.fixture
def judge(study: Study) -> Rater:
    return graded_by_a_judge(a_rating_task(study), "rating", [5, 4, 3])


def page(study: Study) -> str:
    return f"/studies/{study.name}/suggestions/"


def sent(chosen: Rater, **fields: object) -> dict[str, object]:
    return {"judge": chosen.pk, "none": 50, "after": 50, "verify": 0, "post_edit": 0} | fields


def test_suggests_nothing_until_somebody_says_so(as_rosa: Client, study: Study, judge: Rater) -> None:
    shown = as_rosa.get(page(study))

    assert shown.status_code == 200
    assert "Nothing is suggested." in shown.content.decode()
    assert "Whoever sees a grade is drawn to it." in shown.content.decode()
    assert not SuggestionDesign.objects.exists()


def test_stores_the_design_that_was_sent(as_rosa: Client, study: Study, judge: Rater, rosa: User) -> None:
    answer = as_rosa.post(page(study), sent(judge, none=40, after=20, verify=20, post_edit=20))

    design = SuggestionDesign.objects.get()
    assert answer.status_code == 302
    assert design.probabilities == {Arm.NONE: 0.4, Arm.AFTER: 0.2, Arm.VERIFY: 0.2, Arm.POST_EDIT: 0.2}
    assert (design.judge, design.changed_by) == (judge, rosa)


@pytest.mark.parametrize(
    ("percents", "said"),
    [
        ({"after": 40}, "add up to 90"),
        ({"none": 5, "after": 95}, "greater than or equal to 10"),
        ({"after": "9" * 400}, "less than or equal to 100"),
        ({"after": "half"}, "Enter a whole number"),
        ({"judge": "10" * 30}, "valid choice"),
    ],
)
def test_says_what_is_wrong(
    as_rosa: Client, study: Study, judge: Rater, percents: dict[str, object], said: str
) -> None:
    answer = as_rosa.post(page(study), sent(judge, **percents))

    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not SuggestionDesign.objects.exists()


def test_ends_suggestions_and_tells_what_was_drawn(as_rosa: Client, study: Study, judge: Rater, ada: User) -> None:
    suggesting(study, judge, {Arm.NONE: 100})
    in_hands_of(ada, study.tasks.get())

    answer = as_rosa.post(f"{page(study)}end/", follow=True)

    assert not SuggestionDesign.objects.exists()
    assert "Nothing is suggested." in answer.content.decode()
    assert "Drawn so far" in answer.content.decode()


def test_says_what_is_needed_where_no_judge_graded_anything(as_rosa: Client, study: Study) -> None:
    assert "No judge yet" in as_rosa.get(page(study)).content.decode()


def test_strangers_see_nothing(study: Study, mallory: User, ada: User) -> None:
    for user in (mallory, ada):
        assert signed_in(user).get(page(study)).status_code == 404
        assert signed_in(user).post(f"{page(study)}end/").status_code == 404
