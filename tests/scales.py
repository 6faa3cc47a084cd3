"""The scales of the shipped questions, by the names that tests give them."""

from collection.questions.shapes import TASK_TYPES

ANSWERABLE = TASK_TYPES["answerability"].criteria[0].scale
GROUNDED, UTILITY = (one.scale for one in TASK_TYPES["key_point"].criteria[:2])
OUTCOME = TASK_TYPES["written_answer"].criteria[0].scale
YES_NO, NO_TO_YES = (TASK_TYPES["answer_evaluation"].criteria[place].scale for place in (0, 2))
PREFERENCE = TASK_TYPES["preference"].criteria[0].scale
FIT = TASK_TYPES["question_fit"].criteria[0].scale
