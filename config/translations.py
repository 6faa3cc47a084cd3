"""Catalogues of translations: what is said is collected, they are kept up to it, and what they hold is compiled.

`make translations` does all three, and every start compiles what was compiled from another text. Babel reads and
writes catalogues, so nobody needs GNU gettext.

A catalogue has each message under its id, so that a rewording keeps the translations. The English one says what the id
stands for: the words, and their context, that a page looks up. Another language has its translation, and in a comment
the English that was translated. Where that is not the English now, the translation is used and is to be reviewed.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import NamedTemporaryFile
from textwrap import wrap
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
APPS = ("annotate", "collection", "config")
ENGLISH = settings.LANGUAGE_CODE
DOMAINS = ("django", "djangojs")
# From this share of words in the same order two messages are one, reworded: the rule of thumb of difflib, asked of
# words because many short ones share their letters, as “Accept” and “Except”.
ALIKE = 0.6
# The placeholders of both kinds, and what of HTML stands in a message.
PLACEHOLDER = re.compile(r"%\(\w+\)s|%[sd]|\{\w*(?::[^}]*)?\}")
TAG = re.compile(r"</?\w[^>]*>")
NO_DAY = datetime(2000, 1, 1, tzinfo=UTC)
UNKEPT = (
    b'"POT-Creation-Date',
    b'"PO-Revision-Date',
    b'"Report-Msgid-Bugs-To',
    b'"Project-Id-Version',
    b'"Language-Team',
)
_CALL = re.compile(r"\b(gettext|ngettext|pgettext|npgettext|_)\(")


class Message(NamedTuple):
    """What is said: its singular, its plural if it has one, and what it is said as, where one word may be two."""

    one: str
    many: str = ""
    context: str = ""


def languages() -> list[str]:
    """All that are translated into."""
    return [code for code, _ in settings.LANGUAGES if code != ENGLISH]


def catalogue_path(language: str, domain: str) -> Path:
    """Where the catalogue of what the server ("django") or the scripts ("djangojs") say is kept."""
    return ROOT / "locale" / to_locale(language) / "LC_MESSAGES" / f"{domain}.po"


def compiled_path(language: str) -> Path:
    """Where Django reads the compiled catalogue of what the server says: beside its text in a checkout."""
    return Path(settings.LOCALE_PATHS[0]) / to_locale(language) / "LC_MESSAGES" / "django.mo"


# --- What is said ---------------------------------------------------------------------------------


@cache
def said(domain: str) -> dict[Message, list[str]]:
    """Return every marked message with the files that say it, in their order. They are read once in a process."""
    found: dict[Message, list[str]] = {}
    for path, message in _of_server() if domain == "django" else _of_scripts():
        files = found.setdefault(message, [])
        if path not in files:
            files.append(path)
    return found


def _of_server() -> Iterator[tuple[str, Message]]:
    templates = ROOT / "templates"
    for path in sorted([*templates.rglob("*.html"), *templates.rglob("*.txt")]):
        name = str(path.relative_to(ROOT))
        for message in _in_template(path.read_text(encoding="utf-8")):
            yield name, message
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            yield from _in_code(path, "python")


def _of_scripts() -> Iterator[tuple[str, Message]]:
    for path in sorted((ROOT / "static/js").glob("*.js")):
        yield from _in_code(path, "javascript")


def _in_template(source: str) -> Iterator[Message]:
    """Django makes of a template the calls that are in it; each ends where it is a whole one."""
    calls = templatize(source)
    for begin in _CALL.finditer(calls):
        for end in re.finditer(r"\)", calls[begin.end() :]):
            try:
                call = ast.parse(calls[begin.start() : begin.end() + end.end()], mode="eval").body
            except SyntaxError:
                continue
            assert isinstance(call, ast.Call)
            words = [str(part.value) for part in call.args if isinstance(part, ast.Constant)]
            context = words.pop(0) if "pgettext" in begin.group(1) else ""
            yield Message(words[0], words[1] if begin.group(1).startswith("n") else "", context)
            break


def _in_code(path: Path, kind: str) -> Iterator[tuple[str, Message]]:
    from babel.messages.extract import DEFAULT_KEYWORDS, extract

    lazy = {f"{name}_lazy": DEFAULT_KEYWORDS[name] for name in ("gettext", "ngettext", "pgettext", "npgettext")}
    with path.open("rb") as file:
        for _, words, _, context in extract(kind, file, keywords={**DEFAULT_KEYWORDS, **lazy}):
            one, many = words if isinstance(words, tuple) else (words, "")
            yield str(path.relative_to(ROOT)), Message(one, many, context or "")


# --- Catalogues -----------------------------------------------------------------------------------


def read_by_id(language: str, domain: str) -> Any:
    """Return the catalogue by ids, as its file has it; an empty one where there is none yet."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import read_po

    path = catalogue_path(language, domain)
    if not path.exists():
        return Catalog(locale=to_locale(language))
    with path.open("rb") as file:
        return read_po(file, locale=to_locale(language), domain=domain)


