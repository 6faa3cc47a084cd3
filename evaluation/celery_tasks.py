"""The Celery jobs: figures for pages."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from evaluation.computing import kept


@shared_task(name="evaluation.compute", ignore_result=True)
def compute(kind: str, study: int | None, asked: dict[str, Any], key: str) -> None:
    kept.compute(kind=kind, study=study, asked=asked, key=key)
