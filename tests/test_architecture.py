"""What linters (pyproject.toml) cannot say: who writes judgments, how large rooms, how long templates’ lines may be."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

ROOT = Path(settings.BASE_DIR)
APPS = ("annotate", "collection", "config", "evaluation", "judging", "stats")


def elsewhere(than: str, *statements: str) -> set[str]:
    """Return the modules, other than this one and migrations, in which one of the statements stands."""
    return {
        str(path.relative_to(ROOT))
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if path != ROOT / than and "migrations" not in path.parts
        if any(statement in path.read_text() for statement in statements)
    }


def test_judgments_and_their_history_are_written_in_one_module() -> None:
    writes = ("create", "bulk_create", "get_or_create", "update_or_create")
    statements = (f"{model}.objects.{write}(" for model in ("Judgment", "EarlierJudgment") for write in writes)

    assert elsewhere("collection/judgments/services.py", *statements) == set()


# Who sets a study up, or counts; none of these shows what follows from what somebody said.
SETS_UP = {
    "annotate/api.py",
    "annotate/management/commands/people/prolific.py",
    "annotate/prolific/unattended.py",
    "annotate/questions/views.py",
    "annotate/review/adjudication.py",
    "annotate/review/views.py",
    "annotate/studies/criterion_views.py",
    "annotate/studies/suggestion_views.py",
    "annotate/studies/views.py",
    "annotate/workshop/decision_views.py",
    "annotate/workshop/forms.py",
    "evaluation/management/commands/trust/judges.py",
    "judging/models/jobs.py",
    "judging/prompt_templates/views.py",
}


def test_what_was_said_in_a_study_is_reached_by_the_function_that_asks_who_may_read_it() -> None:
    assert elsewhere("collection/accounts/access.py", "Study.objects.of(") == SETS_UP


def test_mails_are_sent_by_one_module() -> None:
    makes = "annotate/notices/mails.py"

    assert elsewhere("collection/accounts/mails.py", "django.core.mail", "django.core import mail") == {makes}
    assert ".send()" not in (ROOT / makes).read_text()


def test_evaluation_and_judging_have_fewer_than_twenty_rooms() -> None:
    rooms = {
        app: [path.name for path in (ROOT / app).iterdir() if path.is_dir() and path.name != "__pycache__"]
        for app in ("evaluation", "judging")
    }

    assert {app: len(of) for app, of in rooms.items() if len(of) >= 20} == {}


def test_no_line_of_a_template_has_more_than_120_characters() -> None:
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sorted((ROOT / "templates").rglob("*.*"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if len(line) > 120
    ]

    assert long == []
