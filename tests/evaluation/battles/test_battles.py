"""Systems in order by battles: people and judges side by side, on the page, in the API and by the command."""

from __future__ import annotations

import csv
import json
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Arm, Criterion, Item, Judgment, PairOrder, Rater, Study, User
from evaluation.battles.battles import Battles, measure_battles
from tests.annotate.battles import a_collection_with_reports, a_study_of_battles
from tests.evaluation.judged import AT, criterion_of
from tests.factories import a_judge_rater, a_suggestion, a_user, rater_of

RUNS = ("alder-1", "birch-1", "cedar-1", "dogwood-1", "elm-1")
STRENGTH = dict(zip(RUNS, (1.2, 0.6, 0.0, -0.6, -1.2), strict=True))
PAGE = "/studies/study-of-1-0/battles/"
API = "/api/v1/studies/study-of-1-0/battles/"


@pytest.fixture
def study(rosa: User) -> Study:
    return a_study_of_battles(a_collection_with_reports(rosa, topics=12, runs=RUNS))


def vote(criterion: Criterion, rater: Rater, seed: int, *, noise: float = 1.0, orders: bool = False) -> None:
    """Let the rater compare every pair: alder is the best, and whoever stands on the left a little better."""
    rng = np.random.default_rng(seed)
    items = Item.objects.filter(study=criterion.study_id).select_related("report__run", "other_report__run")
    for item in items.order_by("pk"):
        assert item.report is not None
        assert item.other_report is not None
        ahead = STRENGTH[item.report.run.name] - STRENGTH[item.other_report.run.name] + noise * rng.normal()
        seen = []
        for swapped in (False, True) if orders else (bool(rng.random() < 0.5),):
            better = ahead + (-0.4 if swapped else 0.4)
            seen.append((swapped, float(np.sign(better)) if abs(better) > 0.3 else 0.0))
        grade = seen[0][1] if len({grade for _, grade in seen}) == 1 else 0.0
        judgment = Judgment.objects.create(item=item, criterion=criterion, rater=rater, grade=grade, judged_at=AT)
        for swapped, said in seen:
            PairOrder.objects.create(judgment=judgment, swapped=swapped, grade=said)


@pytest.fixture
def fought(study: Study) -> Study:
    """Two people vote on all 120 pairs, and a judge in both orders."""
    criterion = criterion_of(study, "better")
    for number in range(2):
        vote(criterion, rater_of(a_user(f"person{number}")), number)
    vote(criterion, a_judge_rater(study.collection, "small-judge"), 9, noise=2.0, orders=True)
    return study


def measured(study: Study, **asked: object) -> Battles:
    found = measure_battles(study, **asked)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_people_and_judges_put_systems_in_order(fought: Study) -> None:
    found = measured(fought)

    people, judge = found.boards
    assert [one.system for one in people.found.standings] == list(RUNS)
    assert (people.n_votes, people.found.n_topics, people.found.n_raters) == (240, 12, 2)
    assert (judge.n_votes, judge.found.n_topics, judge.found.n_raters) == (240, 12, 1)
    best = people.found.standings[0].win_rate
    assert best.value is not None
    assert best.low is not None
    assert best.low > 0.5
    assert people.found.left is not None
    assert people.found.left.value is not None
    assert people.found.left.value > 0.5
    assert found.likeness["small-judge"].value == pytest.approx(1, abs=0.41)
    assert found.n_asked == found.n_pairs == 120


def test_every_vote_counts_for_the_side_it_was_given_to(study: Study, ada: User) -> None:
    criterion = criterion_of(study, "better")
    item = study.items.select_related("report__run").order_by("pk")[0]
    judgment = Judgment.objects.create(item=item, criterion=criterion, rater=rater_of(ada), grade=1, judged_at=AT)
    PairOrder.objects.create(judgment=judgment, swapped=True, grade=1)

    votes = measured(study).boards[0].found.votes

    assert item.report is not None
    assert votes.systems[votes.right[0]] == item.report.run.name
    assert votes.outcome.tolist() == [0]  # the right, which is the item's first report
    assert votes.sided.tolist() == [True]


def test_a_judge_counts_once_in_each_order_and_its_changes_are_told(fought: Study) -> None:
    judge = measured(fought).boards[1]

    by_judgment: dict[int, set[float | None]] = {}
    for judgment, grade in PairOrder.objects.filter(judgment__rater__kind="judge").values_list("judgment", "grade"):
        by_judgment.setdefault(judgment, set()).add(grade)
    changing = sum(len(grades) > 1 for grades in by_judgment.values())
    assert changing > 0
    assert judge.changed == pytest.approx(changing / 120)
    assert judge.found.left is not None
    assert judge.found.left.value is not None
    assert judge.found.left.value > 0.5


def test_a_judgment_without_an_order_has_no_side(study: Study) -> None:
    criterion, judge = criterion_of(study, "better"), a_judge_rater(study.collection, "imported")
    for item in study.items.all():
        Judgment.objects.create(item=item, criterion=criterion, rater=judge, grade=1, judged_at=AT)

    board = measured(study).boards[0]

    assert not board.found.votes.sided.any()
    assert board.found.left is None


