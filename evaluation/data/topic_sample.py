"""How a study came to the topics that it asks about: all of its collection's, chosen ones, or a drawn sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from collection.models import Study, TopicDraw
from stats.plurals import counted

Design = TopicDraw.Design
DRAWN = (Design.SIMPLE, Design.STRATIFIED)


@dataclass(frozen=True)
class DrawnStratum:
    """A stratum (of no name where there is one): `n` topics were drawn of its `population`."""

    name: str
    n: int
    population: int


@dataclass(frozen=True)
class TopicSample:
    """The topics that a study asks about, where it does not ask about all.

    - `strata`: how many were drawn of how many at the first drawing; none where topics were chosen;
    - `stratum_of`: the stratum of each topic that was drawn then, by topic id;
    - `n_chosen`, `n_added`, `n_later`: chosen ones, those added to a draw, those that came later and met its lines.
    """

    strata: tuple[DrawnStratum, ...]
    stratum_of: Mapping[str, str]
    n_chosen: int
    n_added: int
    n_later: int

    @property
    def n_drawn(self) -> int:
        return len(self.stratum_of)

    @property
    def population(self) -> int:
        """How many topics the draw was made from."""
        return sum(one.population for one in self.strata)

    @property
    def is_unequal(self) -> bool:
        """Whether the strata were drawn in different shares, so that a mean over the drawn topics is another mean."""
        return len({one.n / one.population for one in self.strata}) > 1

    @property
    def why_not_weighted(self) -> str:
        """Why no mean over all topics can be computed of these."""
        if not self.strata:
            return "the topics were chosen, not drawn"
        if undrawn := [one for one in self.strata if not one.n]:
            return f"no topic was drawn with {undrawn[0].name}"
        return "topics were added after the draw" if self.n_added or self.n_later else ""

    def __str__(self) -> str:
        """Say of which topics figures are."""
        if not self.strata:
            return f"These figures are about the {counted(self.n_chosen, 'topics')} that were chosen for this study."
        parts = ", ".join(f"{one.n} of {one.population:,} {one.name}" for one in self.strata if one.name)
        said = f"These figures are about {self.n_drawn} topics drawn at random from {self.population:,}"
        said += f" ({parts})" if parts else ""
        more = [
            f"{self.n_added} more that were added" if self.n_added else "",
            f"{self.n_later} that came later" if self.n_later else "",
        ]
        said += "".join(f", and {one}" for one in more if one)
        unlike = ", so a mean over them is not a mean over all" if self.is_unequal else ""
        return f"{said}. Each topic counts once{unlike}."


def topic_sample_of(study: Study) -> TopicSample | None:
    """Return how the study's topics were chosen; None where it asks about all, or has not opened."""
    kept = study.samples.get(TopicDraw.KEPT_AS, {}).get("strata", {})
    if not kept and not study.frame:
        return None
    draws = list(TopicDraw.objects.filter(study=study).values_list("topic__topic_id", "design", "stratum"))
    if not draws:
        return None
    designs = Counter(design for _, design, _ in draws)
    return TopicSample(
        strata=tuple(DrawnStratum(name, one["drawn"], one["topics"]) for name, one in sorted(kept.items())),
        stratum_of={topic: stratum for topic, design, stratum in draws if design in DRAWN},
        n_chosen=designs[Design.CHOSEN],
        n_added=designs[Design.ADDED],
        n_later=designs[Design.BERNOULLI],
    )
