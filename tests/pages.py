"""Reads a form out of a page as a browser would send it, untouched."""

from __future__ import annotations

from html.parser import HTMLParser

UNSENT = {"submit", "button", "reset", "image", "file"}


class _Fields(HTMLParser):
    """The successful controls of the form whose tag has this class (HTML, “Constructing the entry list”)."""

    def __init__(self, css_class: str) -> None:
        super().__init__()
        self.css_class = css_class
        self.inside = False
        self.sent: dict[str, list[str]] = {}
        self.area = ""
        self.select = ""
        self.options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.inside = self.css_class in given.get("class", "").split()
        if not self.inside:
            return
        name = given.get("name", "")
        if tag == "input" and name and given.get("type") not in UNSENT and "disabled" not in given:
            if given.get("type") not in {"checkbox", "radio"} or "checked" in given:
                self.sent.setdefault(name, []).append(given.get("value", "on" if "checked" in given else ""))
        elif tag == "textarea":
            self.area = name
            self.sent[name] = [""]
        elif tag == "select":
            self.select, self.options = name, []
        elif tag == "option":
            self.options.append((given.get("value", ""), "selected" in given))

    def handle_data(self, data: str) -> None:
        if self.area:
            self.sent[self.area][0] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.inside = False
        elif tag == "textarea" and self.area:
            text = self.sent[self.area][0].replace("\r\n", "\n").removeprefix("\n")
            self.sent[self.area], self.area = [text.replace("\n", "\r\n")], ""
        elif tag == "select" and self.select:
            chosen = [value for value, selected in self.options if selected] or [value for value, _ in self.options[:1]]
            self.sent[self.select], self.select = chosen, ""


def form_in(html: str, css_class: str) -> dict[str, list[str]]:
    """Return what the browser sends of the form of this class if nobody touches it: values by name."""
    fields = _Fields(css_class)
    fields.feed(html)
    return fields.sent
