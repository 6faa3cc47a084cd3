"""Tables to take away, as CSV for a spreadsheet or as LaTeX for a paper."""

from __future__ import annotations

from django.http import Http404, HttpResponse

from collection.web.tables import Table

TABLE_FORMATS = ("csv", "tex")


def table_download(table: Table, *, table_format: str, stem: str, caption: str) -> HttpResponse:
    """Return the table as `stem.csv` or as `stem.tex` with the caption."""
    if table_format not in TABLE_FORMATS:
        raise Http404("Tables are files of CSV or LaTeX.")
    if table_format == "tex":
        return as_file(table.latex(caption), f"{stem}.tex", "application/x-tex")
    return as_file(table.csv(), f"{stem}.csv", "text/csv")


def as_file(content: str | bytes, filename: str, content_type: str) -> HttpResponse:
    """Return the content as a download."""
    if isinstance(content, str):
        content_type += "; charset=utf-8"
    response = HttpResponse(content, content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response
