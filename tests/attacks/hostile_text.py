"""Puts hostile texts into every field of every table that holds a text of somebody's.

`FIELDS` names every text field of every table. A new one that is not in it fails a test, so whoever adds it says
whether people, files or servers write it, or why what stands in it is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count, cycle
from typing import Any

from django.apps import apps
from django.db import models

from collection.models import ElementSpan, Highlight, Passage, Report
from collection.models.texts import text_hash
from tests.attacks.payloads import Payload, corpus

# What may stand in a field. A sentence instead says why nothing hostile can.
TEXT, NO_SLASH, LEAVES, ATTRIBUTES = "text", "text without /", "texts within JSON", "anything within JSON"
PROMPT = "text without a placeholder that there is not, by its validator"
QUOTE = "what stands there in its text; any text where no place is known"
KINDS = {TEXT, NO_SLASH, LEAVES, ATTRIBUTES, QUOTE, PROMPT}
HASH, SLUG, OURS = "a hash or a random token", "a slug, by its validator", "words, numbers and keys of ours"
CODE = "letters, digits, - and _, by its validator"

FIELDS: dict[str, dict[str, str]] = {
    "collection.User": {
        "password": HASH, "username": NO_SLASH, "first_name": TEXT, "last_name": TEXT, "email": TEXT, "language": OURS,
        "confirmed_address": HASH,
    },
    "collection.UnconfirmedMail": {"address": HASH},
    "collection.Rater": {"name": TEXT, "source": TEXT, "content_hash": HASH, "attributes": LEAVES},
    "collection.Collection": {
        "name": SLUG, "title": TEXT, "description": TEXT, "licence": TEXT, "attributes": ATTRIBUTES
    },
    "collection.Topic": {"topic_id": TEXT, "title": TEXT, "request": TEXT, "attributes": ATTRIBUTES},
    "collection.RubricElement": {"element_id": TEXT, "text": TEXT, "group": TEXT, "attributes": ATTRIBUTES},
    "collection.NuggetBank": {"name": SLUG},
    "collection.BankVersion": {"note": TEXT, "attributes": ATTRIBUTES},
    "collection.BankEntry": {"attributes": ATTRIBUTES},
    "collection.NuggetAnswer": {"text": TEXT, "creator": LEAVES, "attributes": ATTRIBUTES},
    "collection.NuggetReference": {
        "docno": TEXT, "quote": QUOTE, "quality": LEAVES, "creator": LEAVES, "attributes": ATTRIBUTES
    },
    "collection.NuggetProposal": {"quote": TEXT},
    "collection.NuggetWording": {
        "quote": TEXT, "words": TEXT, "reply": TEXT, "error": TEXT, "model": TEXT, "prompt": OURS
    },
    "collection.ProposedNugget": {"text": TEXT},
    "collection.Passage": {
        "passage_id": TEXT, "text": TEXT, "text_sha256": HASH, "title": TEXT, "document_id": TEXT,
        "attributes": ATTRIBUTES, "translation": LEAVES,
    },
    "collection.ElementSpan": {"quote": QUOTE},
    "collection.System": {"name": TEXT, "family": TEXT, "attributes": ATTRIBUTES},
    "collection.Run": {"name": TEXT, "attributes": ATTRIBUTES},
    "collection.Report": {"text": TEXT, "text_sha256": HASH, "attributes": ATTRIBUTES},
    "collection.ReportSentence": {"splitter": OURS, "attributes": ATTRIBUTES},
    "collection.Citation": {"passage_id": TEXT},
    "collection.RankedPassage": {"passage_id": TEXT},
    "collection.Scale": {"name": TEXT, "points": LEAVES, "content_hash": HASH},
    "collection.Study": {
        "name": SLUG, "title": TEXT, "sample_sizes": OURS, "batches_released_at": OURS, "samples": OURS,
        "attributes": ATTRIBUTES, "language": OURS, "terms": TEXT, "frame": LEAVES,
    },
    "collection.TopicDraw": {"stratum": TEXT},
    "collection.Question": {"name": SLUG, "document": LEAVES},
    "collection.Criterion": {"name": SLUG, "question": TEXT, "task_type": SLUG},
    "collection.Guideline": {"markdown": TEXT},
    "collection.Item": {"item_id": TEXT, "task_type": SLUG},
    "collection.Draw": {"design": OURS, "stratum": TEXT},
    "collection.Adjudication": {"note": TEXT},
    "collection.AnswerToRevise": {"text": TEXT, "spans": LEAVES},
    "collection.Comment": {"text": TEXT},
    "collection.CommentReply": {"text": TEXT},
    "collection.EarlierJudgment": {"ungraded": OURS, "highlights": LEAVES, "answer": TEXT, "reason": TEXT},
    "collection.Highlight": {"quote": QUOTE, "text_sha256": HASH},
    "collection.Suggestion": {"reason": TEXT, "spans": LEAVES},
    "collection.WrittenAnswer": {"text": TEXT, "confirmations": OURS, "attributes": ATTRIBUTES},
    "collection.Exclusion": {"reason": TEXT},
    "collection.Masking": {"reason": TEXT, "basis": LEAVES},
    "collection.Split": {"seed": OURS},
    "collection.CollectionInvitation": {"username": TEXT},
    "collection.DocumentSource": {
        "address": TEXT, "text_field": TEXT, "title_field": TEXT, "sealed": "encrypted", "problem": TEXT,
    },
    "collection.SourceTurn": {"source": "shown nowhere", "holder": OURS},
    "collection.DocumentFetch": {"passage_id": TEXT, "source": TEXT, "sha256": HASH, "problem": TEXT},
    "collection.Retrieval": {"run_name": TEXT, "options": LEAVES, "outcome": OURS, "problem": TEXT},
    "collection.ApiToken": {"digest": HASH, "token_key": HASH, "name": TEXT, "password_stamp": HASH},
    "collection.Upload": {
        "stored_as": HASH, "name": TEXT, "file_format": OURS, "study": SLUG, "rater": TEXT, "run": TEXT, "system": TEXT,
        "said": LEAVES, "outcome": LEAVES,
    },
    "collection.GradedLine": {"file_name": TEXT},
    "annotate.CrowdEntry": {
        "token": HASH, "completion_code": CODE, "screen_out_code": CODE, "no_consent_code": CODE, "too_few_code": CODE,
        "site_study_id": CODE, "currency": "three capital letters, by its validator", "contact": TEXT,
        "look_failed": TEXT,
    },
    "annotate.Invitation": {"token": HASH, "note": TEXT},
    "annotate.CrowdIdentity": {"crowd_id": TEXT},
    "annotate.ReturnLink": {"token_sha256": HASH},
    "annotate.CrowdSession": {
        "session_id": TEXT, "cohort": TEXT, "site_status": TEXT, "taken_back": OURS, "offer": OURS
    },
    "annotate.SiteToken": {"sealed": HASH},
    "annotate.SiteRequest": {"amounts": OURS, "remote_id": CODE, "said": TEXT},
    "annotate.Erasure": {"pseudonym": TEXT, "what": LEAVES, "fingerprint": HASH},
    "annotate.Task": {"task_type": SLUG},
    "annotate.Draft": {"spans": LEAVES, "answer": TEXT, "confirmations": OURS},
    "annotate.SkippedWork": {"work": OURS},
    "annotate.ConsentText": {"markdown": TEXT},
    "annotate.SurveyQuestion": {"text": TEXT, "options": LEAVES, "screens_out": LEAVES},
    "annotate.SurveyAnswer": {"value": LEAVES},
    "annotate.GoldGrade": {"explanation": TEXT},
    "annotate.AttentionCheck": {"question": TEXT, "options": LEAVES},
    "annotate.SpotCheck": {"note": TEXT},
    "judging.PromptTemplate": {
        "name": SLUG, "task_type": SLUG, "criterion_name": SLUG, "system_text": PROMPT, "text": PROMPT,
        "replies": LEAVES, "reply_mark": TEXT, "example_text": PROMPT, "source": TEXT, "content_hash": HASH,
    },
    "judging.Judge": {
        "name": SLUG, "task_type": SLUG, "model": TEXT, "criterion_name": SLUG, "decoding": OURS, "examples": OURS
    },
    "judging.GradingJob": {
        "reason": TEXT, "selection": LEAVES, "by_grade": OURS, "by_kind": OURS, "engine_identity": TEXT
    },
    "judging.GradingChunk": {"item_ids": OURS, "holder": OURS},
    "judging.Completion": {
        "reply": TEXT, "error": TEXT, "finish_reason": TEXT, "log_probabilities": OURS, "other_order": LEAVES,
        "cut_texts": OURS, "engine_identity": TEXT, "thinking": TEXT, "sent": LEAVES,
    },
    "judging.EnsembleGrade": {"reason": TEXT},
    "judging.Errand": {"result": "none in that world: replies, escaped by the templates as all text", "error": TEXT},
    "judging.GullibilityAudit": {"pairs": OURS, "reason": TEXT},
    "judging.PlantedReply": {"kind": OURS, "ungraded": OURS, "reply": TEXT},
    "judging.ServerProbe": {"address": TEXT, "findings": LEAVES, "problem": TEXT},
    "judging.ModelServer": {
        "name": SLUG, "addresses": "web addresses, by their check", "sealed": HASH, "serves": LEAVES, "problem": TEXT
    },
    "judging.Build": {
        "pipeline": OURS, "model": TEXT, "decoding": OURS, "options": OURS, "prompts": "checked where it is read",
        "reason": TEXT, "holder": OURS,
    },
    "judging.GenerationCall": {
        "step": OURS, "kind": OURS, "inputs_hash": HASH, "key": OURS, "system": TEXT, "prompt": TEXT, "sampling": OURS,
        "reply": TEXT, "rows": LEAVES, "faults": LEAVES, "finish_reason": TEXT, "engine_identity": TEXT,
    },
    "judging.Product": {"step": OURS, "raw": TEXT, "text": TEXT, "data": LEAVES},
    "judging.ProductReview": {"text": TEXT},
    "judging.TokenQuota": {"note": "for administrators, shown on Django's own pages alone"},
    "judging.AnchorCheck": {"identity": TEXT, "earlier_identity": TEXT, "before": OURS, "after": OURS},
}  # fmt: skip

# Ids that name one thing in two tables.
SAME = {"collection.RankedPassage.passage_id": "collection.Passage.passage_id"}
# Within JSON, what our code compares with words of its own.
OUR_KEYS = {
    "engine",
    "task_type",
    "criterion",
    "scale_sha256",
    "decoding",
    "kind",
    "level",
    "seed",
    "prompt_sha256",
    "how",
}
OUR_KEYS_OF = {"collection.Question.document": {"text", "element", "language", "marks", "name"}}
# So much in one field: seventy payloads or so.
ROOM = 3_000
# In tables with so many rows a tenth of that.
MANY = 100


def text_fields() -> dict[str, set[str]]:
    """Return the names of every table's fields that hold text which is no choice of ours, by table."""
    found: dict[str, set[str]] = {}
    for app in ("collection", "annotate", "judging", "evaluation"):
        for model in apps.get_app_config(app).get_models():
            for field in model._meta.concrete_fields:
                if isinstance(field, models.CharField | models.TextField | models.JSONField) and not field.choices:
                    found.setdefault(model._meta.label, set()).add(field.name)
    return found


