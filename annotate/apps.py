from django.apps import AppConfig


class AnnotateConfig(AppConfig):
    name = "annotate"

    def ready(self) -> None:
        from annotate.crowd.privacy import crowd_ids_of
        from collection.exporting.identities import register_crowd_ids

        register_crowd_ids(crowd_ids_of)
