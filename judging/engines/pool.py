"""Several servers that serve the same model: used evenly, left alone while they fail, looked at again later."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import httpx

from collection.http import Answer, Client
from judging.engines import EngineUnavailable, Stopping
from judging.engines.answers import tokens_of
from judging.engines.constraints import Endpoint
from judging.engines.dialect import REFUSED
from judging.engines.http import Access, Place, shown, wait_in_steps
from judging.engines.server_probe import Findings, examine, identify

# So many failures in a row, and the others do the work for a while.
FAILURES_IN_A_ROW = 3
LONGEST_DELAY = 30.0
# Is given a server's place, what was learnt of it, and the tokens of prompts and replies that this took.
Remember = Callable[[Place, Findings | None, tuple[int, int]], None]
# What a server said about itself counts for so long.
LOOK_SECONDS = 15.0
# So often it is asked whether to stop while all servers have as much to do as they may.
WAIT_SECONDS = 0.2
# The server of a text is asked although another has fewer requests under way: by so many.
SPILL = 8


def _affinity(address: str, text: str) -> bytes:
    """Rank the servers for a text: whichever are up, most texts stay where they were (rendezvous hashing)."""
    return blake2b(f"{address}\0{text}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


class Member:
    """One server, and how it fares."""

    def __init__(self, client: Client, access: Access, known: Findings | None) -> None:
        self.client = client
        self.alias, self.place = access.alias, access.place
        # Requests that may be under way. A client that got more would close connections in use to make room (httpcore
        # 1.0.9), and let requests time out that wait for one.
        self.most = access.concurrency
        self.address = shown(str(client.base_url))
        self.findings = known
        self.up = False
        self.looking = False
        self.looked_at = float("-inf")
        self.free_at = 0.0
        # Requests under way, and with those that wait for their turn.
        self.at_work = self.in_flight = 0
        # Of these, requests that somebody waits for: the others let them go first.
        self.urgent = 0
        self.taken = 0
        self.failures = 0
        self._problem = ""

    @property
    def problem(self) -> str:
        """What went wrong last, for everybody who may read of a job that asks here."""
        return self._problem

    @problem.setter
    def problem(self, text: str) -> None:
        self._problem = self.without_address(text)

    def without_address(self, text: str) -> str:
        """Return the text without where the server is, if that is not for everybody."""
        if self.alias:
            url = httpx.URL(self.address)
            for part in (self.address, url.netloc.decode(), url.host):
                text = text.replace(part, self.alias)
        return text


class Pool:
    """Hands out servers. All its methods may be called from several threads.

    `clients` come with how the server of each is asked. `remember` is called in the thread that learnt
    something of a server.
    """

    def __init__(
        self,
        clients: Sequence[tuple[Client, Access]],
        *,
        model: str,
        endpoint: Endpoint,
        timeout: float,
        decoding: Mapping[str, Any] | None = None,
        first_delay: float = 1.0,
        patience: float = 180.0,
        known: Mapping[Place, Findings] | None = None,
        remember: Remember | None = None,
    ) -> None:
        self.model = model
        self.endpoint = endpoint
        self.timeout = timeout
        self.decoding = decoding or {}
        self.first_delay = first_delay
        self.patience = patience
        self.members = [Member(client, access, (known or {}).get(access.place)) for client, access in clients]
        self._remember = remember
        self._lock = threading.Lock()
        self._freed = threading.Condition(self._lock)
        self._last_up = self._last_failed = float("-inf")

    @property
    def several(self) -> bool:
        """Whether there is more than one server."""
        return len(self.members) > 1

    def use(self, clients: Sequence[Client]) -> None:
        """Ask the servers by these clients from now on. What is under way stays with those before, uncounted."""
        with self._lock:
            self.members = [copy(member) for member in self.members]
            for member, client in zip(self.members, clients, strict=True):
                member.client, member.looking = client, False
                member.at_work = member.in_flight = member.urgent = 0

    def look(self, stopping: Callable[[], bool] | None = None) -> None:
        """Ask every server what it is now, unless that is known. Raises EngineUnavailable as `take` does."""
        at = time.monotonic()
        with self._lock:
            due = [one for one in self.members if not one.looking and at - one.looked_at > LOOK_SECONDS]
            for member in due:
                member.looking = True
        if due:
            with ThreadPoolExecutor(len(due)) as executor:
                list(executor.map(self._look_at, due))
        self._check_patience(stopping)

    def take(
        self, stopping: Callable[[], bool], *, avoid: Member | None = None, text: str = "", urgent: bool = False
    ) -> Member | None:
        """Wait for a server and return it, or None if told to stop. Release it afterwards.

        What is `urgent` goes before everything else that waits for its turn.

        It is the one to which all questions about the `text` go, which has it in its prefix cache then, or where that
        one has much more under way, the least busy one.

        Raises EngineUnavailable when none is up, and the job that asks has had no reply for longer than our patience.
        """
        while not stopping():
            at = time.monotonic()
            with self._lock:
                down = next((one for one in self.members if not one.up and not one.looking and one.free_at <= at), None)
                if down is not None:
                    down.looking = True
                elif usable := [one for one in self.members if one.up and one.free_at <= at]:
                    member = min(usable, key=lambda one: (one is avoid, one.in_flight, one.taken))
                    home = max(usable, key=lambda one: _affinity(one.address, text)) if text else member
                    if home is not avoid and home.in_flight <= member.in_flight + min(SPILL, home.most):
                        member = home
                    if self._entered(member, stopping, urgent=urgent):
                        member.taken += 1
                        return member
                    continue
            if down is not None:
                self._look_at(down)
            else:
                self._check_patience(stopping)
                wait_in_steps(min(self.first_delay, 0.1), stopping)
        return None

    def has_another(self, member: Member) -> bool:
        """Whether a request that failed here can go elsewhere at once."""
        at = time.monotonic()
        with self._lock:
            return any(one.up and one.free_at <= at for one in self.members if one is not member)

    def succeeded(self, member: Member) -> None:
        """Release a server that answered."""
        with self._lock:
            self._release(member)
            member.failures = 0
            self._last_up = time.monotonic()

    def failed(self, member: Member, problem: str) -> None:
        """Release a server that answered badly or not in time; after a few in a row it is left alone."""
        with self._lock:
            self._last_failed = time.monotonic()
            self._release(member)
            member.failures += 1
            member.problem = problem
            if member.failures >= FAILURES_IN_A_ROW:
                self._put_down(member)

    def lost(self, member: Member, problem: str) -> None:
        """Release a server that cannot be reached, or is no longer what it was."""
        with self._lock:
            self._release(member)
            member.failures += 1
            member.problem = problem
            self._put_down(member)

    def rest(self, member: Member, seconds: float) -> None:
        """Release a server that asked to be left alone for so long."""
        with self._lock:
            self._release(member)
            member.free_at = max(member.free_at, time.monotonic() + seconds)
            self._last_up = time.monotonic()

    def adapt(self, member: Member, answer: Answer, body: Mapping[str, Any]) -> bool:
        """Learn from a refusal how the server wants to be asked. Returns whether to ask it again, in another way."""
        with self._lock:
            if answer.status not in REFUSED or member.findings is None:
                return False
            abilities = member.findings.abilities
            adapted = abilities.dialect.adapted(answer, body)
            if adapted is None:
                return False
            member.findings = replace(member.findings, abilities=replace(abilities, dialect=adapted))
        if self._remember is not None:
            self._remember(member.place, member.findings, (0, 0))
        return True

    def still_serves(self, member: Member) -> bool:
        """Whether a server that found nothing still serves the model. If not, it is released, and looked at later."""
        try:
            identify(member.client, self.model, timeout=min(self.timeout, 10.0))
        except EngineUnavailable as error:
            self.lost(member, str(error))
            return False
        return True

    def _entered(self, member: Member, stopping: Callable[[], bool], *, urgent: bool) -> bool:
        """Wait until the server may get one more request. False if it went down meanwhile, or work shall stop."""
        member.in_flight += 1
        member.urgent += urgent
        entered = True
        while entered and (member.at_work >= member.most or (member.urgent and not urgent)):
            self._freed.wait(WAIT_SECONDS)
            resting = member.free_at > time.monotonic()
            entered = not (stopping() or resting or not member.up or member not in self.members)
        member.urgent -= urgent
        member.at_work += entered
        member.in_flight -= not entered
        if urgent:
            self._freed.notify_all()
        return entered

    def _release(self, member: Member) -> None:
        member.in_flight -= 1
        member.at_work -= 1
        self._freed.notify_all()

    def _put_down(self, member: Member) -> None:
        member.up = False
        member.looked_at = float("-inf")
        delay = min(self.first_delay * 2 ** min(member.failures - 1, 10), LONGEST_DELAY)
        member.free_at = time.monotonic() + delay * random.uniform(0.5, 1.0)  # noqa: S311

    def _look_at(self, member: Member) -> None:
        """Learn what a server is now. What it can do is tried out again only if it is another than before."""
        findings, problem = None, ""
        answers: list[Mapping[str, Any]] = []
        try:
            server = identify(member.client, self.model, timeout=min(self.timeout, 10.0))
            if member.findings is not None and member.findings.server == server:
                findings = member.findings
            else:
                findings = examine(
                    member.client,
                    server,
                    model=self.model,
                    endpoint=self.endpoint,
                    timeout=self.timeout,
                    decoding=self.decoding,
                    answers=answers,
                )
        except EngineUnavailable as error:
            problem = str(error)
        except BaseException:
            member.looking = False
            raise
        finally:
            if answers and self._remember is not None:
                prompts, replies = zip(*map(tokens_of, answers), strict=True)
                self._remember(member.place, findings, (sum(prompts), sum(replies)))
        with self._lock:
            member.looking = False
            if findings is None:
                member.problem = problem
                member.failures += 1
                self._put_down(member)
                return
            member.findings = findings
            member.looked_at = self._last_up = time.monotonic()
            member.up = True

    def _check_patience(self, stopping: Callable[[], bool] | None) -> None:
        with self._lock:
            if any(one.up or one.looking for one in self.members):
                return
            since = self._last_up
            if isinstance(stopping, Stopping) and stopping.heard is not None:
                heard = stopping.heard()
                # A job without any reply waits for servers that were there since it began, if only to fail.
                there = heard.began <= max(self._last_up, self._last_failed)
                since = max(heard.replied, heard.began if there else float("-inf"))
            if time.monotonic() - since > self.patience:
                raise EngineUnavailable(" ".join(one.problem for one in self.members))