def english(domain: str) -> dict[str, Message]:
    """Return what each id stands for."""
    found = {}
    for entry in read_by_id(ENGLISH, domain):
        name, one, many = (entry.id[0], *entry.string) if entry.pluralizable else (entry.id, entry.string, "")
        found[name] = Message(one, many, entry.context or "")
    found.pop("", None)  # the header
    return found


def read(language: str, domain: str) -> Any:
    """Return the catalogue by what a page looks up. What is not translated stands in it without words."""
    return _by_words(read_by_id(language, domain), english(domain))


def _by_words(catalogue: Any, messages: dict[str, Message]) -> Any:
    found = _without_messages(catalogue)
    for name, message in messages.items():
        entry = _entry(catalogue, name, message)
        words, flags = (entry.string, entry.flags) if entry else (None, ())
        found.add(_pair(message.one, message.many), words, flags=flags, context=message.context or None)
    return found


def _without_messages(catalogue: Any) -> Any:
    """Return an empty catalogue of the same language and translator."""
    from babel.messages.catalog import Catalog

    empty = Catalog(
        locale=catalogue.locale,
        project="Assize",
        charset="utf-8",
        header_comment=catalogue.header_comment,
        creation_date=NO_DAY,
        revision_date=NO_DAY,
    )
    empty.last_translator, empty.fuzzy = catalogue.last_translator, False
    return empty


def _entry(catalogue: Any, name: str, message: Message) -> Any:
    """Return the translation under the id, unless only one of the two has a plural."""
    entry = catalogue.get(name)
    return entry if entry and entry.pluralizable == bool(message.many) else None


def _pair(one: str, many: str) -> str | tuple[str, str]:
    return (one, many) if many else one


def _english_comment(message: Message) -> list[str]:
    """Return the lines of the comment beside a translation. Wrapped here: Babel would break words at their hyphens."""
    words = " / ".join(filter(None, (message.one, message.many))) + (f" ({message.context})" if message.context else "")
    return wrap(words, 100, break_on_hyphens=False, break_long_words=False)


def identified(domain: str) -> dict[str, Message]:
    """Return all marked messages by id: the id they have, that of the message they reword, or a new one.

    A message rewords one that is gone from the same file and is alike; of several, the most alike.
    """
    before, now, catalogue = english(domain), said(domain), read_by_id(ENGLISH, domain)
    ids = {message: name for name, message in before.items()}
    new = [message for message in now if message not in ids]
    gone = {name: message for name, message in before.items() if message not in now}
    pairs = [
        (difflib.SequenceMatcher(None, old.one.split(), message.one.split()).ratio(), name, message)
        for name, old in gone.items()
        for message in new
        if bool(old.many) == bool(message.many)
        and {file for file, _ in catalogue.get(name, old.context or None).locations} & {*now[message]}
    ]
    for likeness, name, message in sorted(pairs, reverse=True):
        if likeness >= ALIKE and name in gone and message not in ids:
            ids[message] = name
            del gone[name]
    for message in new:
        if message not in ids:
            ids[message] = _new_id(message, now[message][0], {*before, *ids.values()})
    return {ids[message]: message for message in now}


def _new_id(message: Message, file: str, taken: set[str]) -> str:
    """Return the file's name and the first words, and a number where another message has these."""
    words = re.findall(r"[a-z]+", re.sub(r"<[^>]*>|’|(?<=\))s", "", message.one.lower()))[:5]
    name = f"{Path(file).stem}.{'-'.join(words)}"
    return next(one for n in count(1) if (one := name if n == 1 else f"{name}-{n}") not in taken)


def update(language: str, domain: str, *, reviewed: bool = False) -> Any:
    """Give the catalogue what is said now, and take out what no longer is. Returns it; nothing is translated.

    What was reviewed is from then on a translation of the English now.
    """
    before = read_by_id(language, domain)
    after = _without_messages(before)
    for name, message in identified(domain).items():
        places = [(file, 0) for file in said(domain)[message]]
        words, comment, context = _pair(message.one, message.many), [], message.context or None
        if language != ENGLISH:
            entry = _entry(before, name, message)
            words, comment, context = (entry.string, entry.auto_comments, None) if entry else ("", [], None)
            if reviewed or not comment or not any(words):
                comment = _english_comment(message)
        after.add(_pair(name, message.many and name), words, places, auto_comments=comment, context=context)
    return after


