"""Catalogues of translations: what is said is collected, they are kept up to it, and what they hold is compiled.

`make translations` does all three, and every start compiles what was compiled from another text. Babel reads and
writes catalogues, so nobody needs GNU gettext.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple

from django.conf import settings
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
APPS = ("annotate", "collection", "config")
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
    """All but English, which needs no catalogue."""
    return [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]


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


def read(language: str, domain: str) -> Any:
    """Return the catalogue; an empty one where there is none yet."""
    from babel.messages.catalog import Catalog
    from babel.messages.pofile import read_po

    path = catalogue_path(language, domain)
    if not path.exists():
        return Catalog(
            locale=to_locale(language), project="Assize", charset="utf-8", creation_date=NO_DAY, revision_date=NO_DAY
        )
    with path.open("rb") as file:
        return read_po(file, locale=to_locale(language), domain=domain)


def update(language: str, domain: str) -> Any:
    """Give the catalogue what is said now, and take out what no longer is. Returns it; nothing is guessed."""
    from babel.messages.catalog import Catalog

    before = read(language, domain)
    after = Catalog(
        locale=to_locale(language),
        project="Assize",
        charset="utf-8",
        header_comment=before.header_comment,
        creation_date=NO_DAY,
        revision_date=NO_DAY,
    )
    after.last_translator, after.fuzzy = before.last_translator, False
    for (one, many, context), files in said(domain).items():
        kept = before.get(one, context or None)
        words = kept.string if kept and bool(many) == isinstance(kept.id, tuple) else None
        after.add((one, many) if many else one, words, locations=[(file, 0) for file in files], context=context or None)
    return after


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
    """Compile a catalogue. The version in its header is the hash of the text it was compiled from."""
    from babel.messages.mofile import write_mo

    path = compiled_path(language)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Before the text is read: a change in between compiles it again, at the next start.
    version = _hash(catalogue_path(language, "django"))
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
    version = f"Project-Id-Version: Assize {_hash(catalogue_path(language, 'django'))}\n"
    try:
        return version.encode() in compiled_path(language).read_bytes()
    except OSError:
        return False


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


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


def files_of(language: str) -> Iterator[tuple[Path, bytes]]:
    """Each file of a language with what should stand in it."""
    server, scripts = update(language, "django"), update(language, "djangojs")
    yield catalogue_path(language, "django"), as_po(server)
    yield catalogue_path(language, "djangojs"), as_po(scripts)
    yield script_path(language), as_script(scripts)


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
