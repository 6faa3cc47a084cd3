"""The pipelines that are shipped, by name."""

from collections.abc import Mapping

from judging.building.pipelines import Pipeline
from judging.building.shipped.crux import CRUX_PASSAGES, CRUX_QUESTIONS, CRUX_REQUESTS
from judging.building.shipped.long2rag import LONG2RAG_KEY_POINTS, LONG2RAG_OWN_POINTS
from judging.building.shipped.long2rag_evolution import LONG2RAG_EVOLVE
from judging.building.shipped.long2rag_questions import LONG2RAG_CATEGORIES, LONG2RAG_FILTER, LONG2RAG_PARTS
from judging.building.shipped.nuggets import NUGGETS
from judging.building.shipped.reports import REPORTS
from judging.building.shipped.rifer import EIFRP, RIFER
from judging.building.shipped.rubric import RUBRIC_QUESTIONS

PIPELINES: Mapping[str, Pipeline] = {
    one.name: one
    for one in (
        CRUX_REQUESTS,
        CRUX_QUESTIONS,
        CRUX_PASSAGES,
        RUBRIC_QUESTIONS,
        LONG2RAG_FILTER,
        LONG2RAG_EVOLVE,
        LONG2RAG_CATEGORIES,
        LONG2RAG_PARTS,
        LONG2RAG_KEY_POINTS,
        LONG2RAG_OWN_POINTS,
        NUGGETS,
        *REPORTS,
        RIFER,
        EIFRP,
    )
}
