"""What would be asked of Prolific, with what it costs: the same for a preview and for the request that follows it."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from annotate.crowd import prolific
from annotate.crowd.pay_meter import pay_meter
from annotate.crowd.privacy import ERASED_SESSION
from annotate.crowd.session_flags import flags_by_session, flags_of_time
from annotate.models import CrowdEntry, CrowdSession, SiteRequest
from annotate.quality.flags import Flag
from annotate.sessions.outcomes import code_of
from collection.models import Study, User
from stats.plurals import counted

Kind = SiteRequest.Kind
State = CrowdSession.State
BLIND = " While you assess in the study, only flags of time are shown to you."
# As many people as Prolific takes in one payment.
MOST_AT_ONCE = 200
# Each is a request of its own.
MOST_RETURNS = 50
MOST_PLACES = 100_000
REVIEWED = {"APPROVED", "REJECTED", "RETURNED", "TIMED-OUT", "PARTIALLY APPROVED", "SCREENED OUT"}
# Why somebody is asked to return the submission. Prolific puts the words into its message to them.
REASONS = {
    State.NO_CONSENT: "You did not agree to take part.",
    State.SCREENED_OUT: "By your answers, or after the training or the attention checks, there was no work for you.",
    State.TOO_FEW: "Fewer tasks were judged than the study asks for.",
    State.NO_WORK: "No tasks were left when you came.",
}
REASONS_OF_ENDS = {
    CrowdSession.Because.CLOSED: "The study was closed while you were working.",
    CrowdSession.Because.REMOVED: "The researchers have ended your work in the study.",
}


def reason_to_return(session: CrowdSession) -> str:
    """Return why the person is asked to return the submission, for Prolific's message to them."""
    return REASONS_OF_ENDS.get(CrowdSession.Because(session.ended_because or "full")) or REASONS[State(session.state)]


class NotAsPlanned(Exception):
    """Nothing was sent: there is nothing to do, or what there is to do is not what was shown."""


@dataclass(frozen=True)
class Plan:
    """One request. `amounts`: by session, what is paid for it; 0 where nothing is. `refusal`: why there is none.

    `flags`: what deserves a look in sessions before they are approved. `cost` is without Prolific's fees, which depend
    on the account.
    """

    kind: Kind
    what: str = ""
    refusal: str = ""
    cost: Decimal | None = None
    cohort: str = ""
    sessions: Mapping[int, CrowdSession] = field(default_factory=dict)
    amounts: Mapping[int, Decimal] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[int, Sequence[Flag]] = field(default_factory=dict)

    @property
    def ticked(self) -> frozenset[int]:
        """The sessions that it concerns unless others are named: those without a flag."""
        return frozenset(pk for pk in self.sessions if not self.flags.get(pk))

    def of(self, chosen: Collection[int]) -> Plan:
        """Return the plan for these of its sessions alone."""
        sessions = {pk: session for pk, session in self.sessions.items() if pk in chosen}
        cost = sum((session.terms.reward for session in sessions.values()), Decimal(0))
        return replace(self, sessions=sessions, amounts={pk: self.amounts[pk] for pk in sessions}, cost=cost)

    def of_people(self, names: Collection[str]) -> set[int]:
        """Return the sessions of these people, by their pseudonyms. Raises NotAsPlanned for one who has none in it."""
        if unknown := set(names) - {str(session.participant) for session in self.sessions.values()}:
            raise NotAsPlanned(f"Nothing was sent. These have no such submission: {', '.join(sorted(unknown))}.")
        return {pk for pk, session in self.sessions.items() if str(session.participant) in names}

    @property
    def digest(self) -> str:
        """A name for exactly this plan: what was shown is what is sent."""
        amounts = {str(pk): str(amount) for pk, amount in sorted(self.amounts.items())}
        shown = json.dumps([self.kind, self.cohort, amounts, self.body, sorted(self.flags)], sort_keys=True)
        return hashlib.sha256(shown.encode()).hexdigest()[:20]


