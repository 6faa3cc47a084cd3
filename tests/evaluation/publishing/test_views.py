from __future__ import annotations

import io
import re
import zipfile

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import localdate

from collection.models import Draw, Exclusion, Item, Judgment, Rater, Study, User
from evaluation.publishing.data_card import compile_data_card
from stats.audit_verification import verify
from tests.evaluation.judged import AT, criterion_of, judge_items, passage_items

PAGE = "/studies/bridges-study/publish/"
BUNDLE, CARD, CARD_FILE = f"{PAGE}bundle/", f"{PAGE}card/", f"{PAGE}card/file/"
API = "/api/v1/studies/bridges-study/bundle/"


def names_in(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_gathers_what_can_be_published(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    for url in ("/studies/bridges-study/qrels/", BUNDLE, CARD, CARD_FILE, "judgments.csv", "judgments.jsonl"):
        assert url in page
    assert "No licence is recorded" in page
    assert "simulation" not in page


def test_warns_of_what_is_open_simulated_or_excluded(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    Rater.objects.filter(pk=ada_as_rater.pk).update(origin=Rater.Origin.SIMULATED)
    Exclusion.objects.create(study=judged, rater=ben_as_rater, reason="slept", excluded_at=AT)
    Study.objects.update(state=Study.State.OPEN)
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "The study is open. Close it first" in page
    assert "1 of the raters is a simulation" in page
    assert "<dt>excluded</dt><dd>1</dd>" in page


def test_a_study_nobody_judged_says_so(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "There are no judgments yet" in client.get(PAGE).content.decode()


@pytest.mark.parametrize("url", [BUNDLE, API])
def test_the_bundle_is_a_zip_that_holds(client: Client, judged: Study, rosa: User, url: str) -> None:
    client.force_login(rosa)

    response = client.get(url)

    assert response["Content-Disposition"] == f'attachment; filename="bridges-study-bundle-{localdate()}.zip"'
    files = names_in(response.getvalue())
    assert verify(files).holds
    assert b",ada," not in files["judgments.csv"]


@pytest.mark.parametrize(("url", "yes"), [(BUNDLE, "on"), (API, "true")])
def test_the_bundle_names_people_where_that_is_asked_for(
    client: Client, judged: Study, rosa: User, url: str, yes: str
) -> None:
    client.force_login(rosa)

    files = names_in(client.get(url, {"names": yes}).getvalue())

    assert b",ada," in files["judgments.csv"]


def test_the_card_is_read_and_taken(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    page, file = client.get(CARD), client.get(CARD_FILE)

    assert "<h2>Raters</h2>" in page.content.decode()
    assert file["Content-Disposition"] == f'attachment; filename="bridges-study-data-card-{localdate()}.md"'
    assert file.content.decode().startswith("# Data card: bridges-study\n")


def test_the_card_tells_who_judged_how_far_they_agree_and_what_is_missing(judged: Study, ben_as_rater: Rater) -> None:
    item = Item.objects.filter(study=judged)[0]
    Draw.objects.create(item=item, inclusion_probability=0.5, design="simple", drawn_at=AT)

    card = compile_data_card(judged)

    assert "| assessor 1 | person | judged here | 6 | 0.0% | – |" in card
    assert "| small-judge | judge | judged here | 6 | 16.7% | – |" in card
    assert "| sample | simple | – | answerability | 1 | 0.5 |" in card
    assert "| percent agreement | 0.667 | 2 topics are too few for an interval, which takes 5 |" in card
    assert "- Version 1, of " in card
    assert "Ungraded: 1 judgment," in card
    assert "2 people judged" in card
    assert "Time and pay" not in card
    assert not re.search(r"\bada\b", card)


def test_the_card_tells_the_share_of_grades_that_people_were_not_sure_of(judged: Study, ada_as_rater: Rater) -> None:
    before = compile_data_card(judged)
    mine = Judgment.objects.filter(criterion__study=judged, rater=ada_as_rater)
    Judgment.objects.filter(pk__in=list(mine.values_list("pk", flat=True)[:3])).update(unsure=True)

    card = compile_data_card(judged)

    assert "not sure" not in before
    assert "| `answerability` | 12 | 3 | 25.0% |" in card


def test_the_card_tells_time_and_pay_where_they_are_known(judged: Study) -> None:
    criterion_of(judged).judgments.filter(rater__name="ada").update(seconds=60)
    judged.attributes["pay"] = "12 € an hour"

    card = compile_data_card(judged)

    assert "Active time: 0.1 hours over 6 judgments, 60 seconds each" in card
    assert "- Pay: 12 € an hour" in card


def test_no_markdown_of_people_is_obeyed(client: Client, judged: Study, rosa: User) -> None:
    judged.title = "<img src=x> | [click](https://evil.example) `*"
    judged.save()
    client.force_login(rosa)

    page = client.get(CARD).content.decode()

    assert "evil.example)" in page
    assert 'href="https://evil.example"' not in page
    assert "<img src=x>" not in page


@pytest.mark.parametrize("url", [PAGE, BUNDLE, CARD, CARD_FILE])
def test_strangers_find_nothing(client: Client, judged: Study, mallory: User, url: str) -> None:
    assert client.get(url).status_code == 302

    client.force_login(mallory)

    assert client.get(url).status_code == 404


def test_strangers_find_nothing_in_the_api(client: Client, judged: Study, mallory: User) -> None:
    assert client.get(API).status_code in (401, 403)

    client.force_login(mallory)

    assert client.get(API).status_code == 404


def test_what_only_reads_takes_no_posts(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.post(BUNDLE).status_code == 405


@pytest.mark.parametrize("url", [PAGE, BUNDLE, CARD])
def test_the_number_of_queries_does_not_grow_with_the_judgments(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, url: str
) -> None:
    items = passage_items(judged)
    judge_items(criterion_of(judged, "rating"), ada_as_rater, items[:1], [1])
    client.force_login(rosa)
    client.get(url)
    caches["figures"].clear()
    with CaptureQueriesContext(connection) as with_one:
        client.get(url)
    judge_items(criterion_of(judged, "rating"), ada_as_rater, items[1:], [2, 3, 4])

    with CaptureQueriesContext(connection) as with_four:
        client.get(url)

    assert len(with_four) == len(with_one)
