from __future__ import annotations

import io
import zipfile

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.timezone import now

from collection.models import Adjudication, Passage, Rater, Study, User
from tests.evaluation.judged import a_ranking, criterion_of, judge_items, passage_items

PAGE = "/studies/bridges-study/qrels/"


def test_shows_the_first_lines_and_the_two_files(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE).content.decode()

    assert "t0 0 alpha-1 1" in page
    assert f"{PAGE}file/?criterion=answerability&amp;combine=majority" in page


def test_htmx_gets_the_preview_alone(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get(PAGE, {"per_element": "on"}, headers={"HX-Request": "true"})

    page = response.content.decode()
    assert "t0/t0-q0 0 alpha-1 1" in page
    assert "<h1>" not in page


def test_a_choice_that_is_none_is_refused(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"criterion": "nothing"}).status_code == 422
    assert client.get(PAGE, {"rater": "eve"}).status_code == 422
    assert client.get(f"{PAGE}file/", {"rater": "eve"}).status_code == 422


def test_what_cannot_be_written_says_why(client: Client, study: Study, ada_as_rater: Rater, rosa: User) -> None:
    judge_items(criterion_of(study, "rating"), ada_as_rater, passage_items(study), [1, 2, 3, 4])
    Passage.objects.filter(passage_id="t0-p0").update(passage_id="t0 p0")
    client.force_login(rosa)

    page, file = client.get(PAGE), client.get(f"{PAGE}file/")

    assert "“t0 p0” has white space in it" in page.content.decode()
    assert file.status_code == 422
    assert "white space" in file.content.decode()


def test_a_study_nobody_judged_says_so(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "There are no human judgments of “answerability” yet" in client.get(PAGE).content.decode()


def test_the_file_is_qrels_and_its_provenance_is_json(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    file = client.get(f"{PAGE}file/", {"criterion": "answerability", "rater": "ada"})
    provenance = client.get(f"{PAGE}provenance/", {"criterion": "answerability", "rater": "ada"})

    assert file.content.decode() == "t0 0 alpha-1 1\nt1 0 alpha-1 1\n"
    assert file["Content-Disposition"] == 'attachment; filename="bridges-study-answerability-qrels-one-assessor.qrels"'
    assert [rater["name"] for rater in provenance.json()["raters"]] == ["assessor 1"]


@pytest.mark.parametrize("url", [PAGE, *(f"{PAGE}{file}/" for file in ("file", "provenance", "unjudged", "each"))])
def test_strangers_find_nothing(client: Client, judged: Study, mallory: User, url: str) -> None:
    assert client.get(url).status_code == 302

    client.force_login(mallory)

    assert client.get(url).status_code == 404


def test_the_number_of_queries_does_not_grow_with_the_judgments(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater
) -> None:
    items = passage_items(judged)
    judge_items(criterion_of(judged, "rating"), ada_as_rater, items[:1], [1])
    client.force_login(rosa)
    with CaptureQueriesContext(connection) as with_one:
        client.get(PAGE, {"criterion": "rating"})
    judge_items(criterion_of(judged, "rating"), ada_as_rater, items[1:], [2, 3, 4])

    with CaptureQueriesContext(connection) as with_four:
        page = client.get(PAGE, {"criterion": "rating"})

    assert "from 4 judgments" in page.content.decode()
    assert len(with_four) == len(with_one)


def test_shows_counts_holes_and_what_is_left_out(
    client: Client, judged: Study, rosa: User, ada_as_rater: Rater, ben_as_rater: Rater
) -> None:
    items = passage_items(judged)
    judge_items(criterion_of(judged, "rating"), ada_as_rater, items, [5, 1, 2, 0])
    judge_items(criterion_of(judged, "rating"), ben_as_rater, items, [5, 1, 2, 0])
    Rater.objects.filter(pk=ben_as_rater.pk).update(origin=Rater.Origin.SIMULATED)
    a_ranking(judged, {"t0": ["t0-p0", "other"]})
    client.force_login(rosa)
    choice = {"criterion": "rating", "holes_at": "2", "combine": "median", "ties": "higher", "fewest_raters": "1"}

    page = client.get(PAGE, choice).content.decode()
    unjudged = client.get(f"{PAGE}unjudged/", choice).content.decode()

    assert "<dt>labelled 5</dt><dd>1</dd>" in page
    assert "<dt>simulated assessors</dt><dd>1, left out</dd>" in page
    assert "judged@2" in page
    assert "1 of 2" in page
    assert unjudged == "run,topic,docno,place\nalpha-1,t0,other,2\n"


def test_a_zip_has_a_file_for_each_rater(client: Client, judged: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.get(f"{PAGE}each/")

    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        assert "answerability-assessor-2.qrels" in archive.namelist()


@pytest.mark.parametrize(
    "choice", [{"combine": "magic"}, {"ties": "x"}, {"fewest_raters": "0"}, {"binary_at": "9"}, {"holes_at": "many"}]
)
def test_a_rule_that_is_none_is_refused(client: Client, judged: Study, rosa: User, choice: dict[str, str]) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, choice).status_code == 422
    assert client.get(f"{PAGE}each/", choice).status_code == 422


def test_page_api_and_command_make_the_same_file_where_nothing_is_chosen(
    client: Client, judged: Study, rosa: User
) -> None:
    criterion = criterion_of(judged, "answerability")
    about = criterion.judgments.select_related("item").order_by("pk")[0]
    third = Rater.objects.create(kind="assessor", name="rosa", user=rosa)
    Adjudication.objects.create(
        item=about.item, criterion=criterion, rater=third, grade=1 - (about.grade or 0), decided_at=now()
    )
    client.force_login(rosa)
    written = io.StringIO()

    page = client.get(f"{PAGE}provenance/").json()
    api = client.get("/api/v1/studies/bridges-study/qrels/", {"criterion": "answerability"}).json()
    call_command("export_qrels", study="bridges-study", criterion="answerability", stdout=written)

    assert api["qrels"] == client.get(f"{PAGE}file/").content.decode() == written.getvalue()
    assert page["rule"] == api["provenance"]["rule"]
    assert page["counts"] == api["provenance"]["counts"]
    assert page["counts"]["adjudications_not_used"] == 1
