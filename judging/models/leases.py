"""What is in the hands of one worker at a time: a chunk of a grading job, a build."""

from __future__ import annotations

from django.db import models


class Leased(models.Model):
    """`holder` names the worker while its lease lasts.

    A worker that lives renews the lease; what one had that was killed is free again when the lease is over. Whether
    it is held is for `judging.grading.leases` to say.
    """

    holder = models.CharField(max_length=200, blank=True)
    leased_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True
