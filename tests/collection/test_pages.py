"""The way through a list that is shown a page at a time."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory


def links(address: str, tag: str = '{% pages page "Pages of topics" %}', key: str = "page") -> dict[str, str]:
    """Return where the links of a page of 1,200 things lead, by their relation, from an address with its number."""
    request = RequestFactory().get(address)
    page = Paginator(range(1200), 50).get_page(request.GET.get(key))
    html = Template("{% load pages %}" + tag).render(Context({"page": page, "request": request}))
    return {rel: unescape(href) for href, rel in re.findall(r'href="([^"]+)" rel="(\w+)"', html)}


def test_a_filter_stays_in_the_address_on_the_way_through() -> None:
    assert links("/?by=ada+%26+ben&show=all&show=new&page=2") == {
        "prev": "?by=ada+%26+ben&show=all&show=new&page=1",
        "next": "?by=ada+%26+ben&show=all&show=new&page=3",
    }


@pytest.mark.parametrize("address", ["/", "/?page=", "/?page=none", "/?page=%22%3E%3Cscript%3E"])
def test_what_is_no_page_is_the_first(address: str) -> None:
    assert links(address) == {"next": "?page=2"}


def test_the_last_page_leads_back_only() -> None:
    assert links("/?page=9999") == {"prev": "?page=23"}


def test_two_lists_of_a_page_turn_apart_and_lead_to_their_headings() -> None:
    tag = '{% pages page "Pages of known grades" parameter="known" at="known" %}'

    assert links("/?page=4&known=1", tag, "known") == {"next": "?page=4&known=2#known"}


def test_a_list_of_one_page_has_no_way_through() -> None:
    page = Paginator(range(50), 50).get_page(1)
    tag = Template('{% load pages %}{% pages page "Pages of topics" %}')

    assert tag.render(Context({"page": page, "request": RequestFactory().get("/")})).strip() == ""
