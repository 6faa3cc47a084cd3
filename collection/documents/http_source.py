"""Documents of an HTTP server: one request each, to an address with the document's id in it."""

from __future__ import annotations

import hashlib
import time
from urllib.parse import quote

import httpx
from django.core.exceptions import ValidationError

from collection.addresses import NotAnAddress, parts_of, web_address
from collection.documents.found import FetchFailed, Found, SourceFailed, text_in
from collection.documents.guard import AddressRefused, permit
from collection.http import Answer, ReplyTooBig, ask, new_client

PLACE = "{id}"
MOST_BYTES = 5 * 1024**2
TIMEOUT = 20.0
REDIRECTS = 3
DOTS = {".", ".."}
# Answers that are about whoever asks, or about the server, not about the document.
OF_THE_SERVER = frozenset({401, 407, 408, 425, 429, 500, 502, 503, 504})


def check_template(template: str) -> None:
    """Raise ValidationError unless {id} stands once in the path or the query of an address without a password."""
    try:
        url, other = (web_address(template.replace(PLACE, name)) for name in ("a", "b"))
    except NotAnAddress as error:
        raise ValidationError(str(error)) from error
    if url.userinfo:
        raise ValidationError("Enter the key in its own field: addresses are shown.")
    if template.count(PLACE) != 1 or _origin(url) != _origin(other) or url.fragment != other.fragment:
        raise ValidationError("Write {id} once, in the path or after the ?.")


def address_of(template: str, docno: str) -> httpx.URL:
    """Return the address of a document. Raises FetchFailed for an id that would lead elsewhere."""
    try:
        written = template.replace(PLACE, quote(docno, safe=""))
        if DOTS & set(parts_of(written).path.split("/")):
            raise FetchFailed("The id cannot stand in an address.")
        return web_address(written)
    except (NotAnAddress, UnicodeError) as error:
        raise FetchFailed("The id cannot stand in an address.") from error


class HttpDocuments:
    """The documents of a server. `key` is sent to it as a bearer token, and nowhere else."""

    def __init__(self, template: str, *, text_field: str = "", title_field: str = "", key: str = "") -> None:
        self.template = template
        self.text_field, self.title_field = text_field, title_field
        self.key = key
        self.client = new_client(permit=permit, timeout=TIMEOUT)

    def close(self) -> None:
        """End its connections."""
        self.client.close()

    def fetch(self, docno: str) -> Found:
        """Return the document, redirects within the time too. Raises FetchFailed; SourceFailed by its fault."""
        first = url = address_of(self.template, docno)
        late = time.monotonic() + TIMEOUT
        for _ in range(REDIRECTS + 1):
            answer = self._ask(url, with_key=_origin(url) == _origin(first), late=late)
            if answer.status not in (301, 302, 303, 307, 308):
                return self._read(answer)
            try:
                url = web_address(answer.location, within=url)
            except NotAnAddress as error:
                raise FetchFailed("The server redirects to what is not an address.") from error
        raise FetchFailed(f"The server redirects more than {REDIRECTS} times.")

    def _ask(self, url: httpx.URL, *, with_key: bool, late: float) -> Answer:
        """Send the request. A name and password in an address that the server redirects to are not sent."""
        headers = {"Authorization": f"Bearer {self.key}"} if self.key and with_key else {}
        asked = url.copy_with(userinfo=b"", fragment=None)
        timeout = max(late - time.monotonic(), 0.0)
        try:
            answer = ask(self.client, "GET", asked, timeout=timeout, most=MOST_BYTES, headers=headers)
        except AddressRefused as refused:
            raise SourceFailed(str(refused)) from refused
        except ReplyTooBig as big:
            raise FetchFailed(f"The document has more than {MOST_BYTES // 1024**2} MB.") from big
        except httpx.DecodingError as packed:
            raise FetchFailed("The server sent a compressed reply, which was not requested.") from packed
        except httpx.RequestError as error:
            raise SourceFailed(f"The server could not be read ({type(error).__name__}: {error}).") from error
        if answer.hides or (self.key and self.key.encode() in answer.content):
            raise FetchFailed("The server’s reply contains the key.")
        return answer

    def _read(self, answer: Answer) -> Found:
        if answer.status in OF_THE_SERVER:
            raise SourceFailed(f"The server answered {answer.status}.")
        if answer.status in (404, 410):
            raise FetchFailed(f"The server has no such document ({answer.status}).")
        if answer.status != 200:
            raise FetchFailed(f"The server answered {answer.status}.")
        if not self.text_field and answer.kind.partition(";")[0].strip().lower() in NOT_PLAIN:
            raise FetchFailed(f"The server sent {answer.kind[:80]}, not plain text. JSON needs the name of its field.")
        title, text = text_in(answer.content, text_field=self.text_field, title_field=self.title_field)
        return Found(text, title, hashlib.sha256(answer.content).hexdigest())


NOT_PLAIN = frozenset({"text/html", "application/xhtml+xml", "application/json", "application/pdf", "application/xml"})


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port
