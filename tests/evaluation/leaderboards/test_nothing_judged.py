"""Every measure where nothing is judged: page, files, API and command say so, and none of them fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import StringIO
from urllib.parse import quote

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from collection.models import Judgment, Study, User
from collection.web.fingerprints import fingerprint_of
from stats.measures.crux import ideal_ranking
from stats.ranking.measures.nuggets import Nuggets
from stats.ranking.measures.ratings import Ratings
from stats.ranking.measures.texts import Texts
from stats.ranking.measures.unanswerable import Unanswerable
from tests.attacks.mutations import FULL
from tests.evaluation.judged import judge_items, report_items
from tests.evaluation.ranked import three_systems
from tests.factories import rater_of

MEASURES = [
    *("coverage", "Cover@20>=3", "coverage@10", "alpha-nDCG", "alpha-nDCG@10", "nDCG@20", "P(rel=η)@20", "AP(rel=η)"),
    *("P@5", "RR", "Judged@10", "KPR@10", "density", "coverage@oracle", "alpha-nDCG@oracle", "density@oracle"),
    *("KPR", "KPP", "KPF", "F+A", "win-rate", "win-rate(ties=half)", "StRecall@5", "ERR-IA@5", "NRBP"),
    *Nuggets.meanings, *Ratings.meanings, *Unanswerable.meanings, *Texts.meanings,
]  # fmt: skip


def no_judgment(study: Study, ada: User) -> None:
    """Systems with reports and rankings, and not one judgment."""
    three_systems(study, [rater_of(ada)])
    Judgment.objects.all().delete()


def no_items(study: Study, ada: User) -> None:
    """A draft as it is made."""


def only_reports(study: Study, ada: User) -> None:
    """Reports are judged, and no passage."""
    items = report_items(study)
    judge_items(study.criteria.get(name="answerability"), rater_of(ada), items, [1] * len(items))


def only_ungraded(study: Study, ada: User) -> None:
    """Every judgment is one without a grade."""
    three_systems(study, [rater_of(ada)])
    Judgment.objects.update(grade=None, ungraded=Judgment.Ungraded.UNREADABLE)


def only_noes(study: Study, ada: User) -> None:
    """Everything is judged, and nothing is positive."""
    three_systems(study, [rater_of(ada)])
    Judgment.objects.filter(grade__isnull=False).update(grade=0)


STATES: list[Callable[[Study, User], None]] = [no_judgment, no_items, only_reports, only_ungraded, only_noes]


def doors(study: Study, measure: str) -> list[str]:
    """The addresses that score systems under a measure."""
    pages, query = f"/studies/{study.name}", f"?measure={quote(measure)}"
    return [
        f"{pages}/leaderboard/{query}",
        f"{pages}/leaderboard/leaderboard.json{query}",
        f"{pages}/leaderboard/scores.csv{query}",
        f"{pages}/leaderboard/systems.vl.json{query}",
        f"{pages}/leaderboard/correlations/{query}",
        f"/api/v1{pages}/leaderboard/{query}",
    ]


def said_by_the_command(study: Study, measure: str) -> str:
    """What the command complains of, as it should: in words."""
    try:
        call_command("leaderboard", study=study.name, measure=measure, verbosity=0, stdout=StringIO())
    except CommandError as refusal:
        return str(refusal)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("state", STATES, ids=lambda state: state.__name__)
def test_no_measure_fails_at_any_door(
    client: Client,
    study: Study,
    rosa: User,
    ada: User,
    state: Callable[[Study, User], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state(study, ada)
    # Nothing changes from here on, so what figures rest on is read once, not five hundred times.
    monkeypatch.setattr("collection.web.cached_results.fingerprint_of", cache(fingerprint_of))
    client.force_login(rosa)
    client.raise_request_exception = False
    measures = list(dict.fromkeys(MEASURES))
    turn = STATES.index(state)

    paths = [doors(study, measure) for measure in measures]
    # Another door of every second measure in each state; every door and the command in all of them by night.
    asked = [path for n, of_one in enumerate(paths) for path in (of_one if FULL else _one_in_two(of_one, n + turn))]
    answers = {path: client.get(path).status_code for path in [*asked, *doors(study, "alpha-nDCG")]}
    for measure in measures if FULL else ["alpha-nDCG", *measures[turn :: len(STATES)]]:
        said_by_the_command(study, measure)

    assert {path: status for path, status in answers.items() if status >= 500} == {}


def _one_in_two(paths: list[str], turn: int) -> list[str]:
    return [paths[turn // 2 % len(paths)]] if turn % 2 else []


def test_no_passage_is_ideal_where_none_has_a_grade() -> None:
    assert ideal_ranking({}, cutoff=10) == []
