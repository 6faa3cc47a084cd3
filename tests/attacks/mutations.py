"""Files that are almost right: seeded changes to good ones, of bytes, of lines, of values and of what packs them."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import zipfile
from collections.abc import Callable

# The short form runs with all tests, the long one by `make nightly`.
FULL = os.environ.get("ATTACKS") == "full"

Random = random.Random
Mutate = Callable[[bytes, Random], bytes]

VALUES = [
    b"null", b"true", b"[]", b"{}", b'""', b"0", b"-1", b"-0.0", b"1e5", b"1e999", b"-1e999", b"NaN", b"nan", b"inf",
    b"-Infinity", b"9" * 5_000, b"1" + b"0" * 400, b"2147483648", b"9223372036854775808", b"18446744073709551616",
    b"0001-01-01T00:00:00+14:00", b"9999-12-31T23:59:59-12:00", "٣".encode(), "²".encode(), b"1_000", b"0x10", b" ",
    b'"\\ud800"', b'"\\u0000"', b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\r\n", b"\x0b\x0c\x85", b"\xe2\x80\xa8",
    b"[" * 200, b'{"a":' * 200, b"[" * 5_000, b"=cmd()", b"'", b'"', b",", b"\\", b"%s%n{}{0}", b"../../etc/passwd",
    "😀".encode() * 50, b"x" * 3_000, b"<script>alert(1)</script>", b"'; DROP TABLE judgment; --",
]  # fmt: skip


def mutated(good: bytes, chance: Random) -> bytes:
    """Return the content with one to three changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        good = chance.choice(MUTATIONS)(good, chance)
    return good


def _place(content: bytes, chance: Random) -> int:
    return chance.randrange(len(content) + 1)


def _insert(content: bytes, chance: Random) -> bytes:
    at = _place(content, chance)
    return content[:at] + chance.choice(VALUES) + content[at:]


def _remove(content: bytes, chance: Random) -> bytes:
    at = _place(content, chance)
    return content[:at] + content[at + chance.randrange(1, 20) :]


def _cut_off(content: bytes, chance: Random) -> bytes:
    return content[: _place(content, chance)]


def _flip(content: bytes, chance: Random) -> bytes:
    at = min(_place(content, chance), max(len(content) - 1, 0))
    return content[:at] + bytes([chance.randrange(256)]) + content[at + 1 :]


def _repeat(content: bytes, chance: Random) -> bytes:
    start, end = sorted((_place(content, chance), _place(content, chance)))
    return content[:end] + content[start:end] + content[end:]


def _lines(content: bytes, chance: Random) -> bytes:
    lines = content.splitlines(keepends=True) or [b""]
    match chance.randrange(4):
        case 0:
            chance.shuffle(lines)
        case 1:
            lines.append(chance.choice(lines))
        case 2:
            lines.pop(chance.randrange(len(lines)))
        case _:
            return content.replace(b"\n", chance.choice([b"\r", b"\r\n", b"\n\n", b"\x00\n", b"\xe2\x80\xa8"]))
    return b"".join(lines)


def _another_value(content: bytes, chance: Random) -> bytes:
    """Put another value where a number, a quoted text or a word stands."""
    found = list(re.finditer(rb'"[^"\n]*"|-?\d+(\.\d+)?|[A-Za-z_]+', content))
    if not found:
        return content + chance.choice(VALUES)
    match = chance.choice(found)
    value = chance.choice(VALUES)
    if match[0].startswith(b'"') and chance.random() < 0.5:
        value = b'"' + value.strip(b'"') + b'"'
    return content[: match.start()] + value + content[match.end() :]


def _another_name(content: bytes, chance: Random) -> bytes:
    """Give one key or column the name of another."""
    names = re.findall(rb"[a-z_]{3,}", content)
    if len(names) < 2:
        return content
    old, new = chance.choice(names), chance.choice(names)
    return content.replace(old, new, chance.choice((1, -1)))


MUTATIONS: list[Mutate] = [
    _insert, _remove, _cut_off, _flip, _repeat, _lines, _another_value, _another_value, _another_value, _another_name
]  # fmt: skip


def mutated_gzip(good: bytes, chance: Random) -> bytes:
    """Change the content, or what packs it."""
    if chance.random() < 0.7:
        return gzip.compress(mutated(good, chance), mtime=0)
    return chance.choice((_insert, _remove, _cut_off, _flip))(gzip.compress(good, mtime=0), chance)


def mutated_zip(files: dict[str, bytes], chance: Random) -> bytes:
    """Change one of the files, its name, or what packs them."""
    files = dict(files)
    name = chance.choice(sorted(files))
    match chance.randrange(4):
        case 0 | 1:
            files[name] = mutated(files[name], chance)
        case 2:
            odd = ["../x", "/etc/x", "a\\b", "a:b", "x" * 300, "CON", name.upper(), "a/" * 200 + "b", "\x01", "é" * 150]
            files[chance.choice(odd)] = files.pop(name)
        case _:
            del files[name]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(zipfile.ZipInfo(path), content)
    whole = packed.getvalue()
    return chance.choice((_insert, _remove, _cut_off, _flip))(whole, chance) if chance.random() < 0.3 else whole
