"""Required and redundant passages of a study: page, command and qrels."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Q
from django.test import Client

from collection.masking import mask_elements
from collection.models import Item, Judgment, Rater, RubricElement, Run, Study, User
from evaluation.leaderboards.sources import Scorer
from evaluation.rubrics.masking import mask_unfulfilled, masking_by_grades
from evaluation.rubrics.oracle import NoOracle, keep_oracle
from evaluation.rubrics.redundancy import Redundancy, measure_redundancy
from stats.ranking.measure_names import NoLeaderboard
from tests.evaluation.judged import AT
from tests.evaluation.ranked import three_systems
from tests.factories import a_judge_rater

PAGE = "/studies/bridges-study/redundancy/"
RATED = Q(item__task_type="rating", grade__isnull=False)
API = "/api/v1/studies/bridges-study/redundancy/"


@pytest.fixture
def rated(study: Study, ada_as_rater: Rater) -> Study:
    """On t2, p0 answers the first sub-question and p1 the second; p2 answers nothing, and nobody the third."""
    three_systems(study, [ada_as_rater])
    of_topic = Judgment.objects.filter(item__task_type="rating", item__topic__topic_id="t2", rater=ada_as_rater)
    of_topic.filter(item__element__position=2).update(grade=0)
    return study


def by_people(study: Study, **options: Any) -> Redundancy:
    return measure_redundancy(study, source="people", **options)


def labels(found: Redundancy, topic: str) -> dict[str, str]:
    return {line.split()[2]: line.split()[3] for line in found.qrels.splitlines() if line.startswith(f"{topic} ")}


def test_an_unanswered_question_keeps_a_passage_from_being_fully_redundant(rated: Study) -> None:
    found = by_people(rated)

    assert labels(found, "t2") == {"t2-p0": "3", "t2-p1": "3", "t2-p2": "2"}
    assert labels(found, "t3") == {"t3-p0": "3", "t3-p1": "3", "t3-p2": "3"}


def test_what_these_ratings_masked_still_counts_and_what_somebody_masked_does_not(rated: Study, rosa: User) -> None:
    element = RubricElement.objects.get(topic__topic_id="t2", kind="sub_question", position=2)
    mask_unfulfilled(masking_by_grades(rated, source="people"), by=rosa, at=AT)
    masked_by_grades = labels(by_people(rated), "t2")
    RubricElement.objects.filter(pk=element.pk).update(masked=False, masking=None)
    mask_elements(elements=[element], reason="ill-posed", by=rosa, at=AT)

    assert masked_by_grades == {"t2-p0": "3", "t2-p1": "3", "t2-p2": "2"}
    assert labels(by_people(rated), "t2") == {"t2-p0": "3", "t2-p1": "3", "t2-p2": "1"}


def test_only_the_passages_of_the_chosen_run_are_classed(rated: Study) -> None:
    assert set(labels(by_people(rated, run="middle"), "t3")) == {"t3-p1", "t3-p2"}


def test_ties_go_to_the_passage_that_the_run_ranks_first(rated: Study) -> None:
    Judgment.objects.filter(RATED, item__topic__topic_id="t3").update(grade=4)
    run = Run.objects.get(name="best")
    run.ranking.filter(topic__topic_id="t3", passage_id="t3-p2").update(score=99)

    assert by_people(rated).topics[3].subset.required == ("t3-p0",)
    assert by_people(rated, run="best").topics[3].subset.required == ("t3-p2",)


def test_passages_of_other_topics_are_irrelevant_by_origin(rated: Study) -> None:
    found = by_people(rated, run="middle", others=True)

    others = {f"t{topic}-p{passage}" for topic in (0, 1, 3, 4, 5) for passage in (1, 2)}
    assert labels(found, "t2") == {"t2-p1": "3", "t2-p2": "2"} | dict.fromkeys(others, "0")


def test_the_summaries_coverage_is_told_with_its_topics(rated: Study) -> None:
    """People's yes: middle answers 2 of 3 questions, 1 on the last topic; of t2 the passages answer the first two."""
    covered = by_people(rated, summaries="middle").summaries

    assert covered is not None
    assert (covered.n_topics, covered.n_ungraded) == (6, 0)
    assert covered.value == pytest.approx((4 * 2 / 3 + 2 / 2 + 1 / 3) / 6)
    assert covered.answer == (
        f"middle answers {covered.value:.1%} of the questions that the passages answer (mean of 6 topics)."
    )
    raters = Rater.objects.filter(name="small-judge")
    raters.update(attributes={"engine": "openai", "model": "grey"})
    other = a_judge_rater(rated.collection, "reports-judge")
    other.attributes = {"engine": "openai", "model": "grey"}
    other.save()
    Judgment.objects.filter(rater__name="small-judge", item__task_type="answerability").update(rater=other)
    by_judge = measure_redundancy(rated, source="small-judge", summaries="middle").summaries
    assert by_judge is not None
    assert (by_judge.source, by_judge.n_topics) == ("reports-judge", 6)
    raters.update(attributes={"engine": "openai", "model": "green"})
    with pytest.raises(NoLeaderboard, match="small-judge judged no reports here"):
        measure_redundancy(rated, source="small-judge", summaries="middle")
    with pytest.raises(NoLeaderboard, match="No run “x” has reports"):
        by_people(rated, summaries="x")


