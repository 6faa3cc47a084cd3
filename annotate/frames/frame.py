"""The frame of a study: which runs, topics and passages it asks about, and how its work is shared.

Declared once; a study keeps it in its column `frame`. What is outside the frame has no items in the study, so nobody,
person or judge, is asked about it there.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal

from collection.models import Study

Runs = Literal["all", "only", "except"]
Topics = Literal["all", "chosen", "drawn"]
Passages = Literal["pool", "run", "context", "relevant", "required"]
ShareBy = Literal["text", "topic"]

RUNS: dict[Runs, str] = {"all": "all runs", "only": "only these runs", "except": "all runs but these"}
TOPICS: dict[Topics, str] = {"all": "all topics", "chosen": "only these topics", "drawn": "topics drawn at random"}
PASSAGES: dict[Passages, str] = {
    "pool": "the pool: the first passages of each run above, down to the ranking depth",
    "run": "one run’s, down to the ranking depth",
    "context": "one run’s whole context, such as the oracle’s",
    "relevant": "those that grades call relevant, of people or of one rater",
    "required": "the required subset: the fewest passages that answer all that grades say can be answered",
}
SHARES: dict[ShareBy, str] = {
    "text": "by text: each report, passage or question goes to whoever asks next",
    "topic": "by topic: an assessor gets all tasks of a topic, one after the other",
}
OF_ONE_RUN = ("run", "context")
BY_GRADES = ("relevant", "required")
# How the values of a topic's attribute are named: as JSON has them, and this where a topic does not have it.
NO_VALUE = "none"
SPLIT = "split of "


@dataclass(frozen=True)
class Frame:
    """The choices. Without any, a study asks about everything in its collection.

    - `runs`, `run_names`: all runs, only these, or all but these; reports, rankings and answers of others are left out;
    - `topics`, `topic_ids`: all topics, only these, or some drawn at random; of a draw, `topic_ids` are added for
      certain. `only_complete` leaves out topics on which one of the runs has no report;
    - `n_topics`, `strata`, `numbers`, `in_percent`: how many are drawn; by a topic's attribute in proportion, or in
      given numbers by value, or in percent of `n_topics`. `spread` divides each number equally over the values of
      another attribute, or over the parts of another study's split ("split of NAME"). `seed` fixes the draw;
    - `passages`: which are asked about, where task types ask about passages of a ranking: see PASSAGES. `passages_of`
      is the run; `grades_of` ("STUDY/CRITERION"), `grades_by` (a rater, else people by majority) and `least_grade`
      (else the criterion's threshold) are the grades;
    - `share_by`: whether an assessor gets all tasks of a topic.
    """

    runs: Runs = "all"
    run_names: tuple[str, ...] = ()
    topics: Topics = "all"
    topic_ids: tuple[str, ...] = ()
    only_complete: bool = False
    n_topics: int | None = None
    strata: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)
    in_percent: bool = False
    spread: str = ""
    seed: str = ""
    passages: Passages = "pool"
    passages_of: str = ""
    grades_of: str = ""
    grades_by: str = ""
    least_grade: float | None = None
    share_by: ShareBy = "text"

    def as_dict(self) -> dict[str, Any]:
        """Return what differs from the frame without choices, as JSON has it."""
        blank, stored = asdict(Frame()), asdict(self)
        lists = {"run_names", "topic_ids"}
        return {name: list(value) if name in lists else value for name, value in stored.items() if value != blank[name]}

    def takes(self, run: str) -> bool:
        """Whether the run of this name is in the frame."""
        return self.runs == "all" or (run in self.run_names) == (self.runs == "only")


def frame_of(study: Study) -> Frame:
    """Return the study's frame."""
    known = {one.name for one in fields(Frame)}
    stored = {name: value for name, value in study.frame.items() if name in known}
    return Frame(**stored | {name: tuple(stored.get(name, ())) for name in ("run_names", "topic_ids")})


def settled(frame: Frame) -> Frame:
    """Return the frame with a seed where something is drawn, so that what is previewed is what will be asked."""
    drawn = frame.topics == "drawn"
    return replace(frame, seed=frame.seed or secrets.token_hex(8)) if drawn else replace(frame, seed="")


def value_name(value: object) -> str:
    """Name a value of an attribute: true, false, numbers and strings as JSON has them, `none` without one."""
    if value is None or value == "":
        return NO_VALUE
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


# --- In words --------------------------------------------------------------------------------------


def frame_sentences(frame: Frame) -> list[str]:
    """Say what the frame is, for the study's page; nothing where nothing was chosen."""
    names = ", ".join(frame.run_names)
    runs = {"all": "", "only": f"Runs: {names}.", "except": f"Runs: all but {names}."}
    by_value = ", ".join(f"{n:g}{' %' if frame.in_percent else ''} {value}" for value, n in frame.numbers.items())
    of_strata = f" by {frame.strata}" + (f" ({by_value})" if by_value else ", in proportion") if frame.strata else ""
    spread = f", equally over {frame.spread}" if frame.spread else ""
    n_topics = frame.n_topics if frame.n_topics is not None else int(sum(frame.numbers.values()))
    topics = {
        "all": "",
        "chosen": f"Topics: {len(frame.topic_ids)} chosen.",
        "drawn": f"Topics: {n_topics} drawn at random{of_strata}{spread}; seed {frame.seed}."
        + (f" {len(frame.topic_ids)} more are asked for certain." if frame.topic_ids else ""),
    }
    grades = f"{frame.grades_of}, by {frame.grades_by or 'people, by majority'}"
    least = f" of at least {frame.least_grade:g}" if frame.least_grade is not None else " that reaches the threshold"
    passages = {
        "pool": "",
        "run": f"Passages: those of {frame.passages_of}, down to the ranking depth.",
        "context": f"Passages: the whole context of {frame.passages_of}.",
        "relevant": f"Passages: those with a grade{least} ({grades}).",
        "required": f"Passages: the required subset by a grade{least} ({grades}).",
    }
    complete = "Topics on which one of the runs has no report are left out." if frame.only_complete else ""
    share = "An assessor gets all tasks of a topic." if frame.share_by == "topic" else ""
    said = [runs[frame.runs], topics[frame.topics], complete, passages[frame.passages], share]
    return [sentence for sentence in said if sentence]
