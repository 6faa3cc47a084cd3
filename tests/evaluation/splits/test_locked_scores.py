"""What corrects a judge's scores, and what puts systems in order by it, keep to the topics that may be seen."""

from __future__ import annotations

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.cache import caches
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client

from collection.models import Draw, Judgment, Rater, Split, Study, TestReading, User
from collection.splits import make_split
from evaluation.data.visibility import parts_of, visibility_of
from evaluation.leaderboards.available_measures import offered_measures
from evaluation.leaderboards.export import leaderboard_as_dict
from evaluation.leaderboards.leaderboard import measure_leaderboard
from evaluation.leaderboards.measure_correlations import correlate_measures
from evaluation.leaderboards.sources import Scorer
from stats.ranking.measure_names import parse_measure
from tests.evaluation.judged import AT, criterion_of, judge_items
from tests.evaluation.ranked import three_systems
from tests.evaluation.sampled import sampled
from tests.factories import a_judge_rater

__all__ = ["sampled"]

CALIBRATION = "/studies/bridges-study/calibration/"
BOARD = "/studies/bridges-study/leaderboard/"
CORRELATIONS = "/studies/bridges-study/leaderboard/correlations/"
READ = "/studies/bridges-study/split/read/"
API = "/api/v1/studies/bridges-study/"
QUERY = "criterion=answerability&judge=stork-7b"
ERRORS = "criterion=answerability&rater=stork-7b"
ADDRESSES = [
    f"{CALIBRATION}?{QUERY}",
    f"{CALIBRATION}?{QUERY}&half_width=0.1&system=heron",
    *(
        f"{CALIBRATION}{file}?{QUERY}"
        for file in ("calibration.json", "scores.csv", "scores.tex", "recalibration.csv", "recalibration.tex")
    ),
    *(
        f"{CALIBRATION}{chart}?{QUERY}"
        for chart in ("scores.vl.json", "recalibration.vl.json")  # what the drawings are made of
    ),
    f"{API}calibration/?{QUERY}",
    f"{API}calibration/plan/?{QUERY}&half_width=0.1",
    f"{BOARD}?measure=coverage",
    f"{BOARD}?measure=coverage&by=domain",
    *(f"{BOARD}{table}.csv" for table in ("scores", "topics", "pairs", "flips", "correlations")),
    f"{BOARD}scores.tex",
    f"{BOARD}leaderboard.json",
    f"{BOARD}systems.vl.json",
    f"{API}leaderboard/?measure=coverage",
    f"{API}leaderboard/?measure=coverage&source=stork-7b",
    *(
        f"/studies/bridges-study/errors/{address}?{ERRORS}"
        for address in ("", "items/", "errors.json", "confusion.csv", "groups.csv", "raters.tex")
    ),
    f"{API}errors/?{ERRORS}",
    f"{API}errors/items/?{ERRORS}",
    CORRELATIONS,
    f"{CORRELATIONS}matrix.csv",
    f"{CORRELATIONS}thresholds.csv",
]
COMMANDS = [
    ("calibrate", "--study", "bridges-study", "--criterion", "answerability"),
    ("plan_labels", "--study", "bridges-study", "--criterion", "answerability", "--half-width", "0.1"),
    ("errors", "--study", "bridges-study", "--criterion", "answerability"),
    ("leaderboard", "--study", "bridges-study", "--measure", "coverage"),
    ("leaderboard", "--study", "bridges-study", "--measure", "coverage", "--source", "stork-7b"),
]
# These differ by chance from one answer to the next.
TOKENS = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"|X-CSRFToken[^}]*}|nonce="[^"]*"')


@pytest.fixture
def locked(sampled: Study, rosa: User) -> Study:
    make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")
    return sampled


def judge_of(study: Study) -> Rater:
    return study.collection.raters.get(name="stork-7b")


def turn_round(study: Study, *, of: str | None = None) -> None:
    """Make every yes about the test topics a no, and every no a yes; of people, of judges, or of all.

    It is done behind the back of whatever notes changes, so what was kept is forgotten.
    """
    split = Split.objects.get(study=study)
    judgments = Judgment.objects.filter(item__topic__in=split.topics.filter(part="test").values("topic"))
    if of:
        judgments = judgments.filter(rater__kind=of)
    assert judgments.filter(grade__isnull=False).update(grade=1 - F("grade"))
    caches["figures"].clear()


def shown(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return TOKENS.sub("", response.content.decode())


def said(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def answered(*arguments: str) -> Any:
    return json.loads(said(*arguments, "--json"))


@pytest.mark.slow
def test_nothing_that_is_shown_depends_on_the_test_part(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    before = {address: shown(client, address) for address in ADDRESSES}

    turn_round(locked)

    assert [address for address in ADDRESSES if shown(client, address) != before[address]] == []
    assert not TestReading.objects.exists()


@pytest.mark.parametrize(
    "address",
    [
        f"{CALIBRATION}?{QUERY}&half_width=0.1&first=heron&second=ibis",
        f"{API}calibration/plan/?{QUERY}&separate=heron&separate=ibis",
    ],
)
@pytest.mark.slow
def test_a_plan_to_tell_systems_apart_does_not_depend_on_the_test_part(
    client: Client, locked: Study, ada_as_rater: Rater, rosa: User, address: str
) -> None:
    client.force_login(rosa)
    items = list(locked.items.exclude(judgments__rater=ada_as_rater).order_by("pk"))
    judge_items(criterion_of(locked), ada_as_rater, items, [float(place % 2) for place in range(len(items))])
    before = shown(client, address)

    turn_round(locked)

    assert shown(client, address) == before


def test_nothing_that_a_command_says_depends_on_the_test_part(locked: Study) -> None:
    commands = [(*command, *as_json) for command in COMMANDS for as_json in ((), ("--json",))]
    before = [said(*command) for command in commands]

    turn_round(locked)

    assert [
        command for command, said_before in zip(commands, before, strict=True) if said(*command) != said_before
    ] == []


@pytest.mark.parametrize("address", [f"{API}calibration/?{QUERY}", f"{API}leaderboard/?measure=coverage", CORRELATIONS])
def test_without_a_split_all_topics_count(client: Client, locked: Study, rosa: User, address: str) -> None:
    client.force_login(rosa)
    split = Split.objects.get(study=locked)
    held_back = shown(client, address)

    split.delete()

    assert shown(client, address) != held_back
    assert "development" not in shown(client, address)


@pytest.mark.parametrize("address", [CALIBRATION, BOARD, CORRELATIONS])
def test_a_page_says_which_part_of_how_many_topics_it_shows(
    client: Client, locked: Study, rosa: User, address: str
) -> None:
    client.force_login(rosa)

    page = client.get(address).content.decode()

    assert "development topics: 6 of 10" in page
    assert "Unlock the test topics" in page


@pytest.mark.slow
def test_the_test_part_is_found_by_nobody_before_it_was_read(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    of_the_test_part = [
        f"{address}&part=test"
        for address in (
            *(f"{CALIBRATION}{file}?{QUERY}" for file in ("", "calibration.json", "scores.csv", "scores.vl.json")),
            *(f"{BOARD}{file}?measure=coverage" for file in ("", "leaderboard.json", "scores.csv", "systems.vl.json")),
            *(f"{CORRELATIONS}{file}?coefficient=kendall" for file in ("", "matrix.csv")),
        )
    ]
    assert {client.get(address).status_code for address in of_the_test_part} == {404}

    client.post(READ, {"judge": judge_of(locked).pk})

    assert [address for address in of_the_test_part if client.get(address).status_code != 200] == []


@pytest.mark.parametrize(
    "address", [f"{API}calibration/?{QUERY}&part=test", f"{API}leaderboard/?measure=coverage&part=test"]
)
def test_the_api_refuses_the_test_part_before_it_was_read(
    client: Client, locked: Study, rosa: User, address: str
) -> None:
    client.force_login(rosa)
    refused = client.get(address)

    reading = {"criterion": "answerability", "judge": "stork-7b"}
    client.post(f"{API}split/readings/", reading, content_type="application/json")

    assert refused.status_code == 400
    assert "each unlocking is counted" in refused.content.decode()
    answer = client.get(address).json()
    assert (answer["part"], answer["split"]["test_topics"], answer["split"]["test_readings"]) == ("test", 4, 1)


def test_a_study_that_is_not_split_has_no_test_part_to_show(client: Client, sampled: Study, rosa: User) -> None:
    addresses = [f"{CALIBRATION}?{QUERY}&part=test", f"{BOARD}?measure=coverage&part=test", f"{CORRELATIONS}?part=test"]
    client.force_login(rosa)

    assert {address: client.get(address).status_code for address in addresses} == dict.fromkeys(addresses, 404)


@pytest.mark.parametrize("page", [CALIBRATION, BOARD, CORRELATIONS])
def test_a_reading_leads_back_to_the_page_that_asked_for_it(
    client: Client, locked: Study, rosa: User, page: str
) -> None:
    client.force_login(rosa)
    found = re.search(r'name="next" value="([^"]*)"', client.get(page).content.decode())
    assert found

    response = client.post(READ, {"judge": judge_of(locked).pk, "next": found[1].replace("&amp;", "&")}, follow=True)

    assert response.redirect_chain[-1][0].startswith(page)
    assert "test topics: 4 of 10" in response.content.decode()
    assert "<strong>unlocked once</strong>" in response.content.decode()
    assert [reading.read_by for reading in TestReading.objects.all()] == [rosa]


def test_a_reading_leads_to_no_other_site(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)

    response = client.post(READ, {"judge": judge_of(locked).pk, "next": "https://elsewhere.example/"})

    assert response["Location"] == "/studies/bridges-study/split/"


def test_the_test_part_plans_and_draws_nothing(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    client.post(READ, {"judge": judge_of(locked).pk})

    page = client.get(f"{CALIBRATION}?{QUERY}&part=test").content.decode()

    assert "Next items to label" not in page
    assert "page of the development topics" in page


@pytest.mark.parametrize("how", ["strata", "doubt"])
def test_labels_are_drawn_from_the_development_part_alone(client: Client, locked: Study, rosa: User, how: str) -> None:
    client.force_login(rosa)
    choice = {"criterion": "answerability", "judge": "stork-7b", "how": how}

    by_page = client.post(f"{CALIBRATION}draw/", {**choice, "n": 8})
    by_api = client.post(f"{API}calibration/draw/", {**choice, "n": 8}, content_type="application/json")
    too_many = client.post(f"{CALIBRATION}draw/", {**choice, "n": 100})

    found = parts_of(locked)
    drawn = set(Draw.objects.filter(purpose="active").values_list("item__topic", flat=True))
    assert found
    assert drawn <= found.development
    assert (by_page.status_code, by_api.status_code, too_many.status_code) == (302, 201, 422)
    assert by_api.json()["part"] == "development"
    assert Draw.objects.filter(purpose="active").count() == 16


def test_both_parts_together_are_all_of_the_judges_items(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    address = f"{CALIBRATION}calibration.json?{QUERY}"
    client.post(READ, {"judge": judge_of(locked).pk})

    development = client.get(address).json()
    test = client.get(f"{address}&part=test").json()
    locked.split.delete()
    everything = client.get(address).json()

    assert (development["part"], test["part"], test["test_readings"]) == ("development", "test", 1)
    assert (development["n_topics"], test["n_topics"], everything["n_topics"]) == (6, 4, 10)
    for count in ("n_items", "n_labelled", "n_ungraded"):
        assert development["overall"][count] + test["overall"][count] == everything["overall"][count]


def let_people_label_the_rest(study: Study) -> None:
    """Let everybody answer yes to what was not drawn: of a sample people's board gives no scores."""
    for rater in Rater.objects.filter(kind=Rater.Kind.ASSESSOR):
        rest = list(study.items.filter(task_type="answerability").exclude(judgments__rater=rater))
        judge_items(criterion_of(study), rater, rest, [1.0] * len(rest))


def test_people_alone_are_shown_on_all_topics(client: Client, locked: Study, rosa: User) -> None:
    let_people_label_the_rest(locked)
    client.force_login(rosa)
    of_people = f"{API}leaderboard/?measure=coverage&source=people"
    before = client.get(of_people).json()

    turn_round(locked, of="judge")

    assert before["part"] == "all"
    assert {one["n_topics"] for one in before["sources"][0]["systems"]} == {10}
    assert client.get(of_people).json() == before
    page = client.get(f"{BOARD}?measure=coverage&sources=people").content.decode()
    assert "Human judgments only, all topics" in page
    assert "stork-7b" not in page
    turn_round(locked, of="assessor")
    assert client.get(of_people).json()["sources"] != before["sources"]


def test_a_judge_that_nobody_has_read_is_left_out_where_another_was(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    other = a_judge_rater(locked.collection, "crane-1b")
    judge_items(criterion_of(locked), other, list(locked.items.order_by("pk")), [1.0] * 160)
    client.post(READ, {"judge": judge_of(locked).pk})

    of_test = client.get(f"{API}leaderboard/?measure=coverage&part=test").json()
    by_name = client.get(f"{API}leaderboard/?measure=coverage&part=test&source=people&source=crane-1b")
    page = client.get(f"{BOARD}?measure=coverage&part=test").content.decode()

    assert [(one["source"], one.get("test_readings")) for one in of_test["sources"]] == [
        ("people", None),
        ("stork-7b", 1),
    ]
    assert [one["judge"] for one in of_test["corrected"]] == ["stork-7b"]
    assert by_name.status_code == 400
    assert "crane-1b is left out, because nobody has unlocked it here" in page


def test_a_command_reads_the_test_part_and_counts(locked: Study) -> None:
    of_study = ["--study", "bridges-study"]

    calibrated = answered("calibrate", *of_study, "--criterion", "answerability", "--test")
    board = answered("leaderboard", *of_study, "--measure", "coverage", "--test")
    text = said("leaderboard", *of_study, "--measure", "coverage", "--test")

    assert (calibrated["part"], calibrated["test_readings"], calibrated["n_topics"]) == ("test", 1, 4)
    assert (board["part"], board["split"]["test_readings"]) == ("test", 2)
    assert "Test topics: 4 of 10." in text
    assert "stork-7b: unlocked 3" in text
    assert TestReading.objects.count() == 3


def test_a_command_says_why_there_is_nothing_to_read(sampled: Study, rosa: User) -> None:
    board = ["leaderboard", "--study", "bridges-study", "--measure", "coverage", "--test"]
    with pytest.raises(CommandError, match="is not split"):
        said("calibrate", "--study", "bridges-study", "--criterion", "answerability", "--test")
    with pytest.raises(CommandError, match="is not split"):
        said(*board)
    make_split(study=sampled, test_share=0.4, by=rosa, at=AT, seed="s")

    with pytest.raises(CommandError, match="No judge is among these sources"):
        said(*board, "--source", "people")

    assert not TestReading.objects.exists()


def test_a_judge_of_the_test_part_alone_has_nothing_to_show_yet(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    parts = parts_of(locked)
    assert parts
    items = list(locked.items.filter(topic__in=parts.test).order_by("pk"))
    judge_items(criterion_of(locked), a_judge_rater(locked.collection, "crane-1b"), items, [1.0] * len(items))

    page = client.get(CALIBRATION, {"criterion": "answerability", "judge": "crane-1b"})
    api = client.get(f"{API}calibration/?criterion=answerability&judge=crane-1b")

    assert "“crane-1b” was not asked about any development topic" in page.content.decode()
    assert api.status_code == 400
    assert "crane-1b" not in client.get(f"{BOARD}scores.csv").content.decode()


def test_a_topic_that_came_after_the_split_is_in_no_part(client: Client, locked: Study, rosa: User) -> None:
    client.force_login(rosa)
    client.post(READ, {"judge": judge_of(locked).pk})
    locked.split.topics.filter(pk__in=locked.split.topics.filter(part="dev").values("pk")[:1]).delete()

    shown_topics = [
        client.get(f"{CALIBRATION}calibration.json?{QUERY}{part}").json()["n_topics"] for part in ("", "&part=test")
    ]

    assert shown_topics == [5, 4]


@pytest.mark.slow
def test_every_measure_of_rankings_and_their_correlations_keep_to_the_visible_topics(
    client: Client, study: Study, ada_as_rater: Rater, ben_as_rater: Rater, rosa: User
) -> None:
    client.force_login(rosa)
    three_systems(study, [ada_as_rater, ben_as_rater])
    make_split(study=study, test_share=0.5, by=rosa, at=AT, seed="s")
    offered = offered_measures(study)

    def measured() -> list[Any]:
        scorer = [leaderboard_as_dict(measure_leaderboard(Scorer.of(study), parse_measure(name))) for name in offered]
        correlated = correlate_measures(Scorer.of(study), list(map(parse_measure, offered)), varied="Cover@20")
        compared = {one.key: one.table.to_csv() for one in correlated.boards}
        tables = [client.get(f"{CORRELATIONS}{name}.csv?measure=Cover@20").content for name in ("thresholds", "sizes")]
        return [scorer, compared, tables]

    before = measured()
    Judgment.objects.filter(item__topic__in=study.split.topics.filter(part="test").values("topic")).delete()

    assert len(offered) > 3
    assert all(table.count(b"Cover@") > 1 for table in before[2])
    assert measured() == before


def test_the_rule_asks_for_a_judge(locked: Study) -> None:
    parts = parts_of(locked)
    assert parts

    assert visibility_of(parts, []).topics is None
    assert visibility_of(parts, [judge_of(locked)]).topics == parts.development
    assert visibility_of(None, [judge_of(locked)]).topics is None
