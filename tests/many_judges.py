"""Files of a campaign with many LLM judges, made up: `python -m tests.many_judges FOLDER [--texts] [--judges 33]`.

What a researcher has who compares LLM judges on one pool: people's qrels of 4,000 pairs (25 topics × 160 passages,
grades 0 to 3), the qrels of 33 judges, eight runs, and a file of topics. Every judge is one of eleven models under one
of three prompts. Nothing here was said by a person or a model: a passage has a true relevance, of which people and
judges see more or less, and judges of one model share a part of their errors.

The same seed gives the same files, byte for byte, and the first judges are the same however many are asked for.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collection.models import Collection, Study

GRADES = 4
# Where the true relevance becomes a grade: about half of a pool is not relevant, a tenth is perfectly so.
CUTS = (0.1, 0.8, 1.5)
RANKED = 100
PEOPLE_ERR = 0.25
# Each run's system, and how much of the relevance it sees. A system is of the family that its name begins with.
SYSTEMS = {
    "opal-dense": 1.6,
    "larch-rerank": 1.5,
    "opal-sparse": 1.1,
    "kestrel-dense": 1.05,
    "fusion": 1.0,
    "larch-sparse": 0.7,
    "words-expanded": 0.45,
    "words": 0.35,
}
WORDS = [
    "stone",
    "river",
    "bridge",
    "timber",
    "arch",
    "engineer",
    "water",
    "road",
    "repair",
    "flood",
    "winter",
    "mason",
]


@dataclass(frozen=True)
class Model:
    """How a model errs: its noise, how much it adds to everything, and what else it is known for.

    `fond_of`: the system whose first passages it grades too well, of its own family; `refuses`: the share of pairs that
    it leaves out; `coarse`: it says 0 or 3 alone.
    """

    name: str
    noise: float
    bias: float = 0.0
    fond_of: str = ""
    refuses: float = 0.0
    coarse: bool = False


MODELS = (
    Model("opal-70b", 0.2),
    Model("larch-large", 0.3, fond_of="larch-rerank"),
    Model("kestrel-9b", 0.5, bias=0.4),
    Model("opal-8b", 0.6, bias=0.7, fond_of="opal-dense"),
    Model("larch-small", 0.9, bias=0.2),
    Model("cedar-32b", 0.35, bias=-0.5),
    Model("cedar-7b", 0.8, refuses=0.12),
    Model("finch-3b", 1.2, bias=0.9),
    Model("finch-1b", 2.5),
    Model("marten-13b", 0.7, coarse=True),
    Model("quartz-24b", 0.45, bias=0.1),
)
# What a prompt adds to its model's noise and to everything that it grades.
PROMPTS = {"plain": (0.0, 0.0), "criteria": (-0.05, -0.1), "terse": (0.25, 0.3)}
JUDGES = tuple(f"{model.name}-{prompt}" for prompt in PROMPTS for model in MODELS)


@dataclass(frozen=True)
class Campaign:
    """Grades are topics × passages, whole numbers; -1 is a pair that a judge left out. Scores of runs likewise."""

    topics: list[str]
    passages: list[list[str]]
    people: np.ndarray
    judges: dict[str, np.ndarray]
    runs: dict[str, np.ndarray]


def a_campaign(*, n_topics: int = 25, n_passages: int = 160, n_judges: int = 33, seed: int = 1) -> Campaign:
    """Make up the true relevance, and from it what people, judges and systems see. At most 33 judges."""
    shape = (n_topics, n_passages)
    chance = np.random.default_rng([seed, 0])
    # Topics differ in how much there is to be found; an error shared by all is what no prompt gets right.
    truth = chance.normal(size=shape) + chance.normal(0, 0.4, (n_topics, 1))
    shared = chance.normal(0, 0.25, shape)
    people = _graded(truth + chance.normal(0, PEOPLE_ERR, shape))
    runs = {
        name: skill * truth + chance.normal(size=shape) + chance.normal(0, 0.2, (n_topics, 1)) * truth
        for name, skill in SYSTEMS.items()
    }
    seen = truth + shared
    judges = {name: _judged(name, seen, runs, seed) for name in JUDGES[:n_judges]}
    topics = [f"q{number:02}" for number in range(1, n_topics + 1)]
    passages = [[f"{topic}-p{place:03}" for place in range(1, n_passages + 1)] for topic in topics]
    return Campaign(topics, passages, people, judges, runs)


def _judged(name: str, seen: np.ndarray, runs: dict[str, np.ndarray], seed: int) -> np.ndarray:
    place = JUDGES.index(name)
    which, model = place % len(MODELS), MODELS[place % len(MODELS)]
    more_noise, more_bias = list(PROMPTS.values())[place // len(MODELS)]
    of_model = np.random.default_rng([seed, 1, which])
    of_judge = np.random.default_rng([seed, 2, place])
    noise = max(model.noise + more_noise, 0.1) / np.sqrt(2)
    value = seen + model.bias + more_bias
    value = value + of_model.normal(0, noise, seen.shape) + of_judge.normal(0, noise, seen.shape)
    if model.fond_of:
        scores = runs[model.fond_of]
        value = value + 0.8 * (scores >= np.sort(scores, axis=1)[:, -10:][:, :1])
    grades = np.where(value >= CUTS[1], GRADES - 1, 0) if model.coarse else _graded(value)
    return np.where(of_judge.random(seen.shape) < model.refuses, -1, grades)


def _graded(relevance: np.ndarray) -> np.ndarray:
    return np.searchsorted(CUTS, relevance, side="right")


def write_campaign(folder: Path, *, texts: bool = False, **made: Any) -> dict[str, Path]:
    """Write `topics.tsv`, `people.qrels`, `judges/NAME.qrels`, `runs/NAME.run`; with texts `passages.jsonl` too.

    Return the files by their names in the folder. `made`: see a_campaign.
    """
    campaign = a_campaign(**made)
    files: dict[str, Iterable[str]] = {
        "topics.tsv": (f"{topic}\t{_request(place)}" for place, topic in enumerate(campaign.topics))
    }
    files["people.qrels"] = _qrels(campaign, campaign.people)
    files |= {f"judges/{name}.qrels": _qrels(campaign, grades) for name, grades in campaign.judges.items()}
    files |= {f"runs/{name}.run": _run(campaign, name) for name in campaign.runs}
    if texts:
        files["passages.jsonl"] = _texts(campaign)
    for name, lines in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines))
    return {name: folder / name for name in files}


def import_campaign(collection: Collection, folder: Path, **made: Any) -> Study:
    """Write the files and import them as the page and the command do; return the study that holds their judgments.

    Without texts, passages are known by their ids alone. `made`: see write_campaign.
    """
    from django.utils.timezone import now

    from collection.importing.files import FilesOptions, import_files
    from collection.importing.raters import raters_of

    written = write_campaign(folder, **made).values()
    judges = [(path.name, path.stem) for path in written if path.parent.name == "judges"]
    options = FilesOptions(raters=raters_of([], judges), without_texts=True)
    import_files(files=[(path.name, path) for path in written], collection=collection, options=options, at=now())
    return collection.studies.get(name=f"{collection.name}-qrels")


def _qrels(campaign: Campaign, grades: np.ndarray) -> Iterator[str]:
    for topic, passages, row in zip(campaign.topics, campaign.passages, grades.tolist(), strict=True):
        yield from (f"{topic} 0 {docno} {grade}" for docno, grade in zip(passages, row, strict=True) if grade >= 0)


def _run(campaign: Campaign, name: str) -> Iterator[str]:
    for topic, passages, scores in zip(campaign.topics, campaign.passages, campaign.runs[name], strict=True):
        for rank, place in enumerate(np.argsort(-scores, kind="stable")[:RANKED].tolist(), start=1):
            yield f"{topic} Q0 {passages[place]} {rank} {scores[place]:.4f} {name}"


def _request(place: int) -> str:
    return f"What is known about the {WORDS[place % len(WORDS)]} and the {WORDS[(place * 5 + 3) % len(WORDS)]}?"


def _texts(campaign: Campaign) -> Iterator[str]:
    """Yield a passage of 30 words each; the more relevant, the more of them are of its topic's own words."""
    chance = np.random.default_rng(0)
    for place, (passages, grades) in enumerate(zip(campaign.passages, campaign.people.tolist(), strict=True)):
        own = [WORDS[place % len(WORDS)], WORDS[(place * 5 + 3) % len(WORDS)]]
        for docno, grade in zip(passages, grades, strict=True):
            words = [*chance.choice(own, 2 * grade), *chance.choice(WORDS, 30 - 2 * grade)]
            chance.shuffle(words)
            yield json.dumps({"id": docno, "contents": f"{' '.join(words).capitalize()}."})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--topics", type=int, default=25)
    parser.add_argument("--passages", type=int, default=160)
    parser.add_argument("--judges", type=int, default=33, choices=range(len(JUDGES) + 1), metavar="0–33")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--texts", action="store_true", help="also write passages.jsonl")
    asked = parser.parse_args()
    sizes = {"n_topics": asked.topics, "n_passages": asked.passages, "n_judges": asked.judges}
    write_campaign(asked.folder, texts=asked.texts, seed=asked.seed, **sizes)


if __name__ == "__main__":
    main()
