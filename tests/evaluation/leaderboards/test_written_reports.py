"""CRUX's section 4 inside: contexts, reports that are written from them, and how far measures of both agree."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils.timezone import now

from collection.exporting.cited_reports import exported_cited_reports
from collection.exporting.collections import exported_collection
from collection.formats.jsonl import written_line
from collection.formats.problems import InputFile
from collection.importing.collections import import_collection
from collection.importing.datasets.cited_reports import import_cited_reports
from collection.models import Collection, Item, Passage, Rater, Report, Run, Study, User
from config.demonstration.lines import collection_lines
from evaluation.leaderboards.measure_correlations import correlate_measures
from evaluation.leaderboards.measures.board import measure_board
from evaluation.leaderboards.sources import Scorer
from evaluation.rubrics.oracle import keep_oracle
from evaluation.rubrics.redundancy import measure_redundancy
from judging.building.additions.addition import add_to_collection
from judging.building.review import decide, products_to_review
from judging.building.sources import CannotBuild
from judging.engines import GradeRequest
from tests.evaluation.judged import criterion_of, graded_criterion, judge_items
from tests.factories import a_judge_rater, a_study, new_item
from tests.judging.building.world import Scripted, a_build, finish

pytestmark = pytest.mark.django_db

SOURCE = "simulated-judge"
OF_CONTEXTS, OF_REPORTS = f"coverage@3 · {SOURCE}", f"coverage · {SOURCE}"
COLUMNS = [OF_CONTEXTS, OF_REPORTS]
CONTEXTS = ["bm25", "bm25-sample-1", "bm25-sample-2", "bm25-sample-3", "oracle"]


def words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 3}


def simulated(texts: Iterable[Report | Passage], study: Study, criterion: str, judge: Rater) -> None:
    """Grade each text on each sub-question of its topic by the words that it has of it."""
    task_type = criterion_of(study, criterion).task_type
    topics = {topic: list(topic.rubric_elements.filter(kind="sub_question", masked=False)) for topic in
              study.collection.topics.all()}  # fmt: skip
    items = [
        new_item(study, task_type, topic=topic, element=element, text=text)
        for (topic, elements), text in product(topics.items(), texts)
        if not isinstance(text, Report) or text.topic_id == topic.pk
        for element in elements
    ]
    for number, item in enumerate(items, start=Item.objects.count()):
        item.item_id = f"{criterion}/{number}"
    Item.objects.bulk_create(items)
    asked = [(words(one.element.text), words((one.report or one.passage).text or "")) for one in items]  # type: ignore[union-attr]
    judge_items(criterion_of(study, criterion), judge, items, [float(min(len(of & said), 5)) for of, said in asked])


def first_sentences(request: GradeRequest) -> str:
    """Write the first sentence of each passage of the prompt, with its citation."""
    passages = re.findall(r"\[(\d+)\] (?:[^\n]*?: )?([^\n]*?[.!?])(?:\s|$)", request.prompt.partition("Cats purr")[0])
    return " ".join(f"{said} [{number}]" for number, said in passages) or "Nothing is known."


def written_from(context: str, collection: Collection, rosa: User, *, run: str) -> Run:
    build = finish(
        a_build(collection, "report-passages", by=rosa, documents=context, depth=3), Scripted(first_sentences)
    )
    decide(build, list(products_to_review(build).values_list("pk", flat=True)), "accepted", by=rosa, at=now())
    add_to_collection(build, run=run, by=rosa, at=now())
    return Run.objects.get(collection=collection, name=run)


@pytest.fixture
def crux(rosa: User, tmp_path: Path) -> Study:
    """The demonstration's topics and passages, five contexts, a report from each, and a simulated judge of both."""
    collection = Collection.objects.create(name="crux", owner=rosa)
    kinds = ("topic", "passage", "rubric_element")
    lines = tmp_path / "lines.jsonl"
    lines.write_text("".join(written_line(one) for one in collection_lines() if one.TYPE in kinds))
    import_collection(file=InputFile(lines), collection=collection)
    study = a_study(collection, name="crux-study")
    graded_criterion(study)
    judge = a_judge_rater(collection, SOURCE)
    judge.origin = Rater.Origin.SIMULATED
    judge.save()
    simulated(collection.passages.all(), study, "rating", judge)
    call_command("retrieve", "--collection", "crux", "--run", "bm25", "--depth", "20", stdout=io.StringIO())
    of = ("--run", "bm25", "--passages", "3", "--top", "12", "--contexts", "3")
    call_command("sample_contexts", "--collection", "crux", *of, stdout=io.StringIO())
    keep_oracle(measure_redundancy(study), name="oracle", by=rosa, at=now())
    for context in CONTEXTS:
        written_from(context, collection, rosa, run=f"from-{context}")
    simulated(Report.objects.filter(run__collection=collection), study, "report_rating", judge)
    return study


