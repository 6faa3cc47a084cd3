"""Model servers: addresses, the key that goes to them alone, and who may use them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from collection.models import User


class ModelServerQuerySet(models.QuerySet["ModelServer"]):
    def of(self, user: User) -> ModelServerQuerySet:
        """Servers that the user may use: their own, and the site's that are for everybody or for them."""
        if not (user.is_researcher and user.is_active):
            return self.none()
        given = self.model.users.through.objects.filter(user=user).values("modelserver")
        return self.filter(Q(owner=user) | Q(owner=None) & (Q(everybody=True) | Q(pk__in=given)))

    def changed_by(self, user: User) -> ModelServerQuerySet:
        """Servers that the user may change: their own, and for administrators the site's."""
        return self.filter(Q(owner=user) | Q(owner=None) if administers_servers(user) else Q(owner=user))


def administers_servers(user: User) -> bool:
    """Whether the user answers for the site's servers, and may name addresses of private networks."""
    return user.has_perm("judging.change_modelserver")


class ModelServer(models.Model):
    """One provider or machine that speaks OpenAI's protocol, by one or several addresses that share one key.

    Its `owner` is the researcher who added it, and nobody else uses it; none has the site's, which administrators
    answer for. The addresses and the key of the one that is `from_variables` are JUDGE_BASE_URL and JUDGE_API_KEY.
    """

    name = models.SlugField(max_length=100, unique=True)
    addresses = models.JSONField(default=list, blank=True, help_text="Without a key, and without /v1 at the end.")
    sealed = models.TextField(blank=True, editable=False, help_text="Its key, encrypted.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="model_servers"
    )
    users = models.ManyToManyField(settings.AUTH_USER_MODEL, blank=True, related_name="+")
    everybody = models.BooleanField(default=False, help_text="Each researcher may use it, not only its users.")
    from_variables = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    concurrency = models.PositiveSmallIntegerField(default=16, help_text="Requests under way at each address.")
    price_in = models.FloatField(null=True, blank=True, help_text="For a million prompt tokens.")
    price_out = models.FloatField(null=True, blank=True, help_text="For a million tokens of replies.")
    tokens_a_month = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Of its owner, on all servers of theirs; none: without a limit."
    )
    serves = models.JSONField(
        default=list, blank=True, help_text="What it said that it serves, when it was last asked."
    )
    problem = models.TextField(blank=True, help_text="Why it said nothing.")
    asked_at = models.DateTimeField(null=True, blank=True)

    objects = ModelServerQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
