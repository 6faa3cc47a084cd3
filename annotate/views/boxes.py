"""Check boxes of a form, which send nothing of what is not ticked, as grades."""

from __future__ import annotations

from django.http import QueryDict

NONE = "none"


def with_grades_of_boxes(posted: QueryDict) -> QueryDict:
    """Return the form with the grade 1 for each ticked box of a group and 0 for each other one.

    A group is a name whose boxes each stand in “boxes” as “group field”; its values are the ticked fields, or “none”.
    A group of which nothing is ticked, not even “none”, is not answered yet and gives no grades.
    """
    graded = posted.copy()
    for box in posted.getlist("boxes"):
        group, _, field = box.partition(" ")
        if ticked := posted.getlist(group):
            graded[field] = "1" if field in ticked else "0"
    return graded
