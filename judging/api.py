"""This app's part of /api/v1/: the same services as its pages."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path
from rest_framework.routers import SimpleRouter

from judging.building.api import building_urlpatterns
from judging.building.seeds.api import seeds_urlpatterns
from judging.gullibility.api import GullibilityAudits
from judging.imported.api import ImportedJudgeViewSet
from judging.jobs.api import JobViewSet
from judging.judges.api import JudgeViewSet
from judging.prompt_templates.api import TemplateViewSet
from judging.servers.api import ModelServerViewSet
from judging.trial_runs.api import ErrandView

router = SimpleRouter()
router.register("judges", JudgeViewSet, basename="judge")
router.register("templates", TemplateViewSet, basename="template")
router.register("imported-judges", ImportedJudgeViewSet, basename="imported_judge")
router.register("model-servers", ModelServerViewSet, basename="model_server")
router.register("grading-jobs", JobViewSet, basename="grading_job")

api_urlpatterns: list[URLPattern | URLResolver] = [
    *router.urls,
    *building_urlpatterns,
    *seeds_urlpatterns,
    path("errands/<int:pk>/", ErrandView.as_view(), name="errand"),
    path("studies/<slug:name>/gullibility/", GullibilityAudits.as_view(), name="gullibility_audits"),
]
