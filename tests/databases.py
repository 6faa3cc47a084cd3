"""What is asked on PostgreSQL and Redis too, and why: there the database or the broker makes a difference.

Everything is asked on the embedded defaults. `make test-differs` asks this again; docs/architecture.md says the rule.
"""

from __future__ import annotations

# By the reason, the tests below these paths.
DIFFERS = {
    "locks: who claims a place, saves an answer or comes in while others do": (
        "annotate/assignments", "annotate/crowd/test_entry_views", "annotate/crowd/test_pay",
        "annotate/crowd/test_returns", "annotate/participants", "annotate/sessions", "annotate/quality/test_gates",
        "annotate/quality/test_training", "annotate/work/test_answers",
        "annotate/work/test_changes_after_submission", "annotate/work/test_choices", "annotate/work/test_drafts",
        "annotate/work/test_later", "annotate/work/test_turns", "annotate/workshop/test_workshop",
        "account/test_guessing", "account/test_sessions",
    ),
    "rows in bulk: COPY, foreign keys that are checked at the end, which row stood in the way": (
        "collection/banks/test_changes", "collection/importing/test_banks_in_jsonl",
        "collection/importing/test_cited_reports", "collection/importing/test_collection",
        "collection/importing/test_crux", "collection/importing/test_files",
        "collection/importing/test_large_uploads", "collection/importing/test_nugget_banks",
        "collection/importing/test_rubric", "collection/importing/test_scores", "collection/importing/test_trec",
        "collection/importing/test_worker", "collection/documents/test_fetching",
        "collection/documents/test_stalled_sources",
        "collection/retrieval/test_retrieval", "demonstration/test_loading",
    ),
    "SQL: our own statements, JSON columns, aggregates, collation, server-side cursors": (
        "operating/test_backups",
        "collection/exporting", "collection/judgments", "collection/test_rankings", "collection/test_masking",
        "annotate/overview", "annotate/quality/test_people", "annotate/review", "evaluation/battles/test_battles",
        "evaluation/data", "evaluation/test_cached_results", "evaluation/figures/test_figures",
        "evaluation/leaderboards/test_citation_scores", "evaluation/leaderboards/test_sources",
        "evaluation/publishing/test_qrels", "judging/data", "test_migrations",
    ),
    "workers: leases, turns, what is stored in one transaction, a broker that is a server": (
        "judging/building/test_builds", "judging/building/test_chain", "judging/building/test_key_facts",
        "judging/building/test_one_owner",
        "judging/grading", "judging/gullibility", "judging/trial_runs/test_errands",
    ),
    "one journey through every page": (
        "attacks/test_gets",
    ),
}  # fmt: skip


def differs(path: str) -> bool:
    """Whether the tests of this file, named from `tests`, are among them."""
    name = path.removesuffix(".py")
    return any(name == each or name.startswith(f"{each}/") for paths in DIFFERS.values() for each in paths)
