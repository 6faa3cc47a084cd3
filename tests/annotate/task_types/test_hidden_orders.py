"""No order or side that people meet can be computed of public names: it follows from the site's secret, or is drawn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from django.conf import settings as site
from django.db import transaction
from django.utils.timezone import now
from pytest_django import Settings

from annotate.review.adjudication import case_of
from annotate.studies.lifecycle import open_study
from annotate.task_types.battle import drawn_as
from collection.banks.visibility import numbered_people, numbered_reports
from collection.exporting.judgments import exported_judgments
from collection.formats.problems import BrokenFile, InputFile
from collection.importing.judgment_table import import_judgments
from collection.models import Collection, Judgment, PairOrder, Scale, Study, User
from collection.models.studies import TaskType
from tests.annotate.battles import a_collection_with_reports, a_study_of_battles, prefer, with_reports
from tests.annotate.evaluated_answers import a_study_of_answers
from tests.annotate.factories import NOON
from tests.annotate.studies.test_lifecycle import a_study_of
from tests.annotate.workshop.banks import a_workshop, the_topic
from tests.factories import a_collection, a_study, a_user, an_item, rater_of

pytestmark = pytest.mark.django_db

RUNS = tuple(f"{name}-1" for name in ("alder", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple"))


def first_reports(owner: User) -> list[str]:
    """Of each pair, in alphabetical order, the first report's run."""
    study = a_study_of_battles(a_collection_with_reports(owner, topics=1, runs=RUNS))
    rows = study.items.values_list("report__run__name", "other_report__run__name")
    return [first for first, _ in sorted(rows, key=sorted)]


def pairs_in_turn(owner: User) -> list[list[str]]:
    study = a_study_of_battles(a_collection_with_reports(owner, topics=1, runs=RUNS))
    turns = study.items.order_by("task_item__task__position")
    return [sorted(pair) for pair in turns.values_list("report__run__name", "other_report__run__name")]


def pairs_by_number(owner: User) -> list[list[str]]:
    study = a_study_of_battles(a_collection_with_reports(owner, topics=1, runs=RUNS))
    runs = study.items.order_by("pk").values_list("report__run__name", "other_report__run__name")
    return [sorted(pair) for pair in runs]


def answers_by_number(owner: User) -> list[str]:
    study = a_study_of_answers(owner, systems=RUNS)
    answers = study.items.filter(task_type=TaskType.ANSWER_EVALUATION).order_by("pk")
    return list(answers.values_list("report__run__name", flat=True))


def reports_in_turn(owner: User) -> list[str | None]:
    collection = a_collection_with_reports(owner, topics=1, runs=RUNS)
    topic = collection.topics.get()
    topic.rubric_elements.create(kind="sub_question", element_id="q", position=0, text="Of what?")
    study = a_study_of(collection, "answerability")
    open_study(study=study, at=now())
    return [task.report.run.name for task in study.tasks.order_by("position") if task.report]


def reports_of_a_workshop(owner: User) -> list[str]:
    topic = a_collection_with_reports(owner, topics=1, runs=RUNS).topics.get()
    return [run for _, run in numbered_reports(topic.pk).values()]


def people_of_a_workshop(owner: User) -> list[str]:
    people = [a_user(name) for name in RUNS]
    workshop = a_workshop(a_collection(owner=owner), people, a_user("dan"))
    return [one.user.username for one in numbered_people(the_topic(workshop)).values()]


def people_who_disagree(owner: User) -> list[str]:
    collection = a_collection(owner=owner)
    study = a_study(collection)
    topic, criterion = collection.topics.order_by("pk")[0], study.criteria.get(name="answerability")
    report, question = topic.reports.get(), topic.rubric_elements.filter(kind="sub_question")[0]
    item = an_item(study, "answerability", topic=topic, element=question, text=report)
    for place, name in enumerate(RUNS):
        said = {"grade": place % 2, "judged_at": NOON}
        Judgment.objects.create(item=item, criterion=criterion, rater=rater_of(a_user(name)), **said)
    voices = (voice for side in case_of(item, criterion).sides for voice in side.voices)
    return [str(voice.said.rater) for voice in sorted(voices, key=lambda voice: voice.who)]


ORDERS = [
    first_reports, pairs_in_turn, pairs_by_number, answers_by_number, reports_in_turn, reports_of_a_workshop,
    people_of_a_workshop, people_who_disagree,
]  # fmt: skip


@pytest.mark.parametrize("order", ORDERS)
def test_an_order_follows_from_the_secret_of_the_site(
    rosa: User, settings: Settings, order: Callable[[User], list[object]]
) -> None:
    """Three sites with the same names and numbers, of which two have the same secret."""
    found = []
    for secret in ("one", "another", "one"):
        settings.SECRET_KEY = secret
        before = transaction.savepoint()
        found.append(order(rosa))
        transaction.savepoint_rollback(before)

    assert found[0] == found[2]
    assert found[0] != found[1]
    assert sorted(map(str, found[0])) == sorted(map(str, found[1])) or order is first_reports


def hash_of(name: str, between: str, topic: str, run: str) -> bytes:
    return hashlib.new(name, f"{topic}{between}{run}".encode()).digest()


