"""What imported judgments need of a study: its criteria, items and raters."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction

from collection.accounts.access import StillAssesses
from collection.collections.sharing import make_collection
from collection.formats.problems import BrokenLine, InputFile
from collection.importing.rows import Imported, Rows
from collection.models import Collection, Criterion, Item, Study, Topic, User
from collection.questions.shapes import CriterionShape, title_of
from collection.questions.wordings import in_all_languages
from collection.scales import difference_in_words


def criterion_of(study: Study, task_type: str, shape: CriterionShape) -> Criterion:
    """Return the study's criterion of this shape, made if it is new, in the study's language.

    Raises ValidationError if it has another scale, whose grades are more than these in some language.
    """
    in_words = in_all_languages(shape, task_type)
    spoken = in_words.get(study.language, shape)
    criterion, _ = Criterion.objects.get_or_create(
        study=study,
        name=shape.name,
        defaults={
            "task_type": task_type,
            "question": spoken.question,
            "scale": spoken.scale.stored(),
            "threshold": shape.threshold,
            "position": study.criteria.count(),
        },
    )
    if criterion.task_type != task_type:
        raise ValidationError(
            f"In the study “{study.name}”, “{shape.name}” is asked under “{title_of(criterion.task_type)}”, not "
            f"“{title_of(task_type)}”. Use a new study."
        )
    if criterion.scale.content_hash not in {one.scale.content_hash for one in in_words.values()}:
        raise ValidationError(
            f"The study “{study.name}” asks “{shape.name}” on another scale than the file’s. The study’s "
            f"“{criterion.scale}”: {difference_in_words(criterion.scale, shape.scale.stored())} Use a new study."
        )
    return criterion


@transaction.atomic
def closed_study_in(collection_name: str, *, name: str, title: str = "", owner: User, source: str) -> Study:
    """Return the closed study of this name on this collection, each made if new. Raises ValidationError."""
    stored = Collection.objects.filter(name=collection_name).first()
    collection = stored or make_collection(name=collection_name, title=title, owner=owner)
    return closed_study(name, collection, owner=owner, source=source)


def closed_study(name: str, collection: Collection, *, owner: User, source: str, overlap: int = 1) -> Study:
    """Return the closed study of this name that imported judgments go into, made if new. Raises ValidationError.

    `source` says what they are imported from.
    """
    study = planned_study(name, collection, owner=owner, source=source, overlap=overlap)
    if study.pk is None:
        study.save()
    return study


def planned_study(name: str, collection: Collection, *, owner: User, source: str, overlap: int = 1) -> Study:
    """Return the same, not stored if it is new. Raises ValidationError."""
    study = Study.objects.filter(name=name).first()
    if study is None:
        study = Study(
            name=name,
            collection=collection,
            state=Study.State.CLOSED,
            overlap=overlap,
            created_by=owner,
            attributes={"imported_from": source},
        )
        study.full_clean()
    if study.collection_id != collection.pk:
        raise ValidationError(
            f"The study “{name}” is on the collection “{study.collection.name}”. Choose another name for one of them."
        )
    return study


def refuse_who_assesses(study: Study, by: User | None) -> None:
    """Raise ValidationError where who imports assesses in the study: what is refused, or known, says what stands there.

    None is an operator, who may.
    """
    if by and Study.objects.assessed_by(by).filter(pk=study.pk).exists():
        raise ValidationError(StillAssesses.default_detail)


class ItemRows:
    """Items that a file's judgments are about."""

    def __init__(self, study: Study, *, file: InputFile, imported: Imported) -> None:
        self.study = study
        self.rows = Rows(Item.objects.filter(study=study), ("item_id",), file=file, imported=imported, remember=True)

    def add(
        self,
        number: int,
        task_type: str,
        *,
        topic: tuple[int, str],
        text: str,
        element: tuple[int, str] | None = None,
        passage_pk: int | None = None,
        report_pk: int | None = None,
    ) -> str:
        """Take an item, and return its id. `topic` and `element` are primary keys with ids; `text` names the text."""
        parts = [task_type, topic[1], text] + ([element[1]] if element else [])
        item_id = "/".join(parts)
        if (item_id,) not in self.rows.pks:
            item = Item(
                study=self.study,
                task_type=task_type,
                item_id=item_id,
                topic_id=topic[0],
                element_id=element[0] if element else None,
                passage_id=passage_pk,
                report_id=report_pk,
            )
            self.rows.add(number, item)
        return item_id

    def flush(self) -> None:
        """Store the items taken so far."""
        self.rows.flush()

    def pk(self, item_id: str) -> int:
        """Return the primary key of the item. Raises BrokenLine."""
        return self.rows.pk(item_id, what=f"item “{item_id}”")


def topic_pks(collection: Collection) -> dict[str, int]:
    """Return the primary keys of the collection's topics by their ids."""
    return dict(Topic.objects.filter(collection=collection).values_list("topic_id", "pk"))


def known(pks: dict[str, int], name: str, what: str) -> int:
    """Return the primary key of that name. Raises BrokenLine."""
    try:
        return pks[name]
    except KeyError:
        raise BrokenLine(f"There is no {what} “{name}” in the collection.", "Import it, or correct the id.") from None
