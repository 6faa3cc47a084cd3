"""Lists that come page by page."""

from __future__ import annotations

from rest_framework.pagination import CursorPagination


class ById(CursorPagination):
    """Pages in the order of creation; `page_size` sets their size."""

    ordering = "id"
    page_size_query_param = "page_size"
    max_page_size = 1_000
