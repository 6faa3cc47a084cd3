from django.urls import URLPattern, path

from annotate.notices import views

urlpatterns: list[URLPattern] = [
    path("work/notices/dismiss/", views.notices_dismiss, name="notices_dismiss"),
    path("work/notices/<int:pk>/dismiss/", views.notice_dismiss, name="notice_dismiss"),
    path("notices/unsubscribe/<str:token>/", views.notices_unsubscribe, name="notices_unsubscribe"),
]