def test_the_required_passages_are_kept_as_a_run_in_the_order_in_which_they_were_taken(
    rated: Study, rosa: User
) -> None:
    found = by_people(rated, run="best")

    run = keep_oracle(found, name="oracle", by=rosa, at=AT)

    assert Scorer.of(rated).rankings["oracle"] == {one.topic: list(one.subset.required) for one in found.topics}
    made = run.attributes["oracle"]
    assert (made["source"], made["criterion"], made["threshold"], made["passages_of"], made["kept_by"]) == (
        "people", "rating", 3.0, "best", "rosa",
    )  # fmt: skip
    with pytest.raises(NoOracle, match="a run “oracle” already"):
        keep_oracle(found, name="oracle", by=rosa, at=AT)
    with pytest.raises(NoOracle, match="a name of at most 200"):
        keep_oracle(found, name=" ", by=rosa, at=AT)
    Judgment.objects.filter(RATED).update(grade=0)
    with pytest.raises(NoOracle, match="No passage is required of any topic: rating ≥ 3, by people"):
        keep_oracle(by_people(rated), name="none", by=rosa, at=AT)


def test_page_api_and_command_keep_the_same_run(client: Client, rated: Study, rosa: User) -> None:
    client.force_login(rosa)
    asked = {"source": "people", "order": "gain", "run": "best"}
    said = StringIO()

    page = client.post(PAGE, {**asked, "summaries": "", "name": "by-page"}, follow=True)
    again = client.post(PAGE, {**asked, "summaries": "", "name": "by-page"})
    answer = client.post(API, {**asked, "name": "by-api"}, content_type="application/json")
    call_command(
        *("redundancy", "--study", "bridges-study", "--source", "people", "--run", "best"),
        *("--keep-as", "by-command", "--summaries", "middle"), stdout=StringIO(), stderr=said,
    )  # fmt: skip

    assert "The run by-page ranks 17 required passages." in page.content.decode()
    assert again.status_code == 422
    assert "already. Choose another name." in again.content.decode()
    assert (answer.status_code, answer.json()["run"]) == (200, "by-api")
    assert "The run by-command ranks 17 required passages" in said.getvalue()
    assert "middle answers" in said.getvalue()
    rankings = Scorer.of(rated).rankings
    assert rankings["by-page"] == rankings["by-api"] == rankings["by-command"]


def test_the_command_prints_qrels_or_json(rated: Study, tmp_path: Path) -> None:
    printed, as_json = StringIO(), StringIO()
    arguments = ("redundancy", "--study", "bridges-study", "--source", "people")

    call_command(*arguments, stdout=printed, stderr=StringIO())
    call_command(*arguments, "--output", str(tmp_path / "x.qrels"), stdout=StringIO(), stderr=StringIO())
    call_command(*arguments, "--order", "count", "--json", stdout=as_json)

    assert printed.getvalue() == (tmp_path / "x.qrels").read_text(encoding="utf-8") == by_people(rated).qrels
    answer = json.loads(as_json.getvalue())
    assert answer["order"] == "count"
    assert answer["passages"] == {"required": 17, "partly redundant": 1, "fully redundant": 0, "unjudged": 0}


def test_the_api_answers_what_the_command_prints_with_the_qrels(client: Client, rated: Study, rosa: User) -> None:
    client.force_login(rosa)
    asked = {"source": "people", "order": "count", "run": "middle"}

    answer = client.get(API, asked).json()
    refused = [client.get(API, asked | wrong) for wrong in ({"source": "nobody"}, {"order": "any"}, {"run": "x"})]

    found = by_people(rated, order="count", run="middle")
    assert answer == found.as_dict()
    assert answer["qrels"].startswith("t0 0 t0-p1 3\n")
    assert [one.status_code for one in refused] == [400, 400, 400]


def test_ratings_that_are_not_there_are_refused(rated: Study) -> None:
    with pytest.raises(CommandError, match="Choose one of: people, small-judge"):
        call_command("redundancy", "--study", "bridges-study", "--source", "nobody")


def test_rosa_sees_the_classes_and_takes_the_qrels(client: Client, rated: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(PAGE, {"source": "people", "order": "gain", "run": ""})
    qrels = client.get(f"{PAGE}qrels/", {"source": "people"})
    table = client.get(f"{PAGE}classes.csv", {"source": "people"}).content.decode().splitlines()
    refused = client.get(PAGE, {"source": "nobody"})

    assert "17 required, 1 partly redundant" in page.content.decode()
    assert table[3].split(",")[:6] == ["t2", "2", "3", "2", "1", "0"]
    assert qrels.content.decode() == by_people(rated).qrels
    assert refused.status_code == 422


def test_the_page_says_that_a_simulation_rated(client: Client, rated: Study, rosa: User) -> None:
    client.force_login(rosa)

    before = client.get(PAGE, {"source": "people"}).content.decode()
    Rater.objects.filter(kind=Rater.Kind.ASSESSOR).update(origin="simulated", source="a coin")

    assert "made by a simulation" not in before
    assert "made by a simulation" in client.get(PAGE, {"source": "people"}).content.decode()


def test_without_ratings_the_page_says_so(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "No ratings of passages yet" in client.get(PAGE).content.decode()
    assert client.get(f"{PAGE}qrels/").status_code == 404


@pytest.mark.parametrize("address", [PAGE, f"{PAGE}qrels/", API])
def test_strangers_find_nothing(client: Client, rated: Study, mallory: User, address: str) -> None:
    client.force_login(mallory)

    assert client.get(address).status_code == 404
    assert Item.objects.exists()