def test_the_left_report_is_not_known_by_its_run(rosa: User) -> None:
    """With the hash by which the first one was chosen before, or by name, it was named every time."""
    study = a_study_of_battles(a_collection_with_reports(rosa, topics=6, runs=RUNS))
    hashes = [(name, between) for name in ("sha256", "md5", "sha1") for between in ("\n", "/", "", " ")]
    guesses: dict[str, Callable[[str, str], object]] = {"name": lambda _, run: run}
    guesses |= {f"{name} {between!r}": partial(hash_of, name, between) for name, between in hashes}
    rows = list(study.items.values_list("topic__topic_id", "report__run__name", "other_report__run__name"))

    for name, key in guesses.items():
        right = sum(key(topic, first) < key(topic, second) for topic, first, second in rows)  # type: ignore[operator]
        assert 0.3 < right / len(rows) < 0.7, name


def test_pairs_that_stand_keep_their_sides_under_another_secret(rosa: User, settings: Settings) -> None:
    collection = a_collection_with_reports(rosa, topics=2, runs=RUNS[:4])
    study = a_study_of_battles(collection)
    before = set(study.items.values_list("pk", "report", "other_report"))

    settings.SECRET_KEY = "another"
    open_study(study=study, at=NOON)

    assert set(study.items.values_list("pk", "report", "other_report")) == before
    assert study.tasks.count() == len(before) == 12


def test_a_pair_is_drawn_by_a_name_that_anybody_can_compute(rosa: User, settings: Settings) -> None:
    def drawn() -> set[str]:
        collection = a_collection_with_reports(rosa, topics=4)
        study = a_study_of(collection, "battle", sample_sizes={"battle": 6})
        open_study(study=study, at=NOON)
        pairs = study.tasks.values_list("items__report__run__name", "items__other_report__run__name", "topic__topic_id")
        return {"/".join(sorted(pair)) for pair in pairs}

    settings.SECRET_KEY = "another"
    assert drawn_as("b0", ("alder-1", "birch-1")) == drawn_as("b0", ("birch-1", "alder-1")) == "alder-1/birch-1"
    assert len(drawn()) == 6


def exported_elsewhere(owner: User, ada: User, settings: Settings) -> tuple[str, Study]:
    """Judge the pairs on a site, and return the table and the same study on a site with another secret."""
    study = a_study_of_battles(a_collection_with_reports(owner, topics=4), ada)
    for _ in range(study.tasks.count()):
        prefer(ada, study, "alder-1")
    table = "".join(exported_judgments(study, table="jsonl"))
    settings.SECRET_KEY = "another"
    there = a_study_of_battles(with_reports(Collection.objects.create(name="there", owner=owner), topics=4))
    return table, there


def test_judgments_of_pairs_come_in_where_the_other_report_is_the_first(
    rosa: User, ada: User, settings: Settings, tmp_path: Path
) -> None:
    table, there = exported_elsewhere(rosa, ada, settings)
    (tmp_path / "judgments.jsonl").write_text(table)

    import_judgments(file=InputFile(tmp_path / "judgments.jsonl"), study=there, at=NOON)

    said = Judgment.objects.filter(item__study=there).select_related("item__report__run", "item__other_report__run")
    assert said.count() == 12
    assert not {json.loads(line)["item_id"] for line in table.splitlines()} <= {one.item.item_id for one in said}
    for one in said:
        first, second = one.item.report, one.item.other_report
        assert first is not None
        assert second is not None
        assert one.grade == (first.run.name == "alder-1") - (second.run.name == "alder-1")
    seen = PairOrder.objects.filter(judgment__in=said).values_list("grade", "judgment__grade")
    assert all(grade == of_judgment for grade, of_judgment in seen)


def test_a_grade_without_an_opposite_is_refused(rosa: User, ada: User, settings: Settings, tmp_path: Path) -> None:
    table, there = exported_elsewhere(rosa, ada, settings)
    (tmp_path / "judgments.jsonl").write_text(table)
    scale = there.criteria.get().scale
    Scale.objects.filter(pk=scale.pk).update(points=[{**scale.points[0], "value": 7.0}, *scale.points[1:]])

    with pytest.raises(BrokenFile, match="opposite"):
        import_judgments(file=InputFile(tmp_path / "judgments.jsonl"), study=there, at=NOON)


# What is hashed in `annotate`, and why it decides no order that people meet.
HASHED = {
    "annotate/crowd/invitations.py": "the token of a link, of which the hash alone is kept",
    "annotate/frames/topics.py": "a draw of topics by a seed that is published with it",
    "annotate/prolific/plans.py": "whether a plan that was confirmed is the one that was shown",
    "annotate/task_types/battle.py": "a draw of pairs by a seed that is published with it",
}


def test_nothing_else_is_ordered_by_what_anybody_can_compute() -> None:
    hashes = ("hashlib", "md5", "sha1", "crc32", "Random(", 'text_sha256")')
    root = Path(site.BASE_DIR)
    found = {
        str(path.relative_to(root))
        for path in (root / "annotate").rglob("*.py")
        if any(one in path.read_text().replace("SystemRandom(", "") for one in hashes)
    }

    assert found == HASHED.keys()