def plan_of(entry: CrowdEntry, kind: str, *, by: User, places: int | None = None, url: str = "") -> Plan:
    """Return what a request of this kind by this researcher would be now. It only reads.

    `url`: the entry's address, for a new study.
    """
    plans: Mapping[str, Callable[[], Plan]] = {
        Kind.STUDY: lambda: _study(entry, url),
        Kind.PLACES: lambda: _places(entry, places),
        Kind.APPROVALS: lambda: _approvals(entry, by),
        Kind.TOP_UPS: lambda: _top_ups(entry),
        Kind.RETURNS: lambda: _returns(entry),
    }
    return plans[kind]()


def internal_name(entry: CrowdEntry) -> str:
    """Return the study's name for its researchers on Prolific, by which it is found again."""
    return f"{entry.study.name} (Assize {entry.pk}-{entry.token[:6]})"


def _study(entry: CrowdEntry, url: str) -> Plan:
    if entry.site_study_id:
        return Plan(Kind.STUDY, refusal=f"The study exists on Prolific: {entry.site_study_id}.")
    if entry.most_people is None:
        return Plan(Kind.STUDY, refusal="Enter the places at the site first, under “Change” of the entry.")
    if not url.startswith("https://"):
        return Plan(Kind.STUDY, refusal="Prolific needs an address with https: set HTTPS for this site.")
    codes = [_code(entry.completion_code, "COMPLETED"), _code(entry.no_consent_code, "NO_CONSENT")]
    codes += [_code(entry.screen_out_code, "OTHER"), _code(entry.too_few_code, "OTHER")]
    body = {
        "name": str(entry.study),
        "internal_name": internal_name(entry),
        "description": f"You judge texts. It takes about {entry.estimated_minutes} minutes.",
        "external_study_url": f"{url}?{prolific.query_of_a_link()}",
        "is_external_study_url_secure": entry.signed_links,
        "prolific_id_option": "url_parameters",
        "completion_codes": [code for code in codes if code],
        "estimated_completion_time": entry.estimated_minutes,
        "total_available_places": entry.most_people,
        "reward": int(entry.reward * 100),
        "device_compatibility": ["desktop", "tablet", "mobile"],
        "peripheral_requirements": [],
    }
    what = f"A draft with {entry.most_people} places for {entry.currency} {entry.reward} each. You publish it there."
    return Plan(Kind.STUDY, what=what, cost=entry.reward * entry.most_people, body=body)


def _code(code: str, code_type: str) -> dict[str, Any] | None:
    if not code:
        return None
    return {"code": code, "code_type": code_type, "actions": [{"action": "MANUALLY_REVIEW"}]}


def _places(entry: CrowdEntry, places: int | None) -> Plan:
    study = study_at_the_site(entry)
    if not study:
        return Plan(Kind.PLACES, refusal="There is no study on Prolific yet.")
    before = entry.most_people or 0
    if places is None or not before < places <= MOST_PLACES:
        return Plan(Kind.PLACES, refusal=f"Enter more places than the {before} there are, at most {MOST_PLACES:,}.")
    what = f"{places} places instead of {before}, on Prolific and here."
    cost = entry.reward * (places - before)
    return Plan(Kind.PLACES, what=what, cost=cost, cohort=study, body={"total_available_places": places})


def _approvals(entry: CrowdEntry, by: User) -> Plan:
    """Plan to approve what is completed. Flags that follow from others' grades are not for who assesses there."""
    asked = _asked_about(entry, Kind.APPROVALS)
    sessions = _of_the_site(entry, [State.COMPLETED])
    waiting = [session for session in sessions if session.site_status not in REVIEWED and session.pk not in asked]
    if not waiting:
        return Plan(Kind.APPROVALS, refusal="No completed submission waits for approval.")
    chosen = {session.pk: session for session in waiting[:MOST_AT_ONCE]}
    blind = Study.objects.assessed_by(by).filter(pk=entry.study_id).exists()
    found = flags_of_time(pay_meter(entry)) if blind else flags_by_session(entry, pay_meter(entry))
    flags = {pk: found[pk] for pk in chosen if found.get(pk)}
    flagged = f" {counted(len(flags), 'others')} with flags: only if you tick them." if flags else ""
    shown = Plan(
        Kind.APPROVALS,
        what=f"{len(chosen) - len(flags)} of {len(waiting)} completed submissions are approved, so Prolific pays their "
        f"reward.{flagged}{BLIND if blind else ''}",
        sessions=chosen,
        amounts=dict.fromkeys(chosen, Decimal(0)),
        flags=flags,
    )
    return replace(shown, cost=shown.of(shown.ticked).cost)


