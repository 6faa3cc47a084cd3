"""Parts of a task's page that are drawn once: what they show is what the page would show without keeping them."""

from __future__ import annotations

import pytest
from django.template import Context, Engine, TemplateSyntaxError
from django.template.backends.django import DjangoTemplates
from django.test import Client, RequestFactory
from django.urls import reverse

from annotate.templatetags import kept
from annotate.work.pace import claim_ahead
from collection.models import Study, User
from tests.annotate.factories import NOON, a_report_task, in_hands_of

ENGINE = Engine(libraries={"kept": "annotate.templatetags.kept"})


def draw(template: str, *contexts: dict[str, object]) -> list[str]:
    made = ENGINE.from_string("{% load kept %}" + template)
    return [made.render(Context(context)) for context in contexts]


def test_what_is_live_is_drawn_at_each_view_and_the_rest_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "compares", False)

    first, second, other = draw(
        "{% kept by key %}<{{ still }}|{% live %}{{ moves }}{% endlive %}>{% endkept %}",
        {"key": 1, "still": "a", "moves": "&"},
        {"key": 1, "still": "b", "moves": 2},
        {"key": 2, "still": "b", "moves": 3},
    )

    assert (first, second, other) == ("<a|&amp;>", "<a|2>", "<b|3>")


def test_nothing_is_kept_without_a_key() -> None:
    template = "{% kept by key %}{{ still }}{% live %}{{ moves }}{% endlive %}{% endkept %}"

    assert draw(template, {"key": None, "still": 1, "moves": 2}, {"key": None, "still": 3, "moves": 4}) == ["12", "34"]


def test_a_part_in_a_part_is_drawn_with_it() -> None:
    template = (
        "{% for n in all %}{% kept by x %}[{% kept by y %}{{ y }}{% live %}{{ n }}{% endlive %}{% endkept %}]"
        "{% endkept %}{% endfor %}"
    )

    assert draw(template, {"all": [1, 2], "x": "x", "y": "y"}) == ["[y1][y2]"]


def test_what_the_tag_does_not_name_is_found_by_the_tests() -> None:
    with pytest.raises(kept.KeptWrongly):
        draw("{% kept by key %}{{ still }}{% endkept %}", {"key": 1, "still": "a"}, {"key": 1, "still": "b"})


def test_a_part_says_what_it_depends_on() -> None:
    with pytest.raises(TemplateSyntaxError, match="names what the part depends on"):
        draw("{% kept by %}{% endkept %}", {})


def test_a_part_keeps_so_many_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 2)

    template = ENGINE.from_string("{% load kept %}{% kept by key %}{{ key }}{% endkept %}")

    assert [template.render(Context({"key": key})) for key in (1, 2, 3, 1)] == ["1", "2", "3", "1"]
    (node,) = template.nodelist.get_nodes_by_type(kept.Kept)
    assert isinstance(node, kept.Kept)
    assert len(node.drawn) == 2


def test_a_page_is_drawn_once_and_its_blocks_are_those_of_its_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "compares", False)
    sources = {
        "base": "<{% block title %}base{% endblock %}>{% block main %}{% endblock %}",
        "task": (
            '{% extends "base" %}{% load kept %}{% block title %}{{ still }}{% endblock %}'
            "{% block main %}[{{ still }}{% live %}{% block text %}of a task{% endblock %}{{ moves }}{% endlive %}]"
            "{% endblock %}"
        ),
        "report": '{% extends "task" %}{% block text %}report {{ moves }}, {{ block.super }} {% endblock %}',
    }
    engine = DjangoTemplates(
        {
            "NAME": "kept",
            "DIRS": [],
            "APP_DIRS": False,
            "OPTIONS": {
                "loaders": [
                    ("django.template.loaders.cached.Loader", [("django.template.loaders.locmem.Loader", sources)])
                ],
                "libraries": {"kept": "annotate.templatetags.kept"},
            },
        }
    )
    monkeypatch.setattr("django.template.loader.get_template", engine.get_template)
    request = RequestFactory().get("/")

    def draw(by: str, **context: object) -> str:
        return kept.drawn_page(request, "report", context, by=(by,))

    assert draw("x", still=1, moves="&") == "<1>[1report &amp;, of a task &amp;]"
    assert draw("x", still=2, moves=2) == "<1>[1report 2, of a task 2]"
    assert draw("y", still=2, moves=3) == "<2>[2report 3, of a task 3]"
    monkeypatch.setattr(kept, "compares", True)
    with pytest.raises(kept.KeptWrongly):
        draw("x", still=2, moves=2)


def test_pages_of_several_tasks_differ_in_what_is_theirs(client: Client, study: Study, ada: User) -> None:
    study.guidelines.create(version=7, markdown="Read **this**.", created_at=NOON)
    first = in_hands_of(ada, a_report_task(study))
    a_report_task(study, "Another report.")
    (second,) = claim_ahead(assignment=first, at=NOON)
    client.force_login(ada)

    one, other, again = (client.get(f"/work/{pk}/").content.decode() for pk in (first.pk, second.pk, first.pk))

    assert f'action="{reverse("annotate:submission", args=[first.pk])}"' in one
    assert f'action="{reverse("annotate:submission", args=[second.pk])}"' in other
    assert f"/work/{first.pk}/" not in other
    assert one.count("<input") == again.count("<input")
    assert "Read <strong>this</strong>." in other

    study.guidelines.create(version=8, markdown="Read that.", created_at=NOON)
    anew = client.get(f"/work/{first.pk}/").content.decode()
    assert "Read that." in anew
    assert 'name="guidelines" value="8"' in anew


def test_the_background_of_a_request_is_folded_beside_it_in_its_language(
    client: Client, study: Study, ada: User
) -> None:
    assignment = in_hands_of(ada, a_report_task(study))
    topic = assignment.task.topic
    topic.attributes = {"background": "I am a <novelist>.", "language": "fr"}
    topic.save()
    client.force_login(ada)
    address = reverse("annotate:assignment", args=[assignment.pk])

    page = client.get(address).content.decode()

    assert "<summary>Background</summary>" in page
    assert 'lang="fr">I am a &lt;novelist&gt;.</div>' in page
    topic.attributes = {}
    topic.save()
    assert "topic-background" not in client.get(address).content.decode()
