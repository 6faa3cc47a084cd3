"""What a new element holds besides its text: its nugget’s answers and references."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256

from collection.formats.nugget_banks import OURS, Nugget, Reference, content_of
from collection.formats.offsets import CODE_POINTS, code_points
from collection.formats.problems import BrokenLine
from collection.importing.rows import Imported
from collection.models import NuggetAnswer, NuggetReference, RubricElement

MOST_DOCNO = 300


def add_content(element: RubricElement, nugget: Nugget, imported: Imported) -> None:
    """Store the answers and references of a new element."""
    answers = NuggetAnswer.objects.bulk_create(
        NuggetAnswer(
            element=element,
            position=position,
            text=answer.text,
            importance=answer.importance,
            right=answer.right,
            creator=answer.creator,
            attributes=answer.attributes,
        )
        for position, answer in enumerate(nugget.answers)
    )
    pairs: list[tuple[NuggetAnswer | None, Reference]] = [(None, one) for one in nugget.references]
    pairs += [(row, one) for row, answer in zip(answers, nugget.answers, strict=True) for one in answer.references]
    references = NuggetReference.objects.bulk_create(
        NuggetReference(
            element=element,
            answer=answer_row,
            position=position,
            docno=one.docno,
            start=one.start,
            end=one.end,
            quote=one.quote,
            encoding=one.encoding,
            quality=one.quality,
            creator=one.creator,
            attributes=one.attributes,
        )
        for position, (answer_row, one) in enumerate(pairs)
    )
    imported.new["nugget answers"] += len(answers)
    imported.new["nugget references"] += len(references)


def in_code_points(nugget: Nugget, held: Mapping[str, str], imported: Imported) -> Nugget:
    """Return the nugget with references that count code points in the texts that are `held`, by docno.

    Raises BrokenLine where a quote is elsewhere.
    """

    def placed(references: Sequence[Reference]) -> tuple[Reference, ...]:
        return tuple(_placed(one, held, imported) for one in references)

    answers = tuple(replace(answer, references=placed(answer.references)) for answer in nugget.answers)
    return replace(nugget, references=placed(nugget.references), answers=answers)


def _placed(reference: Reference, held: Mapping[str, str], imported: Imported) -> Reference:
    if len(reference.docno) > MOST_DOCNO:
        raise BrokenLine(f"A docno has {len(reference.docno)} characters.", f"The limit is {MOST_DOCNO}.")
    if reference.start is None or reference.end is None:
        return reference
    text = held.get(reference.docno)
    if text is None:
        if reference.encoding == CODE_POINTS:
            return reference
        imported.flaw("references to texts that are not here, kept as they came", reference.docno)
        given = {f"{OURS}start": reference.start, f"{OURS}end": reference.end}
        return replace(reference, start=None, end=None, attributes=reference.attributes | given)
    try:
        start, end = (code_points(text, at, reference.encoding) for at in (reference.start, reference.end))
    except BrokenLine as broken:
        raise BrokenLine(f"A reference to “{reference.docno}”: {broken.reason}", broken.remedy) from broken
    if reference.quote and text[start:end] != reference.quote:
        raise BrokenLine(
            f"“{reference.quote[:60]}” is not at {reference.start} to {reference.end} of “{reference.docno}”.",
            "Correct the offsets or their encoding.",
        )
    return replace(reference, start=start, end=end)


def hash_of(nugget: Nugget) -> str:
    """Return what tells the nugget’s content from another."""
    written = json.dumps(content_of(nugget), sort_keys=True, ensure_ascii=False)
    return sha256(written.encode("utf-8", "surrogatepass")).hexdigest()
