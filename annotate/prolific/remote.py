"""Prolific's API, as far as it is used here: its addresses, bodies and answers (docs.prolific.com/api-reference).

The host is PROLIFIC_API_URL and nothing else: no address from an answer is followed, and no redirect.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import httpx
from django.conf import settings

from annotate.participants.arrivals import AN_ID
from collection.http import ReplyTooBig, ask, client_beyond

TIMEOUT_SECONDS = 20.0
MOST_BYTES = 4 * 2**20
PAGE = 100
MOST_PAGES = 200
LONGEST_SAID = 1_000
REMEDIES = {
    401: "Prolific does not accept the token. Create a new one there and enter it here.",
    403: "The token’s account may not do this. Use one of the workspace that the study belongs to.",
    404: "Prolific does not know this under the token’s account. Check that the study belongs to it.",
    429: "Too many requests. Wait a minute and try again.",
}


class ProlificRefused(Exception):
    """Prolific said no, so nothing was done. The message tells what, where and how to fix it."""


class NoAnswer(Exception):
    """No usable answer came: nobody knows whether it was done."""


class ProlificApi:
    """Requests under one researcher's token, which stands in no message."""

    def __init__(self, token: str) -> None:
        self._token = token

    # --- Studies ----------------------------------------------------------------------------------

    def create_study(self, body: Mapping[str, Any]) -> str:
        """Create a draft and return its id. It is published on Prolific, by hand."""
        return _id_in(self._ask("POST", "studies/", json=body))

    def find_study(self, internal_name: str) -> str | None:
        """Return the id of the account's study of this internal name, if there is one."""
        for study in self._pages("studies/"):
            if study.get("internal_name") == internal_name:
                return _id_in(study)
        return None

    def set_places(self, study_id: str, places: int) -> None:
        self._ask("PATCH", f"studies/{_safe(study_id)}/", json={"total_available_places": places})

    # --- Submissions ------------------------------------------------------------------------------

    def submissions(self, study_id: str) -> Iterator[Mapping[str, Any]]:
        return self._pages(f"studies/{_safe(study_id)}/submissions/")

    def approve(self, submission_ids: Sequence[str]) -> None:
        """Ask for the approval of these: it is done some minutes later, and once however often it is asked."""
        self._ask("POST", "submissions/bulk-approve/", json={"submission_ids": list(submission_ids)})

    def request_return(self, submission_id: str, reason: str) -> None:
        body = {"request_return_reasons": [reason]}
        self._ask("POST", f"submissions/{_safe(submission_id)}/request-return/", json=body)

    # --- Bonuses ----------------------------------------------------------------------------------

    def set_up_bonuses(self, study_id: str, amounts: Mapping[str, Decimal]) -> tuple[str, Decimal]:
        """Prepare bonuses by submission; nobody is paid by that. Returns its id, and what people will get in all."""
        lines = "\n".join(f"{_safe(submission)},{amount:.2f}" for submission, amount in amounts.items())
        answer = self._ask("POST", "submissions/bonus-payments/", json={"study_id": study_id, "csv_bonuses": lines})
        try:
            return _id_in(answer), Decimal(str(answer["amount"])) / 100
        except (KeyError, ArithmeticError) as odd:
            raise NoAnswer("Prolific’s answer does not say what the bonuses come to. Nobody was paid.") from odd

    def pay_bonuses(self, bonus_id: str) -> None:
        """Pay what was set up. Not idempotent: sent twice, Prolific pays people twice."""
        self._ask("POST", f"bulk-bonus-payments/{_safe(bonus_id)}/pay/")

    # --- Asking -----------------------------------------------------------------------------------

    def _pages(self, path: str) -> Iterator[Mapping[str, Any]]:
        for number in range(MOST_PAGES):
            answer = self._ask("GET", path, params={"limit": PAGE, "offset": number * PAGE})
            rows = answer.get("results")
            if not isinstance(rows, list):
                raise NoAnswer("Prolific’s answer has no list of results.")
            yield from (row for row in rows if isinstance(row, Mapping))
            if len(rows) < PAGE:
                return

    def _ask(self, method: str, path: str, **sent: Any) -> dict[str, Any]:
        """Return the JSON object of a good answer. Raises ProlificRefused and NoAnswer."""
        base = f"{settings.PROLIFIC_API_URL}/api/v1/"
        headers = {"Authorization": f"Token {self._token}"}
        try:
            with client_beyond(base, timeout=TIMEOUT_SECONDS, base_url=base, headers=headers) as client:
                came = ask(client, method, path, timeout=TIMEOUT_SECONDS, most=MOST_BYTES, **sent)
        except ReplyTooBig:
            raise NoAnswer("Prolific’s answer is too long to be read.") from None
        except httpx.HTTPError as failed:
            raise NoAnswer(f"No answer from {settings.PROLIFIC_API_URL} ({type(failed).__name__}).") from None
        if 400 <= came.status < 500:
            remedy = REMEDIES.get(came.status, "Correct this and try again.")
            raise ProlificRefused(f"Prolific answered {came.status}: {self._said(came.content)} {remedy}")
        if not 200 <= came.status < 300:
            raise NoAnswer(f"Prolific answered {came.status}: {self._said(came.content)}")
        try:
            answer = json.loads(came.content or b"{}")
        except (ValueError, RecursionError) as odd:
            raise NoAnswer("Prolific’s answer is not JSON.") from odd
        return answer if isinstance(answer, dict) else {}

    def _said(self, content: bytes) -> str:
        """Return what an error says, without the token."""
        try:
            error = json.loads(content)["error"]
            words = error.get("detail") or error.get("title") or error
            said = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            said = content.decode(errors="replace")
        return " ".join(said.replace(self._token, "…").split())[:LONGEST_SAID] or "(no words)"


def _safe(remote_id: str) -> str:
    if not AN_ID.fullmatch(remote_id):
        raise ProlificRefused(f"“{remote_id[:80]}” is not an id of Prolific.")
    return remote_id


def _id_in(answer: Mapping[str, Any]) -> str:
    remote_id = answer.get("id")
    if not isinstance(remote_id, str) or not AN_ID.fullmatch(remote_id):
        raise NoAnswer("Prolific’s answer contains no id.")
    return remote_id
