"""Workshops: people propose changes to a nugget bank, each without seeing the others', and one more person decides.

They stand here, not in `annotate`, because `evaluation` compares what people proposed and shows what a proposal does
to scores.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from collection.models.banks import BankVersion, NuggetBank
from collection.models.people import Rater
from collection.models.studies import Study
from collection.models.texts import Passage, Report, RubricElement, Topic


class ProposalChanged(Exception):
    """Somebody tried to change what was proposed, or a decision that a version of the bank was made of."""


class WorkshopQuerySet(models.QuerySet["NuggetWorkshop"]):
    def of(self, user: Any) -> WorkshopQuerySet:
        """Workshops in which this person proposes or decides."""
        return self.filter(pk__in=WorkshopPerson.objects.filter(user=user).values("workshop"))

    def open(self) -> WorkshopQuerySet:
        """Workshops that nobody has closed."""
        return self.filter(closed_at=None)


class NuggetWorkshop(models.Model):
    """Work of people on a bank. The study, where there is one, is that in which reports are judged by the nuggets.

    The judge, where there is one, words a nugget when somebody who proposes asks it to.
    """

    bank = models.ForeignKey(NuggetBank, on_delete=models.CASCADE, related_name="workshops")
    study = models.ForeignKey(Study, null=True, blank=True, on_delete=models.SET_NULL, related_name="workshops")
    judge = models.ForeignKey(Rater, null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = WorkshopQuerySet.as_manager()

    class Meta:
        ordering = ["-made_at", "-pk"]

    def __str__(self) -> str:
        return f"workshop {self.pk} of {self.bank}"


class WorkshopPerson(models.Model):
    """Somebody in a workshop: of those who propose, or the one who decides."""

    class Role(models.TextChoices):
        PROPOSES = "proposes", "proposes"
        DECIDES = "decides", "decides"

    workshop = models.ForeignKey(NuggetWorkshop, on_delete=models.CASCADE, related_name="people")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="workshop_roles")
    role = models.CharField(max_length=8, choices=Role)

    class Meta:
        ordering = ["pk"]
        verbose_name_plural = "workshop people"
        constraints = [
            models.UniqueConstraint(fields=["workshop", "user"], name="nobody_has_two_roles_in_a_workshop"),
            models.UniqueConstraint(
                fields=["workshop"], condition=Q(role="decides"), name="one_person_decides_in_a_workshop"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} {self.get_role_display()}"


class WorkshopTopic(models.Model):
    """A topic of a workshop. It is decided once its accepted proposals are in a version of the bank.

    `version` is that version; none where nothing was accepted, or where nothing changed.
    """

    workshop = models.ForeignKey(NuggetWorkshop, on_delete=models.CASCADE, related_name="topics")
    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="workshops")
    decided_at = models.DateTimeField(null=True, blank=True)
    version = models.ForeignKey(BankVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["topic_id"]
        constraints = [models.UniqueConstraint(fields=["workshop", "topic"], name="a_topic_is_in_a_workshop_once")]

    def __str__(self) -> str:
        return str(self.topic)


class HandedIn(models.Model):
    """That a person is done with proposing for a topic."""

    workshop_topic = models.ForeignKey(WorkshopTopic, on_delete=models.CASCADE, related_name="handed_in")
    person = models.ForeignKey(WorkshopPerson, on_delete=models.CASCADE, related_name="handed_in")
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "handed in"
        constraints = [
            models.UniqueConstraint(fields=["workshop_topic", "person"], name="a_person_hands_a_topic_in_once")
        ]

    def __str__(self) -> str:
        return f"{self.workshop_topic} by {self.person}"


class WorkshopRelevance(models.Model):
    """Whether a person finds a passage relevant to a topic, in a workshop."""

    workshop_topic = models.ForeignKey(WorkshopTopic, on_delete=models.CASCADE, related_name="relevance")
    person = models.ForeignKey(WorkshopPerson, on_delete=models.CASCADE, related_name="relevance")
    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="+")
    relevant = models.BooleanField()
    judged_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "workshop relevance"
        constraints = [
            models.UniqueConstraint(
                fields=["workshop_topic", "person", "passage"], name="a_person_judges_a_passage_of_a_workshop_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.passage} {'is' if self.relevant else 'is not'} relevant"


class NuggetWording(models.Model):
    """Words for a nugget that somebody asked the workshop's judge for, from a highlight, and what it wrote.

    A worker takes it up once and no more: it costs tokens. `words` are what was read of the `reply`; `error` says why
    there are none. `model` is what the server said that replied, `prompt` names what was asked, with its version.
    """

    class State(models.TextChoices):
        AT_WORK = "at work", "at work"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    # Who asked waits no longer than this.
    PATIENCE = timedelta(minutes=2)

    workshop_topic = models.ForeignKey(WorkshopTopic, on_delete=models.CASCADE, related_name="wordings")
    person = models.ForeignKey(WorkshopPerson, on_delete=models.RESTRICT, related_name="wordings")
    judge = models.ForeignKey(Rater, on_delete=models.PROTECT, related_name="+")
    passage = models.ForeignKey(Passage, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    report = models.ForeignKey(Report, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    quote = models.TextField()
    state = models.CharField(max_length=7, choices=State, default=State.AT_WORK)
    words = models.TextField(blank=True)
    reply = models.TextField(blank=True)
    error = models.TextField(blank=True)
    model = models.CharField(max_length=300, blank=True)
    prompt = models.CharField(max_length=100, blank=True)
    asked_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True, help_text="When a worker took it up.")
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(passage__isnull=True, report__isnull=False) | Q(passage__isnull=False, report__isnull=True),
                name="a_wording_has_one_source",
            ),
        ]

    def __str__(self) -> str:
        return self.words or self.get_state_display()

    def is_awaited(self, *, at: datetime) -> bool:
        """Whether words may still come."""
        return self.state == self.State.AT_WORK and at - self.asked_at <= self.PATIENCE


class NuggetProposal(models.Model):
    """A change to a topic's nuggets that a person proposes: what it says never changes, its state does.

    `elements` are the nuggets that it concerns; the nuggets that it brings stand in `ProposedNugget`. The source is a
    span of a passage or of a report, in code points, end-exclusive. What the deciding person words otherwise, or makes
    of several proposals, is a proposal of theirs, and the others are `taken_into` it.
    """

    class Kind(models.TextChoices):
        NEW = "new", _("new nugget")
        REVISE = "revise", pgettext_lazy("kind of proposal", "change")
        SPLIT = "split", pgettext_lazy("kind of proposal", "split")
        MERGE = "merge", pgettext_lazy("kind of proposal", "merge")
        DROP = "drop", pgettext_lazy("kind of proposal", "remove")

    class State(models.TextChoices):
        PROPOSED = "proposed", pgettext_lazy("state of a proposal", "proposed")
        WITHDRAWN = "withdrawn", pgettext_lazy("state of a proposal", "withdrawn")
        ACCEPTED = "accepted", pgettext_lazy("state of a proposal", "accepted")
        REFUSED = "refused", pgettext_lazy("state of a proposal", "refused")

    workshop_topic = models.ForeignKey(WorkshopTopic, on_delete=models.CASCADE, related_name="proposals")
    person = models.ForeignKey(WorkshopPerson, on_delete=models.RESTRICT, related_name="proposals")
    kind = models.CharField(max_length=6, choices=Kind)
    elements = models.ManyToManyField(RubricElement, blank=True, related_name="proposals")
    aggregator = models.CharField(
        max_length=3,
        choices=RubricElement.Aggregator,
        blank=True,
        help_text="Of a merge that keeps the nuggets as parts: how they become one. Empty: one in place of them.",
    )
    passage = models.ForeignKey(Passage, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    report = models.ForeignKey(Report, null=True, blank=True, on_delete=models.RESTRICT, related_name="+")
    start = models.PositiveIntegerField(null=True, blank=True)
    end = models.PositiveIntegerField(null=True, blank=True)
    quote = models.TextField(blank=True)
    wording = models.ForeignKey(
        NuggetWording, null=True, blank=True, on_delete=models.RESTRICT, related_name="proposals",
        help_text="The words of a judge that its nugget began with.",
    )  # fmt: skip
    made_at = models.DateTimeField()
    state = models.CharField(max_length=9, choices=State, default=State.PROPOSED)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)
    taken_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.RESTRICT, related_name="made_of")

    class Meta:
        ordering = ["made_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(passage__isnull=True) | Q(report__isnull=True), name="a_proposal_has_one_source_at_most"
            ),
            models.CheckConstraint(
                condition=Q(start__isnull=True, end__isnull=True) | Q(start__lt=F("end")),
                name="the_span_of_a_proposal_is_not_empty",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["accepted", "refused"], decided_at__isnull=False)
                | Q(state__in=["proposed", "withdrawn"], decided_at__isnull=True),
                name="a_proposal_is_decided_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} by {self.person.user}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store a new proposal. Raises ProposalChanged for one that is stored: only its state may change."""
        if self.pk is not None:
            raise ProposalChanged("What was proposed does not change. Withdraw it and propose another.")
        super().save(*args, **kwargs)

    @property
    def element_ids(self) -> list[str]:
        """The ids of the nuggets that it concerns."""
        return [element.element_id for element in self.elements.all()]


class ProposedNugget(models.Model):
    """A nugget as a proposal words it: one for most kinds, several for a split, none to remove one."""

    proposal = models.ForeignKey(NuggetProposal, on_delete=models.CASCADE, related_name="nuggets")
    position = models.PositiveIntegerField(help_text="Counted from 0 within the proposal.")
    text = models.TextField()
    importance = models.CharField(max_length=5, choices=RubricElement.Importance, blank=True)
    weight = models.FloatField(null=True, blank=True)

    class Meta:
        ordering = ["proposal_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["proposal", "position"], name="one_proposed_nugget_per_position"),
            models.CheckConstraint(condition=~Q(text=""), name="a_proposed_nugget_has_text"),
        ]

    def __str__(self) -> str:
        return self.text