def _top_ups(entry: CrowdEntry) -> Plan:
    """Plan the top-ups of one cohort: a payment is for one study of Prolific's."""
    if under_way := payment_under_way(entry):
        when = f"{under_way.asked_at:%-d %B %Y, %H:%M}"
        return Plan(Kind.TOP_UPS, refusal=f"Say first whether the payment of {when} was made: see the requests below.")
    owed: dict[str, dict[int, CrowdSession]] = defaultdict(dict)
    amounts: dict[int, Decimal] = {}
    for paid in pay_meter(entry).everybody.below:
        if not paid.session.session_id.startswith(ERASED_SESSION):
            owed[paid.session.cohort][paid.session.pk] = paid.session
            amounts[paid.session.pk] = paid.top_up
    if not owed:
        return Plan(Kind.TOP_UPS, refusal="Nobody is below the floor.")
    cohort, sessions = next(iter(owed.items()))
    chosen = dict(list(sessions.items())[:MOST_AT_ONCE])
    given = {pk: amounts[pk] for pk in chosen}
    return Plan(
        Kind.TOP_UPS,
        what=f"{len(chosen)} of {len(amounts)} people below the floor get what they lack to it, in cohort {cohort}.",
        cost=sum(given.values(), Decimal(0)),
        cohort=cohort,
        sessions=chosen,
        amounts=given,
    )


def _returns(entry: CrowdEntry) -> Plan:
    """Plan to ask those to return their submission who ended early and got no code for it."""
    asked = _asked_about(entry, Kind.RETURNS)
    ended = _of_the_site(entry, list(REASONS))
    waiting = [
        session
        for session in ended
        if not code_of(session) and session.site_status not in REVIEWED and session.pk not in asked
    ]
    if not waiting:
        return Plan(Kind.RETURNS, refusal="Nobody ended early without a code for it.")
    chosen = {session.pk: session for session in waiting[:MOST_RETURNS]}
    what = f"{len(chosen)} of {len(waiting)} people who ended early without a code are asked to return theirs."
    return Plan(Kind.RETURNS, what=what, sessions=chosen, amounts=dict.fromkeys(chosen, Decimal(0)))


def _of_the_site(entry: CrowdEntry, states: list[State]) -> list[CrowdSession]:
    sessions = entry.sessions.filter(state__in=states).exclude(session_id__startswith=ERASED_SESSION)
    return list(sessions.select_related("entry", "participant__user").order_by("arrived_at", "pk"))


def _asked_about(entry: CrowdEntry, kind: Kind) -> set[int]:
    """Return the sessions for which this was asked and not refused."""
    requests = entry.site_requests.filter(kind=kind).exclude(state=SiteRequest.State.FAILED)
    return {int(pk) for amounts in requests.values_list("amounts", flat=True) for pk in amounts}


def payment_under_way(entry: CrowdEntry) -> SiteRequest | None:
    """Return the payment of which nobody knows yet whether it was made."""
    return next((request for request in entry.site_requests.filter(kind=Kind.TOP_UPS) if request.is_open_payment), None)


def study_at_the_site(entry: CrowdEntry) -> str:
    """Return Prolific's study: the one created from here, or the one that people last came from; empty: none."""
    if entry.site_study_id:
        return entry.site_study_id
    newest = entry.sessions.order_by("-arrived_at").first()
    return newest.cohort if newest else ""
