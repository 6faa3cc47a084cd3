from django.urls import URLPattern, URLResolver, include, path

app_name = "collection"

FEATURES = ("collections", "texts", "banks", "documents", "retrieval", "importing", "exporting", "languages", "web")

urlpatterns: list[URLPattern | URLResolver] = [path("", include(f"collection.{feature}.urls")) for feature in FEATURES]
