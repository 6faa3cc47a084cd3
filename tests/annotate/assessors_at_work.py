"""A process full of assessors, for test_capacity: `python -m tests.annotate.assessors_at_work STUDY LOG RETURNS NAME…`.

Each name is one assessor, a thread with a database connection of its own, who works until nothing is left:
clicks twice on everything, changes some answers, gives some tasks back (a share RETURNS of them). What is sent
and what was acknowledged is written to LOG, a line each, in one write: a kill loses nothing that was logged.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any


def work(study_name: str, log: Callable[..., None], returns: float, username: str) -> None:
    from django.db import connection
    from django.utils.timezone import now

    from annotate.assignments.assignments import claim_next, return_assignment, submit_assignment
    from annotate.work.saving import save_choice
    from collection.judgments.services import Span
    from collection.models import Rater, Study

    chance = random.Random(username)
    study = Study.objects.get(name=study_name)
    rater = Rater.objects.get(user__username=username)
    criterion = study.criteria.get(task_type="answerability")
    twice = ThreadPoolExecutor(2)

    def double_click(action: Callable[[], Any]) -> list[Any]:
        """Do it twice at the same time, as two impatient clicks do."""

        def once(_: int) -> Any:
            try:
                return action()
            finally:
                connection.close()

        return list(twice.map(once, range(2)))

    def save(assignment: Any, item: Any, grade: int) -> None:
        text = assignment.task.report.text
        choice = {"assignment": assignment, "item": item, "criterion": criterion, "at": now(), "seconds": 1.5}
        spans = [Span(0, 4, text[:4])] if grade else []
        log("sent", username, assignment.pk, item.pk, grade)
        double_click(lambda: save_choice(grade=grade, spans=spans, **choice))
        log("acknowledged", username, assignment.pk, item.pk, grade)

    while True:
        claims = double_click(lambda: claim_next(study=study, rater=rater, at=now()))
        held = {claim.pk: claim for claim in claims if claim is not None}
        if not held:
            return
        if len(held) != 1:
            raise AssertionError(f"{username} holds {len(held)} tasks after a double click.")
        (assignment,) = held.values()
        gives_up = chance.random() < returns
        items = [asked.item for asked in assignment.asked.select_related("item__report", "item__passage")]
        for item in items[:1] if gives_up else items:
            save(assignment, item, chance.randint(0, 1))
            if chance.random() < 0.3:
                save(assignment, item, chance.randint(0, 1))
        if gives_up:
            log("returning", username, assignment.pk)
            double_click(partial(return_assignment, assignment=assignment, at=now()))
        else:
            double_click(partial(submit_assignment, assignment=assignment, at=now()))
            log("submitted", username, assignment.pk)


def main(study_name: str, log_path: str, returns: str, *usernames: str) -> int:
    import django
    from django.conf import settings

    settings.DATABASES["default"]["NAME"] = os.environ["TEST_DATABASE"]
    django.setup()
    file = os.open(log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    failures: list[BaseException] = []

    def log(*words: Any) -> None:
        os.write(file, (json.dumps(words) + "\n").encode())

    def guarded(username: str) -> None:
        try:
            work(study_name, log, float(returns), username)
        except BaseException as failure:
            failures.append(failure)
            raise

    threads = [threading.Thread(target=guarded, args=[username]) for username in usernames]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