def test_context_and_report_are_one_system_on_page_api_and_command(client: Client, crux: Study, rosa: User) -> None:
    client.force_login(rosa)
    asked = [option for key in COLUMNS for option in ("--column", key)]
    call_command("correlations", "--study", crux.name, *asked, "--json", stdout=(out := io.StringIO()))

    found = json.loads(out.getvalue())

    [one, other] = found["matrix"]
    assert found == client.get(f"/api/v1/studies/{crux.name}/correlations/", {"column": COLUMNS}).json()
    assert (one["systems"], one["topics"], one["value"]) == (5, 6, other["value"])
    assert 0 < one["value"] <= 1
    assert found["note"].startswith("5 runs of")
    assert {one["reference"] for one in found["divergent"]} == {OF_CONTEXTS}
    assert {one["system"] for one in found["divergent"]} == {f"from-{context}" for context in CONTEXTS}
    assert all(size["kendall"] is not None for size in found["sizes"])
    page = client.get(f"/studies/{crux.name}/leaderboard/correlations/", {"column": COLUMNS}).content.decode()
    assert "Compared over 5 systems on 6 topics" in page
    assert found["note"] in page


def test_a_board_of_measures_has_a_row_for_both_and_the_oracle_with_its_report_apart(
    client: Client, crux: Study, rosa: User
) -> None:
    client.force_login(rosa)
    written_from("bm25", crux.collection, rosa, run="again-from-bm25")
    judge = Rater.objects.get(name=SOURCE)
    simulated(Report.objects.filter(run__name="again-from-bm25"), crux, "report_rating", judge)

    board = measure_board(Scorer.of(crux), COLUMNS)

    groups = board.groups()
    rows = {row.system: [cell.standing for cell in row.cells] for group in groups for row in group.rows}
    alone = measure_board(Scorer.of(crux), [OF_CONTEXTS])
    assert [[row.system for row in group.rows] for group in groups] == [board._sorted(board.systems), ["from-oracle"]]
    assert board.systems == ["again-from-bm25", *(f"from-{context}" for context in CONTEXTS[:-1])]
    assert all(standing for standings in rows.values() for standing in standings)
    assert rows["from-bm25"][0] is rows["again-from-bm25"][0]
    assert rows["from-bm25"][0] == next(iter(alone.columns)).standing("bm25")
    assert alone.systems == CONTEXTS[:-1]
    assert board.note.startswith("6 runs of")
    assert board.note.endswith(": bm25.")
    found = client.get(f"/api/v1/studies/{crux.name}/leaderboard/measures/", {"column": COLUMNS}).json()
    assert found["note"] == board.note
    assert "runs of reports" in client.get(f"/studies/{crux.name}/leaderboard/measures/").content.decode()
    by_topic = client.get(f"/studies/{crux.name}/leaderboard/measures/topics.csv", {"column": COLUMNS}).content.decode()
    assert by_topic.count("again-from-bm25,") == 2 * 6
    assert "\nbm25," not in by_topic
    found = correlate_measures(Scorer.of(crux), [], columns=COLUMNS, apart=["oracle"])
    assert set(found.n_systems.values()) == {5}
    contexts = correlate_measures(Scorer.of(crux), [], columns=[OF_CONTEXTS, f"coverage@2 · {SOURCE}"])
    assert (set(contexts.n_systems.values()), contexts.note) == ({5}, "")


def test_what_a_run_is_made_from_goes_out_and_comes_in(crux: Study, rosa: User, tmp_path: Path) -> None:
    def of(collection: Collection) -> dict[str, str]:
        runs = Run.objects.filter(collection=collection).exclude(made_from=None)
        return dict(runs.values_list("name", "made_from__name"))

    def a_file(lines: Iterable[str]) -> InputFile:
        (path := tmp_path / "file.jsonl").write_text("".join(lines))
        return InputFile(path)

    other, reports_alone = (Collection.objects.create(name=name, owner=rosa) for name in ("other", "reports-alone"))
    Run.objects.filter(name="bm25").update(made_from=Run.objects.get(name="from-oracle"))  # made later than it
    written = list(exported_collection(crux.collection))
    cited = list(exported_cited_reports(crux.collection))

    import_collection(file=a_file(written), collection=other)
    alone = import_cited_reports(file=a_file(cited), collection=reports_alone, with_topics=True)

    assert of(other) == of(crux.collection)
    assert of(other)["from-bm25-sample-1"] == "bm25-sample-1"
    assert of(other)["bm25-sample-1"] == "bm25"
    assert of(reports_alone) == {}
    assert [f"“{one}”" for one in CONTEXTS] in alone.flaws.values()
    again = import_collection(file=a_file(written), collection=other)
    assert not again.changed
    Run.objects.filter(collection=other).update(made_from=None)
    import_collection(file=a_file(written), collection=other)
    assert of(other) == of(crux.collection)
    other.systems.filter(name__startswith="from-").delete()
    import_cited_reports(file=a_file(cited), collection=other)
    assert of(other)["from-oracle"] == "oracle"


def test_the_builder_offers_sampled_contexts(client: Client, crux: Study, rosa: User) -> None:
    client.force_login(rosa)

    page = client.get(f"/collections/{crux.collection.name}/building/new/report-passages/").content.decode()

    assert all(f'<option value="{context}">' in page for context in CONTEXTS)
    with pytest.raises(CannotBuild, match="Choose one of bm25, bm25-sample-1, bm25-sample-2, bm25-sample-3, oracle"):
        a_build(crux.collection, "report-passages", by=rosa, documents="bm25 sample 1")
