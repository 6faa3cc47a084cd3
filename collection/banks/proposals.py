"""What people propose in a workshop: as changes to the bank, and as each person's set of nuggets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db.models import QuerySet
from django.utils.translation import gettext

from collection.banks.changes import ByJudge, Change, DoesNotFit, Source, Standing, Worded, standing
from collection.banks.versions import entries_of
from collection.models import NuggetProposal, NuggetWording, RubricElement, User, WorkshopPerson, WorkshopTopic

State = NuggetProposal.State


@dataclass(frozen=True)
class NuggetOfPerson:
    """A nugget as a person proposes it. The span is of the passage `docno`, or of the report of the run `run`.

    `by_judge` says whether it began with a judge's words.
    """

    proposal: int
    kind: str
    text: str
    importance: str
    weight: float | None
    docno: str
    run: str
    start: int | None
    end: int | None
    quote: str
    by_judge: bool


def proposals_of(workshop_topic: WorkshopTopic) -> QuerySet[NuggetProposal]:
    """Return what was proposed for the topic and not withdrawn, in order, with all that is shown of it."""
    stand = NuggetProposal.objects.filter(workshop_topic=workshop_topic).exclude(state=State.WITHDRAWN)
    return stand.select_related(
        "person__user", "passage", "report__run", "taken_into", "wording__judge"
    ).prefetch_related("nuggets", "elements")


def nuggets_by_person(workshop_topic: WorkshopTopic) -> dict[User, list[NuggetOfPerson]]:
    """Return the nuggets that each person who proposes worded for the topic, whatever was decided of them.

    A person who proposed none has an empty list; the deciding person's own wordings are not among them.
    """
    people = workshop_topic.workshop.people.filter(role=WorkshopPerson.Role.PROPOSES).select_related("user")
    found: dict[User, list[NuggetOfPerson]] = {person.user: [] for person in people}
    for proposal in proposals_of(workshop_topic):
        if proposal.person.user in found:
            found[proposal.person.user] += [
                NuggetOfPerson(
                    proposal=proposal.pk,
                    kind=proposal.kind,
                    text=nugget.text,
                    importance=nugget.importance,
                    weight=nugget.weight,
                    docno=proposal.passage.passage_id if proposal.passage else "",
                    run=proposal.report.run.name if proposal.report else "",
                    start=proposal.start,
                    end=proposal.end,
                    quote=proposal.quote,
                    by_judge=proposal.wording_id is not None,
                )
                for nugget in proposal.nuggets.all()
            ]
    return found


def change_of(proposal: NuggetProposal) -> Change:
    """Return the change that is proposed."""
    source = None
    if proposal.passage and proposal.start is not None and proposal.end is not None:
        source = Source(proposal.passage.passage_id, proposal.start, proposal.end, proposal.quote)
    return Change(
        kind=proposal.kind,
        elements=tuple(sorted(element.pk for element in proposal.elements.all())),
        nuggets=tuple(Worded(one.text, one.importance, one.weight) for one in proposal.nuggets.all()),
        aggregator=proposal.aggregator,
        source=source,
        by_judge=by_judge(proposal.wording) if proposal.wording else None,
    )


def by_judge(wording: NuggetWording) -> ByJudge:
    """Return whose words these are."""
    return ByJudge(wording.judge.name, wording.model, wording.prompt, wording.words)


def as_one(proposals: Sequence[NuggetProposal], nuggets: tuple[Worded, ...] | None = None) -> Change:
    """Return the change that these proposals become together, in these words or those of the first.

    Words without importance or weight have the first that was proposed. Raises DoesNotFit where they are of several
    kinds, or about different nuggets.
    """
    changes = [change_of(one) for one in proposals]
    if not changes:
        raise DoesNotFit(gettext("Choose proposals that are not decided."))
    if len({(one.kind, one.elements) for one in changes}) > 1:
        raise DoesNotFit(gettext("Only proposals of one kind about the same nuggets become one."))
    if nuggets is None:
        return changes[0]
    if len(nuggets) == 1:
        proposed = [*nuggets, *(nugget for one in changes for nugget in one.nuggets)]
        importance = next((nugget.importance for nugget in proposed if nugget.importance), "")
        weight = next((nugget.weight for nugget in proposed if nugget.weight is not None), None)
        nuggets = (Worded(nuggets[0].text, importance, weight),)
    return replace(changes[0], nuggets=nuggets)


def changes_in_force(proposals: Sequence[NuggetProposal]) -> list[Change]:
    """Return the changes that were accepted, but of those that were taken into another."""
    return [change_of(one) for one in proposals if one.state == State.ACCEPTED and one.taken_into_id is None]


def own_changes(workshop_topic: WorkshopTopic, person: WorkshopPerson) -> list[Change]:
    """Return what the person has proposed for the topic and not withdrawn, as long as it is not decided."""
    return [change_of(one) for one in proposals_of(workshop_topic).filter(person=person, state=State.PROPOSED)]


def standing_nuggets(workshop_topic: WorkshopTopic) -> list[Standing]:
    """Return the topic's nuggets in the bank's newest version."""
    topic = workshop_topic.topic_id
    newest = workshop_topic.workshop.bank.versions.order_by("number").last()
    return standing(entries_of(newest, topics=[topic]).get(topic, [])) if newest else []


def texts_of(workshop_topic: WorkshopTopic) -> dict[int, str]:
    """Return the words of the topic's elements."""
    return dict(RubricElement.objects.filter(topic=workshop_topic.topic_id).values_list("pk", "text"))
