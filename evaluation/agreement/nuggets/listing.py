"""A set of nuggets written out as reports, so that people or a judge can say which nuggets of another set it has.

LONG²RAG (Qi et al. 2024, section 3.3) asked people which of the key points that they wrote a model had extracted: with
the model's set as a run, that is nugget support of its reports, and the share found is their recall on a leaderboard.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from collection.banks.visibility import is_over
from collection.models import Collection, Report, RubricElement, Run, System, User
from evaluation.agreement.nuggets.sets import read_set
from stats.refusals import Refused

LONGEST_NAME = 200
# What stands where the set has nothing on a topic that has nuggets to look for.
NOTHING = "This set has nothing on this topic."


class NotListed(Refused):
    """The set cannot be written out so; the message says why."""


@transaction.atomic
def list_as_reports(collection: Collection, name: str, *, run: str, by: User | None, at: datetime) -> Run:
    """Make a run of this name with a report for each topic: the set's nuggets, one a line.

    A topic that has nuggets or key points, of which the set has none, gets a report that says so, so that it counts as
    one where nothing is found; a workshop's set, written out once the workshop is over, has those alone that the
    person handed in. Raises NotListed or NoSuchSet.
    """
    run = run.strip()
    if not run or len(run) > LONGEST_NAME:
        raise NotListed(f"Give the run a name of at most {LONGEST_NAME} characters.")
    if Run.objects.filter(collection=collection, name=run).exists():
        raise NotListed(f"The collection has a run “{run}” already. Choose another name.")
    if System.objects.filter(collection=collection, name=run).exists():
        raise NotListed(f"The collection has a system “{run}”, which did not write this. Choose another name.")
    found = read_set(collection, name, by)
    if found.workshop is not None and not is_over(found.workshop):
        raise NotListed("People would read these nuggets among the reports while they work: close the workshop first.")
    topics = {topic.topic_id: topic for topic in collection.topics.all()}
    texts = {topic: "\n".join(f"- {one.text}" for one in listed) for topic, listed in found.nuggets.items()}
    if found.workshop is None:
        elements = RubricElement.objects.filter(topic__collection=collection, masked=False)
        elements = elements.exclude(kind=RubricElement.Kind.SUB_QUESTION)
        texts = dict.fromkeys(elements.order_by("topic").values_list("topic__topic_id", flat=True), "") | texts
    made = Run.objects.create(
        collection=collection,
        system=System.objects.create(collection=collection, name=run),
        name=run,
        attributes={
            "lists": {
                "set": found.name,
                "label": found.label,
                "made_by": by.username if by else "",
                "made_at": at.isoformat(),
            }
        },
    )
    for topic, text in texts.items():
        Report(run=made, topic=topics[topic], text=text or NOTHING).save()
    return made
