"""Imported judges in ensembles: chosen, named, combined and shown like the judges of this installation."""

from __future__ import annotations

import json
import re
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from collection.judgments.recording import imported_rater
from collection.models import Judgment, Rater, Study, User
from evaluation.publishing.data_card import compile_data_card
from judging.judges.combining import combine
from judging.judges.ensembles import make_ensemble, samples_of
from judging.judges.members import OF_OTHERS, ImportedMember, members_named
from judging.judges.registry import BadJudge
from judging.models import EnsembleGrade, EnsembleMember, Judge
from tests.factories import a_collection, a_study
from tests.judging.judges.test_ensembles import judges, say
from tests.judging.world import criterion_of

pytestmark = pytest.mark.django_db


def imported(study: Study, *grades: float | None, name: str = "umbrela") -> ImportedMember:
    """A judge whose grades of the first items to be rated came in."""
    rater = imported_rater(study.collection, kind=Rater.Kind.JUDGE, name=name, source="umbrela.qrels")
    member = ImportedMember(rater, criterion_of(study, "rating"))
    say(study, member, *grades)
    return member


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


def post(client: Client, address: str, sent: dict[str, Any]) -> Any:
    return client.post(address, sent, content_type="application/json")


def test_an_imported_judge_is_chosen_on_the_page_and_its_grades_are_combined(
    as_rosa: Client, judged_study: Study
) -> None:
    judge, other = judges(2)
    say(judged_study, judge, 3, 5, 4, 2)
    say(judged_study, other, 3, 5, 1, 2)
    member = imported(judged_study, 1, 5, None)
    page = as_rosa.get(reverse("judging:ensemble_new")).content.decode()
    offered = [value for value in map(unescape, re.findall(r'name="members" value="([^"]+)"', page)) if "/" in value]
    fields = {"rule": "majority", "ties": "ungraded", "name": "three"}

    made = as_rosa.post(
        reverse("judging:ensemble_new"), fields | {"members": [judge.name, other.name, *offered]}, follow=True
    )
    criterion = criterion_of(judged_study, "rating")
    as_rosa.post(reverse("judging:ensemble_combine", args=["three"]), {"criterion": criterion.pk})

    assert offered == [f"{judged_study.name}/rating/umbrela"]
    assert reverse("judging:imported_judge", args=[judged_study.name, member.rater.pk]) in made.content.decode()
    # The third item is ungraded by the file and a draw of the others; the file lacks the fourth, which waits.
    judgments = Judgment.objects.filter(rater__name="three").order_by("item")
    assert [(one.grade, one.ungraded) for one in judgments] == [(3, ""), (5, ""), (None, "undecided")]
    kept = EnsembleGrade.objects.order_by("item").values_list("graded_members", "ungraded_members", "agreeing_members")
    assert list(kept) == [(3, 0, 2), (3, 0, 3), (2, 1, 0)]


def test_page_api_command_and_publications_name_the_same_members(as_rosa: Client, judged_study: Study) -> None:
    [judge] = judges(1)
    member = imported(judged_study, 3)
    say(judged_study, judge, 3)
    names = [judge.name, member.name]
    out = StringIO()

    made = post(as_rosa, "/api/v1/judges/ensembles/", {"members": names, "name": "two"})
    again = post(as_rosa, "/api/v1/judges/ensembles/", {"members": names[::-1]})
    call_command("make_ensemble", *names, stdout=out)
    ensemble = Judge.objects.get(name="two")
    combine(ensemble=ensemble, criterion=member.criterion, at=now())

    assert (made.status_code, again.status_code) == (201, 200)
    assert set(made.json()["members"]) == {judge.name, "umbrela"}
    assert set(out.getvalue().rstrip().split("\n  ")[1:]) == {judge.name, "umbrela"}
    assert set(ensemble.rater.attributes["members"]) == {judge.name, "umbrela (imported)"}
    assert sorted(ensemble.decoding["members"]) == sorted([judge.content_hash, member.content_hash])
    assert "umbrela (imported)" in compile_data_card(judged_study)
    assert ensemble.rater.pk in set(Judgment.objects.values_list("rater", flat=True))


def test_an_ensemble_of_imported_judges_alone_grades_in_their_collection(judged_study: Study, mallory: User) -> None:
    elsewhere = a_study(a_collection(owner=mallory, name="canals"), name="canals-study")
    members = [imported(judged_study, 4, 2), imported(judged_study, 4, 0, name="other")]
    ensemble, _ = make_ensemble(members, rule="mean")

    done = combine(ensemble=ensemble, criterion=criterion_of(judged_study, "rating"), at=now())

    assert (done.graded, done.waiting, ensemble.weak) == (2, 10, False)
    assert ensemble not in Judge.objects.fitting(criterion_of(elsewhere, "rating"))


def test_others_read_no_name_of_it_and_name_it_in_no_ensemble(
    client: Client, mallory: User, judged_study: Study
) -> None:
    [judge] = judges(1)
    member = imported(judged_study, 3)
    make_ensemble([judge, member], name="two")
    client.force_login(mallory)

    page = client.get(reverse("judging:judge", args=["two"])).content.decode()
    shown = client.get("/api/v1/judges/two/")
    refused = post(client, "/api/v1/judges/ensembles/", {"members": [judge.name, member.name]})
    on_the_page = client.post(
        reverse("judging:ensemble_new"), {"members": [judge.name, member.name], "rule": "majority", "ties": "lower"}
    )

    assert OF_OTHERS in page
    assert set(shown.json()["members"]) == {judge.name, OF_OTHERS}
    assert "umbrela" not in page + json.dumps(shown.json()) + client.get("/api/v1/judges/").content.decode()
    assert (refused.status_code, on_the_page.status_code) == (400, 422)
    assert member.name in str(refused.json()["non_field_errors"])


@pytest.mark.parametrize(
    "name", ["no-judge", "study/rating", "no/rating/umbrela", "{}/rating/ada", "{}/utility/umbrela"]
)
def test_says_which_member_there_is_not(judged_study: Study, name: str) -> None:
    imported(judged_study, 3)
    named = name.format(judged_study.name)

    with pytest.raises(BadJudge, match=named):
        members_named([named], Study.objects.all())
    with pytest.raises(CommandError, match=named):
        call_command("make_ensemble", named)


def test_no_samples_or_thresholds_of_imported_grades_and_none_that_were_simulated(judged_study: Study) -> None:
    member = imported(judged_study, 3)
    Rater.objects.filter(pk=imported(judged_study, 3, name="dice").rater.pk).update(origin=Rater.Origin.SIMULATED)

    with pytest.raises(BadJudge, match="was imported"):
        samples_of(member, count=2, temperature=0.7)
    with pytest.raises(BadJudge, match="has no expected grades"):
        make_ensemble([member], rule="expected", at=3)
    with pytest.raises(BadJudge, match="dice"):
        members_named([f"{judged_study.name}/rating/dice"], Study.objects.all())


@pytest.mark.parametrize("both", [True, False])
def test_a_member_is_a_judge_or_an_imported_one_and_not_both(judged_study: Study, both: bool) -> None:
    ensemble, _ = make_ensemble(judges(2))
    member = imported(judged_study, 3)
    wrong = {"judge": judges(3)[2], "rater": member.rater} if both else {}

    with pytest.raises(IntegrityError), transaction.atomic():
        EnsembleMember.objects.create(ensemble=ensemble, position=2, **wrong)
