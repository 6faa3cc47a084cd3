"""The threshold η: set at import, moved with a history by page, API and command, and fixed once a test was read."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from django.utils.timezone import now

from annotate.task_types import RULES
from annotate.task_types.rules import Highlighting
from collection.importing.trec import relevance_criterion, relevance_criterion_of, threshold_remarks
from collection.models import Collection, Criterion, Scale, Study, ThresholdChange, User
from collection.models.studies import TaskType
from collection.questions.shapes import RELEVANCE_0_3, TASK_TYPES
from collection.scales import ScaleShape
from collection.splits import make_split, record_reading
from collection.thresholds import NoSuchThreshold, ThresholdLocked, can_be_moved, change_threshold, thresholds_of
from tests.factories import a_judge_rater, a_study
from tests.judging.world import with_items
from tests.scales import OUTCOME, YES_NO

pytestmark = pytest.mark.django_db


@pytest.fixture
def as_rosa(client: Client, rosa: User) -> Client:
    client.force_login(rosa)
    return client


@pytest.fixture
def rating(study: Study) -> Criterion:
    return study.criteria.select_related("scale", "study").get(name="rating")


def with_a_test_that_was_read(study: Study, by: User) -> None:
    with_items(study)
    split = make_split(study=study, test_share=0.5, by=by, at=now())
    record_reading(split=split, judge=a_judge_rater(study.collection, "llama"), by=by, at=now())


# --- What it can be -----------------------------------------------------------------------------------


def test_a_threshold_is_any_grade_but_the_lowest_where_grades_have_an_order() -> None:
    assert thresholds_of(RELEVANCE_0_3.stored()) == [1, 2, 3]
    assert thresholds_of(YES_NO.stored()) == [1]
    assert thresholds_of(OUTCOME.stored()) == []


def test_what_assessors_are_asked_hangs_on_no_threshold_that_can_be_moved() -> None:
    gates = {
        name
        for rules in RULES.values()
        for name in [
            *rules.follows.values(),
            *(name for closing in rules.closed_by.values() for name in closing),
            *(
                one.name
                for one in TASK_TYPES[rules.task_type].criteria
                if one.marks == Highlighting.WHEN_POSITIVE.value
            ),
        ]
    }
    scales = {shape.name: shape.scale for each in TASK_TYPES.values() for shape in each.criteria}

    assert gates
    assert {name for name in gates if can_be_moved(scales[name].stored())} == set()


# --- Moving it ----------------------------------------------------------------------------------------


def test_moving_it_keeps_who_when_from_and_to(rating: Criterion, rosa: User) -> None:
    at = now()

    change_threshold(criterion=rating, threshold=4, by=rosa, at=at)
    change_threshold(criterion=rating, threshold=4, by=rosa, at=at)
    change_threshold(criterion=rating, threshold=5, by=rosa, at=at)

    rating.refresh_from_db()
    assert rating.threshold == 5
    history = ThresholdChange.objects.values_list("before", "after", "changed_by__username", "changed_at")
    assert list(history) == [(3, 4, "rosa", at), (4, 5, "rosa", at)]


@pytest.mark.parametrize("threshold", [0, 2.5, 6])
def test_it_goes_nowhere_but_to_a_grade(rating: Criterion, rosa: User, threshold: float) -> None:
    with pytest.raises(NoSuchThreshold, match="can be 1, 2, 3, 4, 5"):
        change_threshold(criterion=rating, threshold=threshold, by=rosa, at=now())


def test_it_stays_once_somebody_has_read_a_test(rating: Criterion, rosa: User) -> None:
    with_a_test_that_was_read(rating.study, rosa)

    with pytest.raises(ThresholdLocked, match=r"“llama” on the held-out topics were unlocked on .* by rosa"):
        change_threshold(criterion=rating, threshold=4, by=rosa, at=now())
    assert not ThresholdChange.objects.exists()


def test_the_page_moves_it_and_shows_its_history(as_rosa: Client, rating: Criterion) -> None:
    address = reverse("annotate:threshold", args=[rating.study.name, "rating"])

    page = as_rosa.post(address, {"threshold": "4"}, follow=True).content.decode()

    assert "“rating” counts as positive from 4 up; figures are updated." in page
    assert "changed 1 time" in page
    assert "From 3 to 4" in page
    assert "by rosa" in page


def test_the_page_refuses_what_is_no_grade_and_what_is_locked(as_rosa: Client, rating: Criterion, rosa: User) -> None:
    address = reverse("annotate:threshold", args=[rating.study.name, "rating"])

    refused = as_rosa.post(address, {"threshold": "7"}, follow=True).content.decode()
    with_a_test_that_was_read(rating.study, rosa)
    locked = as_rosa.post(address, {"threshold": "4"}, follow=True).content.decode()

    assert "η of “rating” stays" in refused
    assert "a threshold chosen after that would be fitted to the test" in locked
    assert f'action="{address}"' in refused
    assert f'action="{address}"' not in locked
    rating.refresh_from_db()
    assert rating.threshold == 3


def test_mallory_moves_nothing(client: Client, rating: Criterion, mallory: User) -> None:
    client.force_login(mallory)

    page = client.post(reverse("annotate:threshold", args=[rating.study.name, "rating"]), {"threshold": "4"})
    answer = client.post(
        f"/api/v1/studies/{rating.study.name}/criteria/rating/threshold/",
        {"threshold": 4},
        content_type="application/json",
    )

    assert (page.status_code, answer.status_code) == (404, 404)


def test_the_api_moves_it_and_gives_its_history(as_rosa: Client, rating: Criterion, rosa: User) -> None:
    address = f"/api/v1/studies/{rating.study.name}/criteria/rating/threshold/"

    moved = as_rosa.post(address, {"threshold": 4}, content_type="application/json")
    refused = as_rosa.post(address, {"threshold": 0}, content_type="application/json")
    with_a_test_that_was_read(rating.study, rosa)
    locked = as_rosa.post(address, {"threshold": 3}, content_type="application/json")

    assert (moved.status_code, refused.status_code, locked.status_code) == (200, 400, 409)
    (change,) = moved.json()["threshold_changes"]
    assert (change["before"], change["after"], change["changed_by"]) == (3, 4, "rosa")
    assert as_rosa.get(f"/api/v1/studies/{rating.study.name}/").json()["criteria"][1]["threshold"] == 4


def test_the_command_moves_it(rating: Criterion, rosa: User) -> None:
    said = StringIO()
    options = {"study": rating.study.name, "criterion": "rating", "by": rosa.username}

    call_command("change_threshold", to=4, **options, stdout=said)
    with pytest.raises(CommandError, match="can be 1, 2, 3, 4, 5"):
        call_command("change_threshold", to=9, **options)

    assert said.getvalue() == "rating: η from 3 to 4\n"


# --- At import ----------------------------------------------------------------------------------------


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    path = tmp_path / "nist.qrels"
    path.write_text("t0 0 t0-p0 2\nt0 0 t0-p1 1\n")
    return path


def imported(qrels: Path, collection: Collection, **options: object) -> Criterion:
    call_command(
        "import_qrels", str(qrels), study="nist", collection=collection.name, rater="NIST", quiet=True, verbosity=0,
        **options,
    )  # fmt: skip
    return Criterion.objects.select_related("scale").get(study__name="nist")


def test_qrels_say_at_import_from_where_on_a_passage_is_relevant(qrels: Path, collection: Collection) -> None:
    assert imported(qrels, collection, relevant_from=2).threshold == 2


def test_qrels_count_from_1_if_nobody_says_otherwise(qrels: Path, collection: Collection) -> None:
    assert imported(qrels, collection).threshold == 1


@pytest.mark.parametrize(("asked", "taken"), [({}, 1), ({"relevant_from": 2}, 2)])
def test_the_end_of_an_import_says_which_threshold_was_taken(
    qrels: Path, collection: Collection, asked: dict[str, float], taken: int, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("import_qrels", str(qrels), study="nist", collection=collection.name, rater="NIST", **asked)

    assert f"from {taken} up" in capsys.readouterr().out


def test_two_grades_leave_no_threshold_open(qrels: Path, collection: Collection) -> None:
    several = imported(qrels, collection, scale=[0.0, 1.0, 2.0])
    several.scale = relevance_criterion("relevance", [0, 1]).scale.stored()

    assert threshold_remarks(several) == []


def test_qrels_without_words_get_the_words_that_are_shipped(qrels: Path, collection: Collection) -> None:
    criterion = imported(qrels, collection)

    assert criterion.scale == RELEVANCE_0_3.stored()
    assert not criterion.scale.wordless


def test_qrels_of_other_numbers_stay_without_words(qrels: Path, collection: Collection) -> None:
    scale = imported(qrels, collection, scale=[0.0, 1.0, 2.0]).scale

    assert (scale.values, scale.wordless) == ([0, 1, 2], True)


def test_another_threshold_for_qrels_that_are_there_is_refused_and_says_how_to_move_it(
    qrels: Path, collection: Collection
) -> None:
    imported(qrels, collection)

    with pytest.raises(CommandError, match=r"counts as relevant from 1 up, not from 2.*study threshold"):
        imported(qrels, collection, relevant_from=2)


def test_qrels_of_a_study_made_in_the_browser_keep_its_threshold(collection: Collection) -> None:
    study = a_study(collection, task_types=["relevance"])

    assert relevance_criterion_of(study).threshold == 2
    with pytest.raises(ValidationError, match="Relevant from 0 is not possible"):
        relevance_criterion_of(study, relevant_from=0)


def test_the_import_page_takes_the_threshold(as_rosa: Client, qrels: Path, collection: Collection) -> None:
    study = Study.objects.create(collection=collection, name="nist", created_by=collection.owner)
    sent = {"file_format": "qrels", "study": "nist", "rater": "NIST", "relevant_from": "2"}

    with qrels.open("rb") as file:
        preview = as_rosa.post(reverse("collection:import_page", args=[collection.name]), sent | {"file": file})
    as_rosa.post(preview["Location"], {"people": [qrels.name], "name-0": "NIST"})

    assert study.criteria.get().threshold == 2


def test_a_judges_qrels_take_it_too(qrels: Path, collection: Collection) -> None:
    study = Study.objects.create(collection=collection, name="judged", created_by=collection.owner)

    call_command(
        "import_grades", str(qrels), form="qrels", study=study.name, judge="umbrela", tool="UMBRELA",
        relevant_from=2, quiet=True, verbosity=0,
    )  # fmt: skip

    assert study.criteria.get(task_type=TaskType.RELEVANCE).threshold == 2


def test_a_scale_of_bare_numbers_is_wordless() -> None:
    points = ((0, "0", ""), (1, "1", ""))

    assert ScaleShape("bare", Scale.Level.ORDINAL, points).stored().wordless
    assert not ScaleShape("named", Scale.Level.ORDINAL, ((0, "no", ""), (1, "yes", ""))).stored().wordless
