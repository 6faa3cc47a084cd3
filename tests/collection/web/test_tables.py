"""A table is made once; page, files and terminal show the same cells."""

from __future__ import annotations

from django.template import Context, Template

from collection.web.tables import Column, Link, Table
from stats.completeness import UNMARKED, Completeness
from stats.intervals import Estimate, Sample

KAPPA = Estimate(0.5, 0.25, 0.75, 0.1, sample=Sample(n_topics=7))
NONE = Estimate(None, reason="rare grades")
COLUMNS = (
    Column("judge", "Judge", "judge"),
    Column("of", "Of", "link"),
    Column("n", "Items", "count"),
    Column("kappa", "κ", "estimate", parts=("value", "low", "high", "reason")),
    Column("share", "Share", "share"),
    Column("off", "Off by", "signed"),
    Column("note"),
    Column("places", "Places", filed=False),
)
ENDS = ("", "_low", "_high", "_reason")
FAILING = Completeness(expected=10, missing=0, replies=10, ungraded=9)
TABLE = Table.of(
    "Judges",
    COLUMNS,
    [
        (("owl", UNMARKED), Link("q1", "/q1/"), 1200, KAPPA, 0.5, 0.25, "=1", "1 to 2"),
        (("<b>", FAILING), None, None, NONE, None, -0.5, "", None),
    ],
)


def test_files_have_an_estimate_as_several_columns_and_a_judge_with_its_mark() -> None:
    assert TABLE.csv().splitlines() == [
        ",".join(["judge", "mark", "of", "n", *(f"kappa{end}" for end in ENDS), "share", "off", "note"]),
        "owl,,q1,1200,0.5,0.25,0.75,,0.5,0.25,'=1",
        "<b>,failing,,,,,,rare grades,,-0.5,",
    ]
    assert r"\caption{All judges}" in TABLE.latex("All judges")
    assert TABLE.as_dicts()[0]["kappa"] == KAPPA.as_dict()


def test_a_page_shows_columns_with_a_head_and_says_why_a_figure_is_missing() -> None:
    page = Template("{% load tables %}{% table of %}").render(Context({"of": TABLE}))

    assert page.count("<th scope=") == len([column for column in COLUMNS if column.title]) + 2
    assert '<a href="/q1/">q1</a>' in page
    assert "1,200" in page
    assert "−0.500" in page
    assert "&lt;b&gt;" in page
    assert 'title="rare grades"' in page
    assert FAILING.mark in page
    assert "note" not in page


def test_a_page_shows_the_first_rows_and_says_how_many_more_there_are() -> None:
    page = Template("{% load tables %}{% table of most=1 %}").render(Context({"of": TABLE}))

    assert page.count('<th scope="row">') == 1
    assert "1 more" in page


def test_a_terminal_prints_columns_that_say_something() -> None:
    title, head, *rows = TABLE.where(n=None).text().splitlines()

    assert (title, head.split()) == ("Judges", ["Judge", "κ", "Off", "by"])
    assert len(rows) == 1
    assert "–  rare grades" in rows[0]


def test_rows_of_a_group_lose_the_column_that_they_share() -> None:
    owl = TABLE.where("The owl", n=1200)

    assert (owl.title, owl.head()[:3], len(owl.rows)) == ("The owl", ["judge", "mark", "of"], 1)
    assert bool(owl)
    assert not TABLE.where(n=7)


def test_a_long_table_has_a_row_for_each_estimate_in_files() -> None:
    columns = [Column("pair", "Pair"), *(Column(name, name, "estimate", parts=("value", "low")) for name in "ab")]
    table = Table.of(
        "Pairs", columns, [["one", Estimate(0.5, low=0.25), Estimate(0.75)], ["two", None, None]], long="by"
    )

    assert table.head() == ["pair", "by", "value", "low"]
    assert table.filed() == [["one", "a", 0.5, 0.25], ["one", "b", 0.75, None]]
    assert [column.title for column, _ in table.shown()] == ["Pair", "a", "b"]
