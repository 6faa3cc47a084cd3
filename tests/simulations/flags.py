"""Studies of honest people, and of some who click through, with the flags that are raised of them.

Twenty people read as people read, each with a pace, a share of the text that they read and a care of their own. Each
task is a text with three questions, which three people answer. In every second study one of them spends two seconds on
a text and answers at random.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from annotate.quality import flags
from annotate.quality.evidence import Evidence, Work
from annotate.quality.flags import Flag
from annotate.quality.gold import GoldScore
from collection.models import Criterion, Scale

Rng = np.random.Generator

SEED = 2027
PEOPLE = 20
READERS = 3
QUESTIONS = 3
TASKS = (2, 4, 10, 20, 50, 100, 200)
KINDS = ("fast", "reading", "line", "disagrees", "gold", "session", "inactive")
PASS_MARK = 0.7
# Of 100 honest people, so many may have a flag of one kind.
MOST = 1.0
CLICKS = 2.0  # seconds a text


def studied(n_tasks: int, rng: Rng, *, clicks: bool) -> tuple[Evidence, Mapping[int, list[Flag]]]:
    """Draw a study; return its evidence, and the flags of its sessions by person. Person 0 `clicks` through."""
    n_texts = max(READERS, round(PEOPLE * n_tasks / READERS))
    pace = 240 * np.exp(rng.normal(0, 0.3, PEOPLE))  # words a minute
    share = rng.uniform(0.6, 1.0, PEOPLE)  # of a text that is read
    care = rng.beta(20, 3, PEOPLE)
    words = np.exp(rng.normal(np.log(250), 0.4, n_texts))
    yes = rng.beta(2, 3, n_texts)  # texts of which much is true, and of which little
    truth = rng.random((n_texts, QUESTIONS)) < yes[:, None]
    work = {person: Work() for person in range(PEOPLE)}
    ratings: defaultdict[tuple[int, int], dict[int, float]] = defaultdict(dict)
    active = np.zeros(PEOPLE)
    right, known = Counter[int](), Counter[int]()
    for person, text in handed_out(n_tasks, n_texts, rng):
        is_careless = clicks and person == 0
        reading = words[text] * share[person] / pace[person] * 60 * np.exp(rng.normal(0, 0.35))
        seconds = CLICKS if is_careless else reading + QUESTIONS * 4 * np.exp(rng.normal(0, 0.4))
        active[person] += seconds
        work[person].submitted += 1
        work[person].readings.append((round(words[text] * flags.CHARACTERS_A_WORD), seconds))
        parts = rng.dirichlet(np.full(QUESTIONS, 2.0)) * seconds
        for question in range(QUESTIONS):
            says = bool(truth[text, question]) ^ bool(rng.random() > care[person])
            grade = float(rng.random() < 0.5 if is_careless else says)
            work[person].grades[1].append(grade)
            work[person].item_seconds["answerability"].append(parts[question])
            ratings[text, question][person] = grade
            if text % 10 == 0:
                known[person] += 1
                right[person] += grade == truth[text, question]
    for person, n in known.items():
        work[person].gold = GoldScore(right[person], n)
    elapsed = active * rng.uniform(1.05, 1.6, PEOPLE) + rng.uniform(30, 180, PEOPLE)
    if clicks:
        elapsed[0] = active[0] * 1.2 + 5
    announced = float(np.median(elapsed)) * np.exp(rng.normal(0.1, 0.3))
    of_sessions = {
        person: [
            flag
            for flag in (
                flags.short_session(elapsed[person], announced=announced, others=list(np.delete(elapsed, person))),
                flags.no_active_time(work[person].submitted, active[person]),
            )
            if flag
        ]
        for person in range(PEOPLE)
    }
    criterion = Criterion(pk=1, name="answerability", scale=Scale(points=[{"value": 0}, {"value": 1}]))
    return Evidence(
        criteria={1: criterion},
        work=work,
        pairs=flags.pairwise_agreement(ratings.values()),
        readers=dict.fromkeys(work, READERS - 1.0),
        excluded=frozenset(),
        pass_mark=PASS_MARK,
        failures_that_count=2,
    ), of_sessions


def handed_out(n_tasks: int, n_texts: int, rng: Rng) -> Iterator[tuple[int, int]]:
    """Give each text to READERS people and each person about `n_tasks` texts."""
    seats = np.repeat(rng.permutation(n_texts), READERS)[: PEOPLE * n_tasks]
    for seat, text in enumerate(seats):
        yield (seat + seat // PEOPLE) % PEOPLE, int(text)


def flagged(n_tasks: int, studies: int, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """Return how many of 100 honest people, and of 100 who click through, have each flag, or any."""
    honest, careless = Counter[str](), Counter[str]()
    n_honest = n_careless = 0
    for number in range(studies):
        rng = np.random.default_rng([seed, n_tasks, number])
        clicks = number % 2 == 1
        evidence, of_sessions = studied(n_tasks, rng, clicks=clicks)
        for person in range(PEOPLE):
            kinds = {flag.kind for flag in (*evidence.flags_of(person), *of_sessions[person])}
            is_careless = clicks and person == 0
            counts = careless if is_careless else honest
            n_careless, n_honest = n_careless + is_careless, n_honest + (not is_careless)
            counts.update(kinds)
            counts["any"] += bool(kinds)
    names = (*KINDS, "any")
    return (
        {name: 100 * honest[name] / n_honest for name in names},
        {name: 100 * careless[name] / max(n_careless, 1) for name in names},
    )


def table(rates: Mapping[int, Mapping[str, float]]) -> Iterator[str]:
    yield f"| tasks a person | {' | '.join((*KINDS, 'any'))} |"
    yield "| ---: |" + " ---: |" * (len(KINDS) + 1)
    for n_tasks, of in rates.items():
        yield f"| {n_tasks} | {' | '.join(f'{of[name]:.2f}' for name in (*KINDS, 'any'))} |"
