"""Where each app's pages and its part of the API stand."""

from django.conf import settings
from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView, TemplateView
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from annotate.api import api_urlpatterns as annotate_api
from annotate.questions.api import questions_api_urlpatterns
from collection.accounts import mail_views, views
from collection.api import api_urlpatterns as collection_api
from config.health import health, ready
from config.styleguide import styleguide
from evaluation.api import api_urlpatterns as evaluation_api
from judging.api import api_urlpatterns as judging_api

api_urlpatterns = [*collection_api, *annotate_api, *questions_api_urlpatterns, *judging_api, *evaluation_api]

urlpatterns = [
    path("", views.home, name="home"),
    path("sign-in/", views.sign_in, name="sign_in"),
    path("sign-out/", views.sign_out, name="sign_out"),
    path("account/", views.account, name="account"),
    path("account/password/", views.password, name="password"),
    path("account/address/", mail_views.account_address, name="account_address"),
    path("account/address/<str:token>/", mail_views.address_confirm, name="address_confirm"),
    path("account/notices/", mail_views.account_notices, name="account_notices"),
    path("password/forgotten/", mail_views.password_forgotten, name="password_forgotten"),
    path("password/reset/<str:uidb64>/<str:token>/", mail_views.password_reset, name="password_reset"),
    path("account/token/", views.make_token, name="make_token"),
    path("account/token/revoke/", views.revoke_token, name="revoke_token"),
    path("styleguide/", styleguide, name="styleguide"),
    path("health/", health, name="health"),
    path("ready/", ready, name="ready"),
    path("robots.txt", TemplateView.as_view(template_name="robots.txt", content_type="text/plain")),
    path("favicon.ico", RedirectView.as_view(url=f"{settings.STATIC_URL}favicon.svg", permanent=True)),
    path("", include("collection.urls")),
    path("", include("annotate.urls")),
    path("", include("judging.urls")),
    path("", include("evaluation.urls")),
    path("api/v1/", include((api_urlpatterns, "api"))),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/", SpectacularSwaggerSplitView.as_view(template_name="api_docs.html"), name="api_docs"),
    path("admin/", admin.site.urls),
]

handler400 = "config.failures.bad_request"
handler403 = "config.failures.permission_denied"
handler404 = "config.failures.page_not_found"
handler500 = "config.failures.server_error"
