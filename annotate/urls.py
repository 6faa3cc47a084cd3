from django.urls import URLPattern, URLResolver, include, path

app_name = "annotate"

FEATURES = ("work", "notices", "studies", "questions", "review", "quality", "crowd", "prolific", "overview", "workshop")

urlpatterns: list[URLPattern | URLResolver] = [path("", include(f"annotate.{feature}.urls")) for feature in FEATURES]
