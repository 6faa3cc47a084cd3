from django.urls import URLPattern, path

from collection.collections import invitation_views, views

urlpatterns: list[URLPattern] = [
    path("collections/", views.collections, name="collections"),
    path("new-collection/", views.collection_new, name="collection_new"),
    path("collections/<slug:name>/", views.collection, name="collection"),
    path("collections/<slug:name>/researchers/<str:username>/dismiss/", views.dismissal, name="dismissal"),
    path(
        "collections/<slug:name>/invitations/<int:pk>/withdraw/",
        invitation_views.invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("invitations/<int:pk>/<slug:answer>/", invitation_views.invitation_answer, name="invitation_answer"),
    path("collections/<slug:name>/topics/<int:pk>/", views.topic, name="topic"),
]