class HostileText:
    """Writes payloads into fields, each with a mark of its own, and remembers which mark stands for what.

    Every field takes the payloads in turn, so that it has had all of them after so many rows and rounds.
    """

    def __init__(self, *, start: float = 0) -> None:
        """Begin after this share of the payloads."""
        payloads = corpus()
        first = int(start * len(payloads))
        self.payloads: list[Payload] = payloads[first:] + payloads[:first]
        self.room = ROOM
        self.numbers = count(1)
        self.turns: dict[str, Iterator[int]] = {}
        self.said: dict[str, tuple[str, int, str]] = {}  # by mark: the field, the payload's number, its text
        self.named: dict[tuple[str, str], str] = {}

    def one(self, field: str, number: int) -> str:
        """Return this payload with a mark of its own."""
        mark = f"zq{next(self.numbers):06x}q"
        text = self.payloads[number].marked(mark)
        self.said[mark] = (field, number, text)
        return text

    def many(self, field: str, *, without: str = "") -> str:
        """Return the field's next payloads, as many as there is room for."""
        turn = self.turns.setdefault(field, cycle(range(len(self.payloads))))
        texts, room = [], self.room
        for number in turn:
            if without and without in self.payloads[number].text:
                continue
            texts.append(self.one(field, number))
            room -= len(texts[-1]) + 1
            if room < 60:
                return "\n".join(texts)
        raise AssertionError  # a cycle has no end

    def some(self, field: str) -> str:
        """Return a few of the field's next payloads, for a parameter of an address or a field of a form."""
        self.room = 200
        return self.many(field)

    def leaves(self, field: str, value: Any) -> Any:
        """Return the JSON with other texts in it, few in each place."""
        if isinstance(value, dict):
            ours = OUR_KEYS | OUR_KEYS_OF.get(field, set())
            return {key: inner if key in ours else self.leaves(field, inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.leaves(field, inner) for inner in value]
        return self.many(field) if isinstance(value, str) else value

    def attributes(self, field: str) -> Any:
        return {"group": self.many(field), self.many(field): [self.many(field), {"x": self.many(field)}]}

    def fill(self) -> None:
        """Put payloads into every row of every table."""
        quotes = ["collection.ElementSpan", "collection.Highlight"]
        for label in sorted(FIELDS, key=quotes.__contains__):  # quotes last, for they are cut from texts
            model, fields = apps.get_model(label), FIELDS[label]
            changing = {name: kind for name, kind in fields.items() if kind in KINDS}
            rows = list(model._base_manager.all())
            self.room = ROOM if len(rows) < MANY else ROOM // 10
            for row in rows:
                for name, kind in changing.items():
                    field = f"{label}.{name}"
                    if kind == QUOTE and row.start is not None:
                        text = _text_of(row)
                        row.quote = text[row.start : row.end]
                        if isinstance(row, Highlight):
                            row.text_sha256 = text_hash(text)
                    else:
                        setattr(row, name, self._instead(field, kind, getattr(row, name)))
                if isinstance(row, Passage | Report) and row.text is not None:
                    row.text_sha256 = text_hash(row.text)
            also = ["text_sha256"] if model in (Passage, Report, Highlight) else []
            if rows and changing:
                model._base_manager.bulk_update(rows, [*changing, *also], batch_size=50)

    def _instead(self, field: str, kind: str, value: Any) -> Any:
        made: dict[str, Callable[[], Any]] = {
            TEXT: lambda: self.many(field),
            QUOTE: lambda: self.many(field),
            NO_SLASH: lambda: self.many(field, without="/"),
            PROMPT: lambda: self.many(field, without="{x}"),
            LEAVES: lambda: self.leaves(field, value),
            ATTRIBUTES: lambda: self.attributes(field),
        }
        if value is None:
            return None
        same = SAME.get(field, field)
        if kind is not TEXT or not field.endswith("passage_id"):
            return made[kind]()
        new = self.named.setdefault((same, value), self.many(field))
        self.named[same, new] = self.named[same, value]
        return new

    def covered(self) -> dict[str, int]:
        """Return how many of the payloads each field has held."""
        held: dict[str, set[int]] = {}
        for field, number, _ in self.said.values():
            held.setdefault(field, set()).add(number)
        return {field: len(numbers) for field, numbers in held.items()}


def _text_of(row: ElementSpan | Highlight) -> str:
    return (row.passage.text if isinstance(row, ElementSpan) else row.judgment.item.judged_text.text) or ""
