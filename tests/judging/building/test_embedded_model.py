"""Every pipeline with the embedded model, by its command: what it writes may be poor, but each build ends in form."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import call_command

from collection.models import Collection
from judging.building.shipped import PIPELINES
from judging.models import Build
from tests.judging.building.world import check_its_form, with_everything
from tests.judging.engines.test_embedded import needs_the_model

pytestmark = [pytest.mark.django_db, pytest.mark.nightly]

# Few, since the model speaks about twenty a second here; what is cut off is counted as that fault.
REPLY_TOKENS = 48


@needs_the_model
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_a_pipeline_runs_to_its_end(pipeline: str, collection: Collection) -> None:
    with_everything(collection).topics.update(attributes={"category": "causal"})
    said = StringIO()

    call_command(
        "build", pipeline, collection=collection.name, engine="embedded", topics=["t0"], summaries="alpha-1",
        documents="alpha-1", depth="1", count="2", domains=["health"], reply_tokens=str(REPLY_TOKENS), stdout=said,
    )  # fmt: skip

    build = Build.objects.get()
    assert (build.state, build.reason) == ("done", ""), said.getvalue()
    check_its_form(build)
    assert all((call.completion_tokens or 0) <= REPLY_TOKENS for call in build.calls.all())
