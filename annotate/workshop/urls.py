from django.urls import URLPattern, path

from annotate.workshop import decision_views, topic_views, views, wording_views

AT = "workshops/<int:pk>/topics/<int:topic>/"

urlpatterns: list[URLPattern] = [
    path("collections/<slug:name>/banks/<slug:bank>/workshops/", views.workshops, name="workshops"),
    path("workshops/<int:pk>/", views.workshop, name="workshop"),
    path("workshops/<int:pk>/relevance/<str:form>/", views.workshop_relevance_file, name="workshop_relevance_file"),
    path("workshops/<int:pk>/close/", views.workshop_close, name="workshop_close"),
    path(AT, topic_views.workshop_topic, name="workshop_topic"),
    path(f"{AT}relevance/", topic_views.workshop_relevance, name="workshop_relevance"),
    path(f"{AT}withdrawn/", topic_views.workshop_withdrawn, name="workshop_withdrawn"),
    path(f"{AT}wordings/", wording_views.workshop_wordings, name="workshop_wordings"),
    path(f"{AT}wordings/<int:wording>/", wording_views.workshop_wording, name="workshop_wording"),
    path(f"{AT}hand-in/", topic_views.workshop_hand_in, name="workshop_hand_in"),
    path(f"{AT}decision/", decision_views.workshop_decision, name="workshop_decision"),
    path(f"{AT}keep/", decision_views.workshop_keep, name="workshop_keep"),
    path(f"{AT}align/", decision_views.workshop_align, name="workshop_align"),
]
