from django.apps import AppConfig


class EvaluationConfig(AppConfig):
    name = "evaluation"

    def ready(self) -> None:
        from collection.importing.formats import ANSWERS
        from evaluation.trust.answers import comparison_of_judges

        ANSWERS.append(comparison_of_judges)