def to_be_reviewed(language: str, domain: str) -> dict[str, str]:
    """Return by id the English that was translated, where it is not the English now."""
    catalogue = read_by_id(language, domain)
    entries = {
        name: (_entry(catalogue, name, message), _english_comment(message)) for name, message in english(domain).items()
    }
    return {
        name: " ".join(entry.auto_comments)
        for name, (entry, now) in entries.items()
        if entry and entry.auto_comments != now
    }


def as_po(catalogue: Any) -> bytes:
    from babel.messages.pofile import write_po

    file = io.BytesIO()
    write_po(file, catalogue, width=110, include_lineno=False, sort_by_file=False)
    # What changes with the day is in the history of the file.
    return b"".join(line for line in file.getvalue().splitlines(keepends=True) if not line.startswith(UNKEPT))


def compile_catalogues() -> None:
    """Write what Django reads (.mo) of each catalogue where it is missing or stale. Several processes may.

    Raises OSError where it cannot be written; what was there stays.
    """
    for language in stale_catalogues():
        write_compiled(language)


def stale_catalogues() -> list[str]:
    """Return the languages with a catalogue that was not compiled, or changed since. Times of files say neither."""
    return [language for language in languages() if not _is_compiled(language)]


def write_compiled(language: str) -> None:
    """Compile a catalogue. The version in its header is the hash of what it was compiled from."""
    from babel.messages.mofile import write_mo

    path = compiled_path(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Before the text is read: a change in between compiles it again, at the next start.
    version = _hash(language)
    catalogue = read(language, "django")
    catalogue.project, catalogue.version = "Assize", version
    with NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            write_mo(file, catalogue)
            file.close()
            Path(file.name).chmod(0o644)
            Path(file.name).replace(path)
        except BaseException:
            Path(file.name).unlink()
            raise


def _is_compiled(language: str) -> bool:
    version = f"Project-Id-Version: Assize {_hash(language)}\n"
    try:
        return version.encode() in compiled_path(language).read_bytes()
    except OSError:
        return False


def _hash(language: str) -> str:
    """Return the hash of the catalogue and of the English one, which says what its ids stand for."""
    texts = (catalogue_path(code, "django").read_bytes() for code in (ENGLISH, language))
    return hashlib.sha256(b"".join(texts)).hexdigest()


def as_script(catalogue: Any) -> bytes:
    """What `static/js/words.js` reads."""
    words = {
        message.id[0] if message.pluralizable else message.id: message.string
        for message in catalogue
        if message.id and all(message.string if message.pluralizable else [message.string])
    }
    listed = json.dumps(words, ensure_ascii=False, indent=1, sort_keys=True)
    return f"globalThis.assizeWords = {{ plural: (n) => {catalogue.plural_expr}, words: {listed} }};\n".encode()


def script_path(language: str) -> Path:
    return ROOT / "static/js/words" / f"{language}.js"


def files_of(language: str, *, reviewed: bool = False) -> Iterator[tuple[Path, bytes]]:
    """Each file of a language with what should stand in it."""
    server, scripts = (update(language, domain, reviewed=reviewed) for domain in DOMAINS)
    yield catalogue_path(language, "django"), as_po(server)
    yield catalogue_path(language, "djangojs"), as_po(scripts)
    if language != ENGLISH:
        yield script_path(language), as_script(_by_words(scripts, identified("djangojs")))


def faults_of(catalogue: Any) -> list[str]:
    """Say what of a catalogue is missing, uncertain, or would break a page."""
    faults = []
    for message in catalogue:
        if not message.id:
            continue
        ids = message.id if message.pluralizable else (message.id,)
        words = message.string if message.pluralizable else (message.string,)
        name = f"“{ids[0][:60]}”"
        if message.fuzzy:
            faults.append(f"{name} is marked as uncertain.")
        if not all(words) or (message.pluralizable and len(words) != catalogue.num_plurals):
            faults.append(f"{name} is not translated.")
            continue
        wanted = set(PLACEHOLDER.findall(ids[-1]))
        for word in words:
            given = set(PLACEHOLDER.findall(word))
            if given - wanted or (wanted - given and not (message.pluralizable and wanted - given <= COUNTS)):
                faults.append(f"{name} has other placeholders: {sorted(given ^ wanted)}.")
            if sorted(TAG.findall(word)) != sorted(TAG.findall(ids[-1])):
                faults.append(f"{name} has other tags.")
            if '"' in TAG.sub("", word) and '"' not in TAG.sub("", ids[-1]):
                faults.append(f"{name} has a straight quotation mark, which would end an attribute.")
            if any(sign in TAG.sub("", word) for sign in "<>"):
                faults.append(f"{name} has a bare angle bracket.")
    return faults


# A plural form may leave the number out: “one task”.
COUNTS = {"%(n)s", "{n}"}
