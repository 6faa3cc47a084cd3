"""Whose pages speak which language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from django.utils import translation
from django.utils.timezone import now

from annotate.quality.inbox import comment_on
from annotate.quality.replies import reply_to
from annotate.studies.lifecycle import enrol
from collection.languages.languages import is_in_readers_language
from collection.models import Study, User
from tests.annotate.factories import a_report_task, an_open_study, enrolled, in_hands_of
from tests.test_one_name import ADDRESSES

pytestmark = pytest.mark.django_db


def speaks(client: Client, address: str) -> str:
    html = client.get(address).text
    return html.split('<html lang="')[1].split('"')[0]


def test_a_page_speaks_the_language_of_its_reader(client: Client, ada: User) -> None:
    ada.language = "de"
    ada.save()
    client.force_login(ada)

    page = client.get("/work/")

    assert '<html lang="de"' in page.text
    assert "Meine Arbeit" in page.text
    assert "My work" not in page.text
    assert "js/words/de" in page.text
    assert translation.get_language() == "en"


def test_a_page_from_right_to_left_says_so(client: Client, ada: User) -> None:
    ada.language = "ar"
    ada.save()
    client.force_login(ada)

    assert '<html lang="ar" dir="rtl"' in client.get("/work/").text


def test_researchers_pages_are_english(client: Client, rosa: User) -> None:
    rosa.language = "de"
    rosa.save()
    client.force_login(rosa)

    assert speaks(client, "/studies/") == "en"
    assert speaks(client, "/work/") == "de"


def test_people_choose_a_language_and_come_back_to_where_they_were(client: Client, ada: User) -> None:
    client.force_login(ada)

    response = client.post("/language/", {"language": "de", "next": "/account/"})

    ada.refresh_from_db()
    assert response["Location"] == "/account/"
    assert ada.language == "de"
    assert speaks(client, "/account/") == "de"


@pytest.mark.parametrize("next_page", ["https://elsewhere.example/", "//elsewhere.example", ""])
def test_a_choice_leads_nowhere_else(client: Client, ada: User, next_page: str) -> None:
    client.force_login(ada)

    assert client.post("/language/", {"language": "tlh", "next": next_page})["Location"] == "/"
    ada.refresh_from_db()
    assert ada.language == ""


def test_strangers_read_what_they_chose_else_what_their_browser_asks_for(client: Client) -> None:
    page = client.get("/sign-in/", headers={"Accept-Language": "de-AT,de;q=0.9"})

    assert '<html lang="de"' in page.text
    assert "Accept-Language" in page["Vary"]
    client.post("/language/", {"language": "ar"})
    assert 'lang="ar"' in client.get("/sign-in/", headers={"Accept-Language": "de"}).text


def test_whoever_joins_a_study_reads_its_language_until_they_choose(study: Study, ada: User, ben: User) -> None:
    study.language = "ar"
    study.save()
    ben.language = "de"
    ben.save()

    for user in (ada, ben):
        enrol(study=study, user=user, at=now())
        user.refresh_from_db()

    assert (ada.language, ben.language) == ("ar", "de")


def test_what_is_refused_is_said_in_the_readers_language(client: Client, ada: User, study: Study) -> None:
    task = a_report_task(study)
    enrolled(ada, an_open_study(study))
    reading = in_hands_of(ada, task)
    ada.language = "de"
    ada.save()
    client.force_login(ada)

    response = client.post(f"/work/{reading.pk}/submit/")

    assert response.status_code == 422
    assert "Noch nicht fertig" in response.text


def test_a_text_carries_the_language_that_its_topic_names(client: Client, ada: User, study: Study) -> None:
    task = a_report_task(study)
    enrolled(ada, an_open_study(study))
    reading = in_hands_of(ada, task)
    client.force_login(ada)
    assert ' lang="he"' not in client.get(f"/work/{reading.pk}/").text.split("<main")[1]

    for named, shown in [("he", True), ('he" onclick="x', False)]:
        task.topic.attributes = {"language": named}
        task.topic.save()
        page = client.get(f"/work/{reading.pk}/").text.split("<main")[1]
        assert page.count('lang="he"') == (shown and 2 + len(task.task_items.all()))
        assert "onclick" not in page


@pytest.mark.parametrize("language", ["de", "ar"])
def test_what_scripts_read_is_the_same_in_every_language(
    client: Client, ada: User, study: Study, language: str
) -> None:
    """German writes 0,5 where JavaScript reads 0.5."""
    task = a_report_task(study)
    study.criteria.update(threshold=0.5)
    enrolled(ada, an_open_study(study))
    reading = in_hands_of(ada, task)
    client.force_login(ada)
    attribute = re.compile(r'\s(?:data-(?:threshold|seconds|key|length|item|criterion)|value)="([\d.,]*)"')

    english = attribute.findall(client.get(f"/work/{reading.pk}/").text)
    User.objects.filter(pk=ada.pk).update(language=language)
    other = attribute.findall(client.get(f"/work/{reading.pk}/").text)

    assert "0.5" in english
    assert other == english


def test_every_page_drawn_from_a_marked_template_speaks_its_readers_language() -> None:
    """A preview shows researchers what assessors see, and says itself in which language."""
    silent = set()
    for address in ADDRESSES:
        files = [Path(settings.BASE_DIR) / "templates" / f"{name}.html" for name in address.templates]
        words = [file.read_text(encoding="utf-8") for file in files if file.exists()]
        marked = any("{% translate" in source or "{% blocktranslate" in source for source in words)
        if marked and not is_in_readers_language(address.pattern.callback):
            silent.add(address.view)

    assert silent == set()


def test_a_comment_has_its_own_direction_and_the_words_around_it_the_pages(
    client: Client, ada: User, rosa: User, study: Study
) -> None:
    task = a_report_task(study)
    rater = enrolled(ada, an_open_study(study))
    comment = comment_on(item=task.task_items.all()[0].item, rater=rater, text="הטקסט קטוע", at=now())
    reply_to(comment=comment, by=rosa, text="תודה", at=now())
    client.force_login(ada)

    page = client.get("/work/").text

    assert '<span dir="auto">הטקסט קטוע</span>' in page
    assert '<span dir="auto">תודה</span>' in page
