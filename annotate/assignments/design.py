"""How a study's work is drawn and handed out: the researcher's choices, kept in the study's columns."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from collection.models import Study

Sampling = Literal["simple", "stratified", "weighted"]


@dataclass(frozen=True)
class Design:
    """The choices. Without any, all texts are asked, first come, first served.

    `control_share` of the tasks is seen by everyone. With `even`, nobody gets more than an equal share of
    the places, and every task gets its first assessor before any gets its second. `quota` is the most
    tasks that one assessor gets. Tasks are released in batches of `batch_size`, the next one when the one
    before is done. A task that its assessor left alone for `timeout_minutes` goes back. With `own_order`
    each assessor starts at a place of their own and goes round.
    """

    control_share: float = 0.0
    even: bool = False
    quota: int | None = None
    batch_size: int | None = None
    timeout_minutes: int | None = None
    own_order: bool = False
    sampling: Sampling = "simple"
    strata: Literal["topic", "system"] = "topic"
    weight: Literal["length", "rank"] = "length"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def sentences_on(design: Design) -> list[str]:
    """Say what the design does, for the study's page; nothing where nothing was chosen."""
    sampled = {
        "simple": "",
        "stratified": f"The sample is drawn from every {design.strata} in proportion.",
        "weighted": "Texts are drawn with a chance in proportion to their length."
        if design.weight == "length"
        else "Texts are drawn with a greater chance the higher they are ranked.",
    }
    said = [
        sampled[design.sampling],
        f"{design.control_share:.0%} of the tasks are seen by everyone." if design.control_share else "",
        "Nobody gets more than an equal share; every task gets its first assessor before any gets a second."
        if design.even
        else "",
        f"An assessor gets at most {design.quota} tasks." if design.quota else "",
        f"Tasks are released in batches of {design.batch_size}." if design.batch_size else "",
        f"A task without a saved change for {design.timeout_minutes} minutes goes to somebody else."
        if design.timeout_minutes
        else "",
        "Each assessor starts at a different task and goes round." if design.own_order else "",
    ]
    return [sentence for sentence in said if sentence]


def design_of(study: Study) -> Design:
    """Return the study's design: each choice is a column of the same name."""
    return Design(**{field.name: getattr(study, field.name) for field in fields(Design)})
