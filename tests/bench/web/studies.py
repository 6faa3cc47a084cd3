"""Studies for the bench of assessors: many tasks of one kind, each for one assessor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collection.models import Collection, Report, Topic

WORDS = 200
SENTENCES = 5
SENTENCE = len("word000 ") * (WORDS // SENTENCES)


def the_text() -> str:
    return " ".join(f"word{number:03d}" for number in range(WORDS))


def a_study(kind: str, *, questions: int, tasks: int) -> str:
    """Make and open a study of about so many tasks of the kind, each of so many questions as far as it has a say."""
    from django.utils.timezone import now

    from annotate.studies.design import StudyDesign
    from annotate.studies.lifecycle import make_study, open_study
    from collection.models import Collection, User

    name = f"bench-{kind.replace('_', '-')}-{questions}"
    rosa, _ = User.objects.get_or_create(username="rosa", is_researcher=True)
    collection = Collection.objects.create(name=name, owner=rosa)
    KINDS[kind](collection, questions, tasks)
    study = make_study(
        StudyDesign(collection=collection, name=name, task_types=[kind], overlap=1, guidelines="Read it."),
        assessors=User.objects.filter(username__startswith="assessor-"),
        by=rosa,
        at=now(),
    )
    open_study(study=study, at=now())
    return name


def _reports_with_questions(collection: Collection, questions: int, tasks: int) -> None:
    """One task a report, with all sub-questions of its topic."""
    topic = _topic(collection, "t")
    _elements(topic, questions, "sub_question")
    _reports(collection, [topic], tasks)


def _cited_reports(collection: Collection, questions: int, tasks: int) -> None:
    """One task a report, with a question about each of its sentences' citations."""
    cited_reports(collection, topics=1, runs=tasks, cited=questions, nuggets=0)


def cited_reports(collection: Collection, *, topics: int, runs: int, cited: int, nuggets: int) -> list[Topic]:
    """Give each topic so many nuggets, and a report of every run with so many citations."""
    from collection.models import Passage
    from collection.models.texts import text_hash

    text = the_text()
    Passage.objects.bulk_create(
        Passage(collection=collection, passage_id=f"d{n}", text=text, text_sha256=text_hash(text)) for n in range(50)
    )
    made = [_topic(collection, f"t{n}") for n in range(topics)]
    for topic in made:
        _elements(topic, nuggets, "nugget")
    _sentences(_reports(collection, made, runs), cited=cited)
    return made


def _sentences_with_nuggets(collection: Collection, questions: int, tasks: int) -> None:
    """One task a sentence, with all nuggets of its topic."""
    topic = _topic(collection, "t")
    _elements(topic, questions, "nugget")
    _sentences(_reports(collection, [topic], -(-tasks // SENTENCES)), cited=0)


def _battles(collection: Collection, questions: int, tasks: int) -> None:
    """One task a topic, with the reports of two runs."""
    _reports(collection, [_topic(collection, f"t{n}") for n in range(tasks)], 2)


KINDS: dict[str, Callable[[Collection, int, int], None]] = {
    "answerability": _reports_with_questions,
    "citation_support": _cited_reports,
    "sentence_nugget": _sentences_with_nuggets,
    "battle": _battles,
}
# What the report calls a task of so many questions.
SHAPES = {
    "answerability": "{} sub-question{} a report",
    "citation_support": "{} citation{} a cited report",
    "sentence_nugget": "{} nugget{} beside a sentence",
    "battle": "{} battle of two reports",
}


def _topic(collection: Collection, topic_id: str) -> Topic:
    from collection.models import Topic

    return Topic.objects.create(collection=collection, topic_id=topic_id, request="What is known of it?")


def _elements(topic: Topic, n: int, kind: str) -> None:
    from collection.models import RubricElement

    for number in range(n):
        RubricElement.objects.create(
            topic=topic, kind=kind, element_id=f"q{number}", position=number, text=f"What of part {number}?"
        )


def _reports(collection: Collection, topics: Iterable[Topic], n_runs: int) -> list[Report]:
    from collection.models import Report, Run, System
    from collection.models.texts import text_hash

    system = System.objects.create(collection=collection, name="system")
    runs = Run.objects.bulk_create(Run(collection=collection, system=system, name=f"r{n}") for n in range(n_runs))
    text = the_text()
    made: list[Report] = Report.objects.bulk_create(
        Report(run=run, topic=topic, text=text, text_sha256=text_hash(text)) for topic in topics for run in runs
    )
    return made


def _sentences(reports: Iterable[Report], *, cited: int) -> None:
    """Part each report into sentences, the first of which name documents: so many in all."""
    from collection.models import Citation, ReportSentence

    end = len(the_text())
    stored = ReportSentence.objects.bulk_create(
        ReportSentence(report=report, position=n, start=n * SENTENCE, end=min((n + 1) * SENTENCE - 1, end))
        for report in reports
        for n in range(SENTENCES)
    )
    Citation.objects.bulk_create(
        Citation(sentence=sentence, position=place // SENTENCES, passage_id=f"d{(sentence.pk + place) % 50}")
        for sentence in stored
        for place in range(sentence.position, cited, SENTENCES)
    )


def judged(study: str) -> int:
    from collection.models import Judgment

    return Judgment.objects.filter(criterion__study__name=study).count()


def surplus(study: str) -> int:
    """How many people stand over the cap of one, summed over the items."""
    from django.db.models import Count

    from collection.models import Item

    items: Any = Item.objects.filter(study__name=study).annotate(n=Count("judgments__rater", distinct=True))
    return sum(max(0, n - 1) for n in items.values_list("n", flat=True))
