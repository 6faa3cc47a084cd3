"""The pictures of docs/building.md: `python tests/building_pictures.py FOLDER [--dark] [--width 1366]`.

A site of its own is started in an empty folder and walked through in Chromium, from two documents to published qrels.
A server that replies in the form that each prompt asks for, with made-up words, stands in for a model.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.judging.scripted_server import MODEL, ScriptedServer, completions, prompts_of  # noqa: E402
from tests.pictures import Walker, take_pictures  # noqa: E402

SUBJECTS = {"bridges": "bridge", "towers": "tower"}
ASKED = ["When was the {} opened?", "Who paid for the {}?", "Why did the {} cost more than was planned?"]


def written(body: dict[str, Any]) -> Any:
    """Reply with three questions about whichever subject a prompt is about; the last prompt in three gets two."""
    replies = []
    for prompt in prompts_of(body):
        subject = next((word for word in SUBJECTS.values() if word in prompt), "subject")
        many = ASKED if subject == "bridge" else ASKED[:2]
        replies.append("\n".join(f"<q>{question.format(subject)}</q>" for question in many))
    return completions(replies, endpoint="completions" if "prompt" in body else "chat")


def texts_in(folder: Path) -> Path:
    """Write a collection: two topics, each with a report of people's, one of a system's and the passages it read."""
    lines: list[dict[str, Any]] = [
        {"type": "topic", "topic_id": name, "title": name.title(), "request": f"What about {name}?"}
        for name in SUBJECTS
    ]
    for run in ("human", "alpha"):
        lines.append({"type": "system", "name": run})
        lines.append({"type": "run", "name": run, "system": run})
        for name, thing in SUBJECTS.items():
            text = f"The {thing} was opened in 1937. The state paid for the {thing}, which cost twice what was planned."
            lines.append({"type": "report", "run": run, "topic_id": name, "text": text})
    for name, thing in SUBJECTS.items():
        for rank, text in enumerate((f"The state paid for the {thing}.", f"A {thing} was opened in 1937."), 1):
            passage = {"passage_id": f"{name}-{rank}"}
            lines.append({"type": "passage", **passage, "text": text})
            lines.append({"type": "ranking", "run": run, "topic_id": name, **passage, "rank": rank, "score": 1 / rank})
    path = folder / "texts.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def walk(walker: Walker) -> None:
    """Go from a file of texts to the line from document to qrels, and take a picture of each step."""
    page, picture = walker.page, walker.picture
    walker.sign_in()
    page.get_by_role("link", name="New collection").first.click()
    page.get_by_label("Title").fill("Landmarks")
    page.get_by_label("Name").fill("landmarks")
    page.get_by_role("button", name="Create collection").click()
    page.get_by_label("Files", exact=True).set_input_files([texts_in(walker.place)])
    page.get_by_role("button", name="Preview").click()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.get_by_text("imported").first).to_be_visible()

    page.goto("/collections/landmarks/building/")
    picture("1-pipelines", lambda: expect(page.get_by_role("heading", name="Building")).to_be_visible())
    page.goto("/collections/landmarks/building/new/crux-questions/")
    page.locator("[name=engine]").select_option("openai")
    page.locator("[name=model]").fill(MODEL)
    page.locator("[name=summaries]").select_option("human")
    page.locator("[name=count]").fill("3")
    page.get_by_role("button", name="Estimate").click()
    picture("2-estimate", lambda: expect(page.get_by_role("heading", name="Estimate")).to_be_visible(), "Estimate")
    page.get_by_role("button", name="Start the build").click()
    review = page.get_by_role("link", name="Review sub-questions")
    picture("3-build", lambda: expect(review).to_be_visible())
    review.click()
    expect(page.get_by_role("button", name="Select all on this page")).to_be_visible()
    page.get_by_role("checkbox").first.focus()
    page.keyboard.press("1")
    page.wait_for_load_state("networkidle")
    picture("4-review", lambda: expect(page.get_by_text("1 of 5 sub-questions count")).to_be_visible())
    page.get_by_role("button", name="Select all on this page").click()
    page.keyboard.press("1")
    expect(page.get_by_text("5 of 5 sub-questions count")).to_be_visible()
    page.get_by_role("link", name="Build 1").click()
    page.get_by_role("button", name="Add 5 accepted").click()
    picture("5-added", lambda: expect(page.get_by_text("5 sub-questions added to the collection")).to_be_visible())

    page.goto("/studies/new/?collection=landmarks")
    page.get_by_label("Title", exact=True).fill("Landmarks")
    page.get_by_role("checkbox", name=re.compile("^rating of a passage", re.IGNORECASE)).check()
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("button", name="Open the study").first.click()
    expect(page.get_by_role("link", name="From document to qrels")).to_be_visible()
    page.goto("/studies/landmarks/judging/")
    page.get_by_role("button", name="Start lexical-rating on rating").click()
    page.get_by_role("button", name="Start grading").click()
    picture("6-graded", lambda: expect(page.locator("#job .badge.done")).to_be_visible())
    page.goto("/studies/landmarks/publish/making/")
    heading = "2. Written by models, reviewed by people"
    line = page.get_by_role("heading", name=heading)
    picture("7-from-document-to-qrels", lambda: expect(line).to_be_visible(), heading)
    page.get_by_role("link", name="Qrels of rating by lexical-rating").click()
    picture("8-qrels", lambda: expect(page.get_by_text("bridges 0 bridges-1")).to_be_visible())


if __name__ == "__main__":
    server = ScriptedServer()
    server.script(written)
    os.environ["JUDGE_BASE_URL"] = server.url
    take_pictures(__doc__, walk)
    server.stop()
