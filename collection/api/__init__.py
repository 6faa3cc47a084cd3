"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver

from collection.api.collections import collections_urlpatterns
from collection.api.judgments import judgments_urlpatterns
from collection.api.labels import labels_urlpatterns
from collection.banks.api import banks_urlpatterns
from collection.collections.sharing_api import api_urlpatterns as sharing_urlpatterns
from collection.documents.api import documents_urlpatterns
from collection.importing.api import files_urlpatterns
from collection.retrieval.api import retrieval_urlpatterns

api_urlpatterns: list[URLPattern | URLResolver] = [
    *collections_urlpatterns,
    *judgments_urlpatterns,
    *labels_urlpatterns,
    *files_urlpatterns,
    *documents_urlpatterns,
    *retrieval_urlpatterns,
    *banks_urlpatterns,
    *sharing_urlpatterns,
]
