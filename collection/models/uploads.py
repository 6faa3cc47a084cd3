"""Files between their upload and their import."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models

from collection.models.texts import Collection

# A megabyte is ten thousand rows of a table of judgments, about a second's work.
LARGE = 1024 * 1024
# Lines of qrels are ten times shorter.
LARGE_OF_GRADES = LARGE // 8
PACKED = (".zip", ".gz")


class UploadQuerySet(models.QuerySet["Upload"]):
    def at_work(self) -> UploadQuerySet:
        """Uploads that a worker was asked to try out or to import."""
        return self.filter(state__in=Upload.AT_WORK)


class Upload(models.Model):
    """A file that waits to be imported, what its importer chose, and how far it is.

    A small file is tried out and imported while its importer waits; for a large one a worker is asked. `generation`
    counts how often: a worker that was given up for another changes nothing any more. `outcome` is what the file
    would bring or brought, or what is wrong with it, as `Outcome` writes it.
    """

    class State(models.TextChoices):
        KEPT = "kept", "waiting"
        TRYING = "trying", "being checked"
        TRIED = "tried", "checked"
        IMPORTING = "importing", "being imported"
        IMPORTED = "imported", "imported"

    AT_WORK = (State.TRYING, State.IMPORTING)

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="uploads")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    stored_as = models.CharField(max_length=50, unique=True)
    name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField(help_text="How many bytes there are to read; of a zip, unpacked.")
    file_format = models.CharField(max_length=20)
    study = models.CharField(max_length=100, blank=True)
    rater = models.CharField(max_length=200, blank=True)
    run = models.CharField(max_length=200, blank=True)
    system = models.CharField(max_length=200, blank=True)
    without_texts = models.BooleanField(default=False)
    said = models.JSONField(default=dict, help_text="What its importer said of it, as its kind of file keeps it.")
    state = models.CharField(max_length=9, choices=State, default=State.KEPT)
    outcome = models.JSONField(null=True)
    generation = models.PositiveIntegerField(default=0)
    uploaded_at = models.DateTimeField()
    asked_at = models.DateTimeField(null=True, help_text="When a worker was last asked.")

    objects = UploadQuerySet.as_manager()

    class Meta:
        ordering = ["-uploaded_at"]

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> Path:
        return uploads_folder() / self.stored_as

    @property
    def is_for_a_worker(self) -> bool:
        """Whether it may take longer than a moment or much memory, so that no request should wait for it.

        Packed files hold much in little.
        """
        large = LARGE_OF_GRADES if self.file_format in ("grades", "qrels") else LARGE
        return self.size > large or self.path.suffix in PACKED

    @property
    def is_at_work(self) -> bool:
        return self.state in self.AT_WORK

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        """Delete the row and the file."""
        self.path.unlink(missing_ok=True)
        return super().delete(*args, **kwargs)


def uploads_folder() -> Path:
    """Return where uploads wait, made if it is not there. Web servers and workers share it."""
    path = Path(settings.MEDIA_ROOT) / "imports"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path
