"""What is declared of a study's labels counts on every page, in every command and in the API; and can be taken back."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from collection.judgments.declarations import declarations_of, declare, declared_types, doubt_about_sample
from collection.models import Draw, Judgment, RankedPassage, Rater, Study, User
from evaluation.calibration.planning import draw_next
from evaluation.calibration.report import calibrate
from evaluation.data.drawn_labels import draws_of_items, labels_are_a_sample
from evaluation.data.population import population_of
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.publishing.data_card import compile_data_card
from evaluation.publishing.provenance import about_study
from tests.evaluation.judged import AT, criterion_of
from tests.evaluation.leaderboards.test_corrected import board_of, corrected_of
from tests.evaluation.leaderboards.test_samples import drawn, drawn_once, rosa

__all__ = ["drawn", "drawn_once", "rosa"]  # fixtures

PAGE, API = "/studies/drawn/calibration/declarations/", "/api/v1/studies/drawn/declarations/"


@pytest.fixture
def imported(drawn: Study) -> Study:
    """The same labels without a stored draw, as files bring them."""
    Draw.objects.all().delete()
    return drawn


def said(command: str, **options: Any) -> str:
    out = StringIO()
    call_command(command, stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


@pytest.mark.parametrize("measure", ["P(rel=2)@10", "DCG@10", "nDCG@10", "AP(rel=2)"])
def test_declared_labels_correct_what_drawn_ones_do(drawn: Study, measure: str) -> None:
    stored = corrected_of(drawn, measure)
    Draw.objects.all().delete()
    undeclared = corrected_of(drawn, measure)

    declare(drawn, random_sample=True)

    declared = corrected_of(drawn, measure)
    assert undeclared.scores == {}
    assert undeclared.undeclared
    assert {name: one.value for name, one in declared.scores.items()} == pytest.approx(
        {name: one.value for name, one in stored.scores.items()}
    )
    assert [one.low for one in declared.scores.values()] == pytest.approx([one.low for one in stored.scores.values()])
    assert "declared a simple random sample" in declared.draw


def test_a_declared_sample_of_people_is_an_estimate_on_their_own_column(imported: Study) -> None:
    before = board_of(imported, "P(rel=2)@10").columns[0].scored

    declare(imported, random_sample=True)

    after = board_of(imported, "P(rel=2)@10").columns[0].scored
    assert not before.estimated
    assert len(before.withheld) == 12
    assert after.estimated
    assert not after.withheld


def test_offers_first_what_a_sample_can_give(imported: Study) -> None:
    before = offered_measures(imported)

    declare(imported, random_sample=True)

    assert before[0].startswith("nDCG")
    assert offered_measures(imported)[0].startswith("P(")


def test_a_stored_draw_counts_more_than_a_declaration(drawn: Study) -> None:
    criterion = criterion_of(drawn, "relevance")

    declare(drawn, random_sample=True)

    assert population_of(criterion, None).known == "drawn"


def test_what_was_drawn_afterwards_is_a_later_wave(imported: Study) -> None:
    declare(imported, random_sample=True)
    items = list(imported.items.order_by("pk"))
    labelled = set(Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR).values_list("item__pk", flat=True))
    later = [item for item in items if item.pk not in labelled][:6]
    Draw.objects.bulk_create(
        Draw(item=item, purpose="active", inclusion_probability=0.01, design="strata", drawn_at="2026-01-01T00:00Z")
        for item in later
    )

    draws = draws_of_items(criterion_of(imported, "relevance"), population_of_items(imported))

    assert draws.declared
    assert (draws.waves == 0).sum() == 400
    assert (draws.waves == 1).sum() == 6
    assert set(draws.probabilities[draws.waves == 0]) == {0.4}


def test_drawn_items_that_wait_are_named_beside_a_declaration_too(imported: Study) -> None:
    declare(imported, random_sample=True)
    before = calibrate(criterion_of(imported, "relevance"))
    draw_next(before.population, n=20, how="doubt", judges=[], at=AT, seed=1)

    found = calibrate(criterion_of(imported, "relevance"))

    assert (found.population.known, found.population.n_waiting) == ("declared", 20)
    assert len(found.warnings) == len(before.warnings) + 1


def population_of_items(study: Study) -> Any:
    return population_of(criterion_of(study, "relevance"), None).item_ids


def test_labels_of_the_first_passages_alone_are_doubted_where_they_are_declared_and_where_they_correct(
    client: Client, imported: Study, rosa: User, capsys: pytest.CaptureFixture[str]
) -> None:
    declare(imported, random_sample=True)
    of_people = Judgment.objects.filter(rater__kind=Rater.Kind.ASSESSOR)
    random = doubt_about_sample(imported)
    first = RankedPassage.objects.filter(rank__lte=2).values("passage_id")
    of_people.exclude(item__passage__passage_id__in=first).delete()
    doubt = doubt_about_sample(imported)
    client.force_login(rosa)

    call_command("declare", study="drawn", random_sample=True, irrelevant=[])
    page = client.get(PAGE).content.decode()
    answer = client.get(API).json()
    board = client.get("/api/v1/studies/drawn/leaderboard/", {"measure": "P(rel=2)@10"}).json()

    assert random == ""
    assert f"All {of_people.count()} " in doubt
    assert doubt in capsys.readouterr().err
    assert "data-doubt" in page
    assert answer["doubt"] == doubt
    assert doubt in board["notes"]
    assert doubt.removesuffix(".") in calibrate(criterion_of(imported, "relevance")).warnings


def test_all_labelled_needs_no_declaration(imported: Study) -> None:
    unlabelled = imported.items.exclude(judgments__rater__kind=Rater.Kind.ASSESSOR)
    judge = Rater.objects.get(kind=Rater.Kind.JUDGE)
    Judgment.objects.filter(rater=judge, item__in=unlabelled).delete()
    declare(imported, random_sample=True)

    assert population_of(criterion_of(imported, "relevance"), None).known == "all"


def test_the_page_declares_and_takes_back(client: Client, imported: Study, rosa: User) -> None:
    client.force_login(rosa)

    first = client.post(PAGE, {"random_sample": "on"})
    declared = declarations_of(Study.objects.get(pk=imported.pk))
    page = client.get(PAGE).content.decode()
    client.post(PAGE, {})

    assert first.status_code == 302
    assert declared["random_sample"] is True
    assert "checked" in page
    assert declarations_of(Study.objects.get(pk=imported.pk))["random_sample"] is False


def test_calibration_and_leaderboard_lead_to_the_declaration(client: Client, imported: Study, rosa: User) -> None:
    client.force_login(rosa)

    for address in ("calibration/", "leaderboard/?measure=nDCG@10"):
        assert f'href="{PAGE}"' in client.get(f"/studies/drawn/{address}").content.decode()


def test_the_api_and_the_command_declare_alike(client: Client, imported: Study, rosa: User) -> None:
    client.force_login(rosa)

    by_api = client.post(API, {"random_sample": True}, content_type="application/json")
    calibrated = client.get("/api/v1/studies/drawn/calibration/?criterion=relevance").json()
    corrected = client.get("/api/v1/studies/drawn/leaderboard/?measure=nDCG@10").json()["corrected"][0]
    said("declare", study="drawn", random_sample=False)
    after = client.get(API).json()

    assert by_api.json()["random_sample"] is True
    assert calibrated["inclusion_probabilities"] == "declared"
    assert "reason" not in corrected
    assert after["random_sample"] is False
    board = json.loads(said("leaderboard", study="drawn", measure="nDCG@10", json=True))
    assert board["corrected"][0]["reason"]


def test_strangers_declare_nothing(client: Client, imported: Study, mallory: User) -> None:
    client.force_login(mallory)

    assert client.post(PAGE, {"random_sample": "on"}).status_code == 404
    assert client.post(API, {"random_sample": True}, content_type="application/json").status_code == 404
    assert not declarations_of(Study.objects.get(pk=imported.pk))["random_sample"]


def test_what_is_published_names_the_declaration(imported: Study) -> None:
    before, undeclared = about_study(imported), compile_data_card(imported).count("eclar")

    declare(imported, random_sample=True)

    assert "declared" not in before
    assert about_study(imported)["declared"]["random_sample"] is True
    assert compile_data_card(imported).count("eclar") == undeclared + 2


def test_what_is_published_rests_on_a_stored_sample_whatever_is_declared(drawn: Study) -> None:
    before, card = about_study(drawn), compile_data_card(drawn)
    assert not declared_types(drawn)

    declare(drawn, random_sample=True)

    assert not declared_types(drawn)
    assert about_study(drawn) == before
    assert compile_data_card(drawn) == card


@pytest.mark.parametrize(("purpose", "counts"), [("sample", False), ("active", True)])
def test_a_declaration_counts_for_the_types_of_which_no_sample_is_stored(
    imported: Study, purpose: str, counts: bool
) -> None:
    declare(imported, random_sample=True)
    item = imported.items.all()[0]
    Draw.objects.create(item=item, purpose=purpose, inclusion_probability=1, design="simple", drawn_at=AT)

    assert declared_types(imported) == ({"relevance"} if counts else set())
    assert labels_are_a_sample(imported) is counts
    assert ("declared" in about_study(imported)) is counts
