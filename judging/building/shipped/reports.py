"""Reports to compare systems with: from the request alone, a human summary, or passages (CRUX, CLAPNQ, LONG²RAG)."""

from __future__ import annotations

from collections.abc import Callable

from judging.building.cited_replies import cited_text
from judging.building.pipelines import Ask, Key, Needs, Options, Pipeline, Step, View
from judging.building.reply_parsing import Fault, Parsed
from stats.measures.words import TOKENIZERS

CITING = (
    "Put behind each sentence, in brackets, the numbers of the passages that say it, as in: Cats purr when they are "
    "calm. [2] [5]"
)
NO_MATERIAL = "(No texts are given. Write from what you know.)"
SEPARATOR = "\n\n" + "-" * 20 + "\n\n"
# Answers to a made-up passage: one that it allows, one that it does not.
PASSAGE = (
    "Lighthouse keepers: Keepers lit the lamp at dusk and wound the clockwork that turned the lens. By day they "
    "cleaned the glass and kept a log of the weather."
)
ANSWERABLE = (
    f"{PASSAGE}\n\nQuestion: what did lighthouse keepers do\n\nAnswer: They lit the lamp at dusk and wound the "
    "clockwork that turned the lens; by day they cleaned the glass and logged the weather."
)
UNANSWERABLE = f"{PASSAGE}\n\nQuestion: how tall is the oldest lighthouse\n\nAnswer: unanswerable"
NO_LIMIT = Options()
EXAMPLES = {"0": (), "1/0": (ANSWERABLE,), "1/1": (ANSWERABLE, UNANSWERABLE)}


def words_allowed(view: View) -> int:
    """Return how many words a report may have: as many as the oracle’s passages of its topic, where a run is named."""
    return view.topic.words or view.options.words


def _nothing(_: View) -> str:
    return NO_MATERIAL


def _summary(view: View) -> str:
    return view.topic.summary


def _numbered_passages(view: View) -> str:
    return "\n\n".join(
        f"[{number}] {f'{one.title}: ' if one.title else ''}{one.text}"
        for number, one in enumerate(view.topic.documents, start=1)
    )


def _titled_passages(view: View) -> str:
    """Return CLAPNQ’s full passages: title and text."""
    return "\n\n".join(f"{one.title}: {one.text}" if one.title else one.text for one in view.topic.documents)


def _separated_documents(view: View) -> str:
    return SEPARATOR.join(one.text for one in view.topic.documents)


def _pipeline(
    name: str,
    title: str,
    source: str,
    needs: tuple[Needs, ...],
    material: Callable[[View], str],
    *,
    defaults: Options = NO_LIMIT,
    prompt: str = "report",
    cites: bool = False,
    examples: bool = False,
) -> Pipeline:
    def ask(view: View) -> list[Ask]:
        values = {
            "request": view.topic.request,
            "material": material(view),
            "words": str(words_allowed(view)),
            "citing": CITING if cites else "",
            "examples": "".join(f"\nAn example.\n\n{one}\n" for one in EXAMPLES[view.options.examples]),
        }
        return [Ask({}, values)]

    def read(reply: str, _: Key, view: View) -> Parsed:
        offered = [one.docno for one in view.topic.documents] if cites else None
        options = view.options
        found = cited_text(
            reply,
            offered,
            most_words=words_allowed(view),
            tokenizer=TOKENIZERS[options.tokenizer],
            most_citations=options.most_citations,
        )
        return Parsed(found.rows, (*_context_cut(view), *found.faults))

    placeholders = frozenset({"request", "material", "words", "citing", "examples"})
    step = Step("report", "Reports", needs, "report", prompt, placeholders, ask, read)
    asks = ["words", "words_of", "tokenizer"]
    asks += ["context_tokens"] if "documents" in needs else []
    asks += ["most_citations"] if cites else []
    asks += ["examples"] if examples else []
    return Pipeline(name, title, source, (step,), defaults, asks=tuple(asks))


def _context_cut(view: View) -> list[Fault]:
    """Say which passages the model did not read, and how many tokens the context has without them."""
    if not view.topic.over:
        return []
    tokenizer = TOKENIZERS[view.options.tokenizer]
    n_tokens = tokenizer.count(text for one in view.topic.documents for text in (one.title, one.text))
    over = ", ".join(one.docno for one in view.topic.over)
    return [Fault("context_cut", f"{n_tokens:,} tokens of at most {view.options.context_tokens:,} without {over}")]


REPORT_DIRECT = _pipeline(
    "report-direct",
    "Reports from the request alone",
    "CRUX, step 11: what the model knows without a text, the lower bound.",
    ("request",),
    _nothing,
)
REPORT_SUMMARY = _pipeline(
    "report-summary",
    "Reports from the human summary",
    "CRUX, step 11: the human summary in the place of passages.",
    ("request", "summary"),
    _summary,
)
REPORT_PASSAGES = _pipeline(
    "report-passages",
    "Reports from passages, with citations",
    "CRUX, step 11: from the passages of any run that ranks them; the oracle’s make the upper bound.",
    ("request", "documents"),
    _numbered_passages,
    defaults=Options(context_tokens=2500),
    cites=True,
)
LONG2RAG_ANSWERS = _pipeline(
    "long2rag-answers",
    "LONG²RAG: answers from documents",
    "LONG²RAG, step 15: the documents with separators between them, then the question and what to do; greedy.",
    ("request", "documents"),
    _separated_documents,
    prompt="long2rag-answer",
)
CLAPNQ_ANSWERS = _pipeline(
    "clapnq-answers",
    "CLAPNQ: answers from passages",
    "CLAPNQ, step 3: title, passages and question, with no example, one, or one of each kind; “unanswerable” where so.",
    ("request", "documents"),
    _titled_passages,
    prompt="clapnq-answer",
    examples=True,
)
REPORTS = (REPORT_DIRECT, REPORT_SUMMARY, REPORT_PASSAGES, LONG2RAG_ANSWERS, CLAPNQ_ANSWERS)
