"""Files that come in, plain or gzipped: read line by line, and what is wrong with them by line, reason and remedy."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, cast

from stats.plurals import counted

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")
GZIP = b"\x1f\x8b"
MOST_UNPACKED = 4 * 1024**3
MOST_PROBLEMS = 20
# Of what a file names and the collection lacks, so many are listed.
MOST_NAMED = 5
# The longest real line seen, a graded topic of the RUBRIC workbench, has 1.7 MB.
MOST_LINE_BYTES = 32 * 1024 * 1024


class BrokenLine(ValueError):
    """A line cannot be used: why, and how to mend it."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy


@dataclass(frozen=True)
class Problem:
    """What is wrong with one line, or with the whole file where `line` is None."""

    line: int | None
    reason: str
    remedy: str = ""

    def __str__(self) -> str:
        where = "" if self.line is None else f"line {self.line}: "
        return f"{where}{self.reason}" + (f" {self.remedy}" if self.remedy else "")


class BrokenFile(ValueError):
    """A file cannot be used. It says where, why and how to mend it; nothing of it was kept."""

    def __init__(self, name: str, problems: list[Problem]) -> None:
        self.name = name
        self.problems = problems = sorted(problems, key=lambda problem: problem.line or 0)
        listed = "\n".join(f"{name}, {problem}" if problem.line else f"{name}: {problem}" for problem in problems)
        more = "\nThere may be more." if len(problems) >= MOST_PROBLEMS else ""
        super().__init__(f"{listed}{more}\nNothing was imported.")


class ReferencesMissing(BrokenFile):
    """A file names what is not here yet: it can be imported once that is."""


class Missing:
    """What a file names and the collection lacks, told once for the whole file."""

    def __init__(self, file: InputFile, what: str, remedy: str) -> None:
        self.file = file
        self.what = what
        self.remedy = remedy
        self.lines: dict[str, int] = {}

    def note(self, name: str, line: int) -> None:
        """Note that this line names what is missing."""
        self.lines.setdefault(name, line)

    def problem(self) -> Problem | None:
        """Return what is missing, in a sentence; None where nothing is."""
        if not self.lines:
            return None
        named = [f"“{name}” (line {line})" for name, line in islice(self.lines.items(), MOST_NAMED)]
        more = ["…"] if len(self.lines) > MOST_NAMED else []
        are = "is" if len(self.lines) == 1 else "are"
        said = f"{counted(len(self.lines), self.what)} {are} not in the collection: {', '.join(named + more)}."
        return Problem(None, said, self.remedy)


def refuse_missing(*missing: Missing) -> None:
    """Raise ReferencesMissing if anything is missing and nothing else is wrong with the file."""
    problems = [problem for one in missing if (problem := one.problem())]
    file = missing[0].file
    if problems:
        raise (BrokenFile if file.problems else ReferencesMissing)(file.name, [*file.problems, *problems])


class InputFile:
    """A file that is being read, plain or gzipped, its problems so far, and how far it was read.

    Use it as a context manager: leaving it raises BrokenFile if any line was broken. `name` is what
    messages call it; `advance` is told the bytes read from the disk.
    """

    def __init__(self, path: Path, *, name: str = "", advance: Callable[[int], object] | None = None) -> None:
        self.path = path
        self.name = name or path.name
        self.problems: list[Problem] = []
        self._advance = advance

    def __enter__(self) -> InputFile:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None and self.problems:
            raise BrokenFile(self.name, self.problems)

    def refuse(self, line: int | None, broken: BrokenLine) -> None:
        """Note that a line is broken, and go on to find others. Raises BrokenFile when there are too many."""
        self.problems.append(Problem(line, broken.reason, broken.remedy))
        if len(self.problems) >= MOST_PROBLEMS:
            raise BrokenFile(self.name, self.problems)

    def line(self, number: int) -> _Line:
        """Return a context in which a BrokenLine is noted as this line's."""
        return _Line(self, number)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line that is not blank, without its line end."""
        for number, raw in self.raw_lines():
            if raw.strip():
                try:
                    line = decoded(raw.removesuffix(b"\n").removesuffix(b"\r"))
                except BrokenLine as broken:
                    self.refuse(number, broken)
                else:
                    yield number, line

    def lines_with_ends(self) -> Iterator[str]:
        """Yield every line as it is, for Python's csv module, whose fields may hold line ends."""
        for number, raw in self.raw_lines():
            try:
                yield decoded(raw)
            except BrokenLine as broken:
                raise BrokenFile(self.name, [Problem(number, broken.reason, broken.remedy)]) from broken

    def raw_lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of every line with its end, unpacked. Raises BrokenFile."""
        number = unpacked = read = 0
        try:
            with self.path.open("rb") as stored:
                packed = stored.read(len(GZIP)) == GZIP
                stored.seek(0)
                lines = cast("IO[bytes]", gzip.GzipFile(fileobj=stored)) if packed else stored
                for number, raw in self._bounded(lines):
                    unpacked += len(raw)
                    if packed and unpacked > MOST_UNPACKED:
                        reason = f"Unpacked, the file is larger than {MOST_UNPACKED // 1024**3} GB."
                        raise BrokenFile(self.name, [Problem(number, reason, "Split it.")])
                    if self._advance:
                        at = stored.tell() if packed else unpacked
                        self._advance(at - read)
                        read = at
                    yield number, raw
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            problem = Problem(number + 1, f"The gzip file is incomplete or damaged ({error}).", "Download it again.")
            raise BrokenFile(self.name, [problem]) from error
        except OSError as error:
            reason = f"The file cannot be read ({error.strerror})."
            raise BrokenFile(self.name, [Problem(None, reason, "Check the path.")]) from error

    def _bounded(self, stream: IO[bytes]) -> Iterator[tuple[int, bytes]]:
        """Yield the stream's lines by number. Raises BrokenFile for a line without an end in sight."""
        for number, raw in enumerate(iter(lambda: stream.readline(MOST_LINE_BYTES + 1), b""), start=1):
            if len(raw) > MOST_LINE_BYTES:
                reason = f"The line is longer than {MOST_LINE_BYTES // 1024**2} MB."
                raise BrokenFile(self.name, [Problem(number, reason, "Write one record per line.")])
            if number == 1:
                if raw.startswith(UTF_16_MARKS):
                    reason = "The file is UTF-16, not UTF-8."
                    raise BrokenFile(self.name, [Problem(None, reason, "Save it as UTF-8 and import it again.")])
                raw = raw.removeprefix(BYTE_ORDER_MARK)
                if b"\r" in raw.rstrip(b"\r\n"):
                    reason = "The lines end with CR alone, as on very old Macs."
                    raise BrokenFile(self.name, [Problem(1, reason, "Save the file with Unix line ends (LF).")])
            yield number, raw


class _Line:
    """Notes a BrokenLine that is raised inside it."""

    def __init__(self, file: InputFile, number: int) -> None:
        self.file = file
        self.number = number

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if isinstance(error, BrokenLine):
            self.file.refuse(self.number, error)
            return True
        return False


def decoded(raw: bytes) -> str:
    """Return the line's text. Raises BrokenLine if it is not UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BrokenLine(
            f"Byte {error.start + 1} of the line is not UTF-8.", "Save the file as UTF-8 and import it again."
        ) from error
