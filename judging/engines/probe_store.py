"""What is remembered of a judge's servers: learnt by workers as they go, or on demand from the judge's page."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import chain
from typing import Any

import httpx
from django.conf import settings
from django.db import transaction

from collection.models import Rater, User
from judging.engines import EngineUnavailable
from judging.engines.answers import tokens_of
from judging.engines.constraints import Endpoint
from judging.engines.http import Access, Place, addresses, shown
from judging.engines.pool import Remember
from judging.engines.server_probe import Findings, examine, identify
from judging.engines.servers import access_to, serving
from judging.engines.thinking import Thinking
from judging.engines.token_quotas import check_quota, note_use
from judging.models import Judge, ModelServer, ServerProbe, TokenUse

# Somebody looks at the page and waits; a model that has just been loaded may need as long for its first reply.
PROBE_SECONDS = 45.0

# Engines work in threads that have no database: what they learn waits here for one that has.
_learnt: deque[tuple[int, Place, Findings | None, tuple[int, int]]] = deque(maxlen=1000)


def remembered(judge: Judge) -> dict[Place, Findings]:
    """Return what is known of the judge's servers, by place."""
    probes = {probe.place: Findings.from_dict(probe.findings or {}) for probe in judge.probes.all()}
    return {place: findings for place, findings in probes.items() if findings is not None}


def room_of_thinking(judge: Judge) -> int:
    """Return the most tokens of thinking that a reply of the judge has room for, as far as its servers are known."""
    if judge.engine != Judge.Engine.OPENAI or judge.template is None:
        return 0
    thinking, bound = Thinking.of(judge.decoding), judge.template.reply_tokens is None
    rooms = [
        thinking.room(
            thinks=found.abilities.thinks if bound else found.abilities.thinks_freely,
            context_length=found.server.context_length,
        )
        for found in remembered(judge).values()
    ]
    return max(rooms, default=thinking.room(thinks=False, context_length=None))


def learner(judge: Judge) -> Remember:
    """Return what an engine tells its findings to; they are stored by the next `store_learnt`."""
    return lambda place, findings, tokens: _learnt.append((judge.pk, place, findings, tokens))


def store_learnt(*, by: User | None, at: datetime) -> None:
    """Store what engines of this process have learnt since, and count the tokens that it took as this researcher's."""
    while _learnt:
        judge_id, place, findings, tokens = _learnt.popleft()
        if judge := Judge.objects.filter(pk=judge_id).first():
            note_use(judge, by, TokenUse.For.PROBE, [tokens], at=at)
            if findings is not None and (place[1] is None or ModelServer.objects.filter(pk=place[1]).exists()):
                _store(judge, place, findings, at=at)


def probe_judge(judge: Judge, *, by: User | None, at: datetime) -> list[ServerProbe]:
    """Try out all servers that this judge asks for the user now, and remember what they are.

    What nobody's server is any more is forgotten. Raises QuotaSpent, and EngineUnavailable where a key is not readable.
    """
    servers = access_to(serving(judge.model, by))
    if not servers:
        return []
    check_quota(judge, by, at=at)
    answers: list[Mapping[str, Any]] = []
    with ThreadPoolExecutor(len(servers)) as executor:
        found = list(executor.map(lambda access: _probe(access, judge, answers), servers))
    note_use(judge, by, TokenUse.For.PROBE, map(tokens_of, answers), at=at)
    stored = chain(*ModelServer.objects.values_list("addresses", flat=True))
    judge.probes.exclude(address__in=map(shown, [*addresses(settings.JUDGE_BASE_URL), *stored])).delete()
    return [_store(judge, one.place, findings, at=at) for one, findings in zip(servers, found, strict=True)]


def change_attribute(judge: Judge, name: str, changed: Callable[[Any], Any]) -> None:
    """Change what is known of the judge beyond what it is made of: it goes with its grades wherever these go."""
    with transaction.atomic():
        rater = Rater.objects.select_for_update().get(pk=judge.rater_id)
        rater.attributes[name] = changed(rater.attributes.get(name))
        rater.save(update_fields=["attributes"])
    judge.rater = rater


def endpoint_of(decoding: Mapping[str, object]) -> Endpoint:
    """Return the endpoint that a judge's decoding settings name; chat unless they say otherwise."""
    return "completions" if decoding.get("endpoint") == "completions" else "chat"


def _probe(access: Access, judge: Judge, answers: list[Mapping[str, Any]]) -> Findings | str:
    """Return what was found, or why nothing could be. What the server said is added to `answers`."""
    try:
        with access.client(timeout=PROBE_SECONDS) as client:
            server = identify(client, judge.model)
            return examine(
                client,
                server,
                model=judge.model,
                endpoint=endpoint_of(judge.decoding),
                timeout=PROBE_SECONDS,
                decoding=judge.decoding,
                answers=answers,
            )
    except (EngineUnavailable, httpx.HTTPError) as error:
        return str(error)


def _store(judge: Judge, place: Place, found: Findings | str, *, at: datetime) -> ServerProbe:
    if isinstance(found, Findings) and (refused := set(found.abilities.dialect.dropped) - set(judge.not_sent)):
        change_attribute(judge, "not_sent", lambda known: sorted(refused | set(known or ())))
    problem = found if isinstance(found, str) else ""
    findings = None if isinstance(found, str) else found.as_dict()
    probe, _ = ServerProbe.objects.update_or_create(
        judge=judge,
        address=place[0],
        server_id=place[1],
        defaults={"findings": findings, "problem": problem, "probed_at": at},
    )
    return probe
