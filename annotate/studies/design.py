"""What a new study asks, of what, and how its work is drawn and handed out: one object, declared once for all doors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from annotate.assignments.design import Design
from annotate.assignments.revisions import NON_CONSECUTIVE, PLACES
from annotate.frames.frame import Frame, settled
from annotate.task_types.answer_evaluation import CONFIDENCE
from annotate.task_types.key_point import DOCUMENTS
from annotate.task_types.nugget import REPORTS
from collection.languages.languages import ENGLISH
from collection.models import Collection, Study
from collection.questions.shapes import CriterionShape
from collection.texts.sentences import WITHOUT_TITLE

DEFAULT_DEPTH = 10
# What a study keeps as an attribute, if it was chosen.
AS_ATTRIBUTES = (WITHOUT_TITLE, CONFIDENCE)


@dataclass(frozen=True, kw_only=True)
class StudyDesign:
    """A study before it is made. Whatever bears the name of a column of `Study` is stored there as it is.

    `criteria` holds what the researcher worded differently, by the name of the criterion; without `guidelines` it gets
    ours for its task types, in its `language`, which the standard questions and grades are in too and which the pages
    speak to assessors who come by the study. `sample_sizes` says of a task type how many texts are drawn for people;
    without a size all are asked. `depth` is how far down each ranking passages come into the pool.

    `nuggets_in`: whether nuggets are looked for in "reports" or "passages". `key_points_in`: whether key points are
    verified in their "documents" or looked for in "answers", where nobody is asked for their utility but, with
    `why_missed`, for how a report misses those that it does not say. `pooled_from`: whether relevance is asked of what
    runs rank or of what reports cite. `citations_asked`, `drawn_by`: which citations of a sentence are asked about, and
    whether a sample is drawn of reports, of their sentences or of citations. `revise`: which answers of round 1 have a
    second round ("non_consecutive" or "all"), `revision_places` how many people then read each. `without_title`:
    whether answers are made of sentences alone. `confidence`: whether those who evaluate answers say of each question
    how confident they are. `terms` are highlighted in the texts, one a line; browsers may translate these if
    `translatable`. `frame` is which runs, topics and passages it asks about, `work` how they are drawn and handed out.
    """

    collection: Collection
    name: str
    task_types: Sequence[str]
    title: str = ""
    criteria: Mapping[str, CriterionShape] = field(default_factory=dict)
    guidelines: str = ""
    language: str = ENGLISH
    overlap: int = 3
    sample_sizes: Mapping[str, int] = field(default_factory=dict)
    depth: int = DEFAULT_DEPTH
    terms: str = ""
    translatable: bool = False
    nuggets_in: str = REPORTS
    key_points_in: str = DOCUMENTS
    why_missed: bool = False
    without_title: bool = False
    confidence: bool = False
    pooled_from: str = Study.PooledFrom.RANKINGS
    citations_asked: str = Study.CitationsAsked.ALL
    drawn_by: str = Study.DrawnBy.REPORT
    revise: str = NON_CONSECUTIVE
    revision_places: int = PLACES
    frame: Frame = Frame()  # noqa: RUF009 - it is frozen
    work: Design = Design()  # noqa: RUF009 - it is frozen

    def columns(self) -> dict[str, Any]:
        """Return what the study's row holds of it."""
        of_study = {column.name for column in Study._meta.concrete_fields}
        stored = {one.name: getattr(self, one.name) for one in fields(self) if one.name in of_study}
        wishes = {name: True for name in AS_ATTRIBUTES if getattr(self, name)}
        return stored | {"frame": settled(self.frame).as_dict(), "attributes": wishes} | self.work.as_dict()
