"""What the schema of the API says of itself, and the names of its enumerations."""

SPECTACULAR_SETTINGS = {
    "TITLE": "Assize",
    "DESCRIPTION": "Human assessors and LLM judges judge the same items; judgments become qrels.",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_NAME_OVERRIDES": {
        "RaterOriginEnum": "collection.models.people.Rater.Origin",
        "UngradedEnum": "collection.models.judgments.Judgment.Ungraded",
        "KnownGradePurposeEnum": "annotate.models.quality.GoldGrade.Purpose",
        "PurposeEnum": "collection.models.judgments.Highlight.Purpose",
        "RubricElementKindEnum": "collection.models.texts.RubricElement.Kind",
        "PagesLanguageEnum": "config.settings.LANGUAGES",
        "RetrievalLanguageEnum": "collection.retrieval.serializers.STEMMED_AS",
        "JudgeEngineEnum": "judging.models.judges.Judge.Engine",
        "BuildEngineEnum": "judging.models.builds.Build.Engine",
        "BuildStateEnum": "judging.models.builds.Build.State",
        "BuildPauseCauseEnum": "judging.models.builds.Build.Cause",
        "ProductStateEnum": "judging.models.builds.Product.State",
        "ErrandKindEnum": "judging.models.errands.Errand.Kind",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}
