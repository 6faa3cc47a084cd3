"""A build in Chromium: started, read, reviewed by keyboard, and added to the collection."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from collection.models import Collection, RubricElement, User
from judging.models import Build, Product
from tests.browser import SignIn, check_accessibility, check_no_sideways_scroll
from tests.judging.building.test_builds import points
from tests.judging.building.world import Scripted, finish, with_ranking
from tests.judging.jobs.test_in_browser import shoot

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_rosa_builds_key_points_and_reviews_them_by_keyboard(
    page: Page, sign_in: SignIn, rosa: User, collection: Collection
) -> None:
    with_ranking(collection)
    sign_in(page, rosa)
    page.goto(f"/collections/{collection.name}/")
    page.get_by_role("link", name="Building").click()
    check_accessibility(page)
    shoot(page, "builds")
    page.get_by_role("link", name="Start LONG²RAG: key points of documents").click()
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_role("heading", name="Estimate")).to_be_visible()
    check_accessibility(page)
    shoot(page, "build-new")
    page.get_by_role("button", name="Start the build").click()
    expect(page.get_by_text("queued", exact=True).first).to_be_visible()

    finish(Build.objects.get(), Scripted(points))
    expect(page.get_by_text("0 of 2 key points on 2 of 2 topics are accepted")).to_be_visible()
    check_accessibility(page)
    shoot(page, "build")
    page.get_by_role("link", name="Review key points").click()
    expect(page.get_by_role("button", name="Select all on this page")).to_be_visible()  # the keys are there
    page.get_by_role("checkbox").first.focus()
    page.keyboard.press("1")
    expect(page.get_by_text("1 of 2 key points count")).to_be_visible()
    expect(page.get_by_role("checkbox").nth(1)).to_be_focused()  # the list goes on behind what was decided
    page.keyboard.press("2")
    page.get_by_label("New text of the selected one").fill("Both facts of subject 1 are known.")
    page.get_by_role("button", name="Save the new text").click()
    expect(page.get_by_text("2 of 2 key points count")).to_be_visible()
    check_accessibility(page)
    shoot(page, "build-review")
    for width, scheme in ((390, "dark"), (1280, "light")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        for path in ("", "review/", "calls/points/"):
            page.goto(f"/collections/{collection.name}/building/{Build.objects.get().pk}/{path}")
            check_no_sideways_scroll(page)
            shoot(page, f"build-{path.replace('/', '-')}{width}")
    page.goto(f"/collections/{collection.name}/building/{Build.objects.get().pk}/")
    page.get_by_role("button", name="Add 2 accepted").click()
    expect(page.get_by_text("2 key points added to the collection")).to_be_visible()

    assert sorted(Product.objects.filter(step="score").values_list("state", flat=True)) == ["accepted", "edited"]
    assert RubricElement.objects.filter(text="Both facts of subject 1 are known.", spans__isnull=False).exists()