def test_excluded_and_ungraded_votes_do_not_count(fought: Study, rosa: User) -> None:
    person = Rater.objects.get(user__username="person0")
    fought.exclusions.create(rater=person, reason="asleep", excluded_by=rosa, excluded_at=AT)
    other = Judgment.objects.filter(rater__user__username="person1").order_by("pk")[0]
    Judgment.objects.filter(pk=other.pk).update(grade=None, ungraded=Judgment.Ungraded.UNREADABLE)

    people = measured(fought).boards[0]

    assert people.found.n_raters == 1
    assert (people.n_votes, people.found.n_ungraded) == (119, 1)


@pytest.mark.parametrize(
    ("arm", "own", "counts_as"),
    [(Arm.NONE, None, 0.0), (Arm.AFTER, -1.0, 1.0), (Arm.VERIFY, None, None), (Arm.POST_EDIT, None, None)],
)
def test_a_vote_counts_as_it_was_before_a_judge_was_seen(
    study: Study, ada: User, ben: User, arm: Arm, own: float | None, counts_as: float | None
) -> None:
    criterion, judge = criterion_of(study, "better"), a_judge_rater(study.collection)
    first, second = study.items.order_by("pk")[:2]
    vote = Judgment.objects.create(item=first, criterion=criterion, rater=rater_of(ada), grade=1, judged_at=AT)
    PairOrder.objects.create(judgment=vote, swapped=True, grade=1)
    Judgment.objects.create(item=second, criterion=criterion, rater=rater_of(ben), grade=0, judged_at=AT)
    a_suggestion(vote, arm, judge, own=own, shown=arm != Arm.NONE)

    found = measured(study)

    votes = found.boards[0].found.votes
    assert votes.outcome.tolist() == ([0.5] if counts_as is None else [counts_as, 0.5])
    assert found.n_asked == len(votes.outcome)
    assert [rater.user for rater in found.boards[0].voters.raters] == ([ben] if counts_as is None else [ada, ben])


def test_the_page_says_that_votes_given_with_help_are_left_out(client: Client, fought: Study, rosa: User) -> None:
    client.force_login(rosa)
    assert "are left out here" not in client.get(PAGE).text
    a_suggestion(Judgment.objects.filter(rater__kind="assessor")[0], Arm.VERIFY, a_judge_rater(fought.collection))

    page = client.get(PAGE)

    assert "are left out here" in page.text


def test_a_system_that_never_loses_has_a_reason_and_with_a_penalty_a_number(study: Study, ada: User) -> None:
    criterion = criterion_of(study, "better")
    for item in study.items.select_related("report__run", "other_report__run"):
        assert item.report is not None
        assert item.other_report is not None
        grade = 1 if item.report.run.name < item.other_report.run.name else -1
        Judgment.objects.create(item=item, criterion=criterion, rater=rater_of(ada), grade=grade, judged_at=AT)

    plain, pulled = measured(study), measured(study, penalty=0.5)

    assert "“alder-1” never lost" in plain.answer
    assert plain.boards[0].found.standings[0].wins == 48
    assert pulled.boards[0].found.standings[0].win_rate.value is not None
    assert "penalty" in pulled.answer


def test_page_api_and_command_say_the_same(client: Client, fought: Study, rosa: User) -> None:
    client.force_login(rosa)
    as_json, printed = StringIO(), StringIO()

    page = client.get(PAGE).content.decode()
    answer = client.get(API).json()
    call_command("battles", "--study", fought.name, "--json", stdout=as_json)
    call_command("battles", "--study", fought.name, stdout=printed)

    assert answer == json.loads(as_json.getvalue()) == json.loads(json.dumps(measured(fought).as_dict()))
    assert answer["answer"] in page.replace("&quot;", '"')
    assert answer["answer"] in printed.getvalue()
    assert answer["boards"][0]["systems"][0]["system"] == "alder-1"
    assert "the winner changes with the order" in page


@pytest.mark.slow
def test_downloads(client: Client, fought: Study, rosa: User) -> None:
    client.force_login(rosa)

    systems = list(csv.DictReader(StringIO(client.get(f"{PAGE}systems.csv").content.decode())))
    against = list(csv.DictReader(StringIO(client.get(f"{PAGE}against.csv").content.decode())))
    tex = client.get(f"{PAGE}systems.tex").content.decode()
    chart = client.get(f"{PAGE}against.svg", {"voters": "people"})

    assert [row["system"] for row in systems if row["voters"] == "people"] == list(RUNS)
    one = next(row for row in against if (row["system"], row["other"]) == ("alder-1", "elm-1"))
    assert int(one["wins"]) + int(one["ties"]) + int(one["losses"]) == 24
    assert "alder-1" in tex
    assert chart["Content-Type"] == "image/svg+xml"
    assert client.get(f"{PAGE}against.svg", {"voters": "nobody"}).status_code == 404
    assert client.get(f"{PAGE}battles.json").json()["study"] == fought.name


def test_without_votes_it_says_what_to_do(client: Client, study: Study, rosa: User) -> None:
    client.force_login(rosa)

    assert "No votes yet" in client.get(PAGE).content.decode()
    assert client.get(API).status_code == 400
    assert client.get(f"{PAGE}systems.csv").status_code == 404
    with pytest.raises(CommandError, match="nobody has voted yet"):
        call_command("battles", "--study", study.name)


@pytest.mark.parametrize("penalty", ["-1", "x", "100"])
def test_a_wrong_penalty_is_refused(client: Client, fought: Study, rosa: User, penalty: str) -> None:
    client.force_login(rosa)

    assert client.get(PAGE, {"penalty": penalty}).status_code == 422
    assert client.get(API, {"penalty": penalty}).status_code == 400
