"""Users who sign in, their tokens for scripts, and raters, who grade."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken


class Users(UserManager["User"]):
    def create_superuser(self, *args: Any, **fields: Any) -> User:
        """Make an administrator, who is a researcher too: the first person of a new site."""
        return super().create_superuser(*args, **{"is_researcher": True, **fields})


class User(AbstractUser):  # type: ignore[django-manager-missing] # tokens have knox's, which has no types
    """A person who signs in: an assessor, and a researcher where `is_researcher` says so."""

    is_researcher = models.BooleanField(default=False, help_text="May make collections and studies, and start judges.")
    is_demonstration = models.BooleanField(
        "demonstration",
        default=False,
        help_text="Has a password that everybody knows, and signs in only where the demonstration is on.",
    )

    language = models.CharField(
        max_length=10, blank=True, help_text="What assessors' pages speak to the person; empty: English."
    )
    made_for = models.ForeignKey(
        "collection.Collection",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="In whose studies the account was made: its researchers may let the person into others of theirs.",
    )

    mails_notices = models.BooleanField(
        _("Mail me notices"),
        default=False,
        help_text=_("At most one in half an hour: new work, replies to your comments, changes in your studies."),
    )

    confirmed_address = models.CharField(
        max_length=64,
        blank=True,
        editable=False,
        help_text="The keyed hash of the mail address that the person confirmed; another one is not confirmed.",
    )

    objects: ClassVar[Users] = Users()

    @property
    def may_sign_in(self) -> bool:
        """Whether a password, a session or a token of this account opens anything."""
        return self.is_active and (settings.DEMONSTRATION or not self.is_demonstration)


class UnconfirmedMail(models.Model):
    """A mail of the last day to an address that the person, whose account it is about, has not confirmed as theirs."""

    account = models.ForeignKey(User, on_delete=models.CASCADE, related_name="unconfirmed_mails")
    address = models.CharField(max_length=64, db_index=True, help_text="Its keyed hash.")
    at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"mail about {self.account}"


class Rater(models.Model):
    """Whoever grades: an assessor (a person) or a judge (an LLM with its prompt, scale and decoding).

    A person who signs in is one rater, whatever the study (`user`). A rater that came in with a file
    belongs to the collection of that file, so two files' "annotator 1" stay two people. A judge is
    known by the hash of all that shapes its grades.
    """

    class Kind(models.TextChoices):
        ASSESSOR = "assessor", "assessor"
        JUDGE = "judge", "judge"

    class Origin(models.TextChoices):
        HERE = "here", "graded here"
        IMPORTED = "imported", "imported from a file"
        SIMULATED = "simulated", "made by a stated simulation"

    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(max_length=200)
    origin = models.CharField(max_length=9, choices=Origin, default=Origin.HERE)
    source = models.TextField(blank=True, help_text="The file or the simulation that the grades come from.")
    user = models.OneToOneField(User, null=True, blank=True, on_delete=models.PROTECT, related_name="rater")
    collection = models.ForeignKey(
        "collection.Collection", null=True, blank=True, on_delete=models.CASCADE, related_name="raters"
    )
    content_hash = models.CharField(max_length=64, null=True, blank=True, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    attributes = models.JSONField(default=dict, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "kind", "name"],
                condition=Q(collection__isnull=False),
                name="one_rater_per_name_in_a_collection",
            ),
            models.CheckConstraint(
                condition=Q(user__isnull=True) | Q(kind="assessor"), name="a_user_rates_as_an_assessor"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def simulated(self) -> bool:
        """Whether its grades were made by a simulation; every page that shows them says so."""
        return self.origin == self.Origin.SIMULATED


class ApiToken(AbstractAuthToken):  # type: ignore[misc]
    """A token of a person, kept as its SHA-512 alone, which ends on its day.

    `password_stamp` is made of the password that the person had then: with another one it opens nothing, whoever
    changed it and however.
    """

    name = models.CharField(max_length=60)
    last_used_at = models.DateTimeField(null=True)
    password_stamp = models.CharField(max_length=64)
    read_only = models.BooleanField(default=False, help_text="It opens what is asked for by GET, and changes nothing.")

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return self.name
