"""Every setting, with its value from the environment and a default that runs on one machine.

`docs/settings.md` lists the variables; a test keeps that list complete.
"""

import os
import tomllib
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

import django_stubs_ext
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from environs import Env, ValidationError, validate

from collection.extras import missing
from config.api_schema import SPECTACULAR_SETTINGS
from config.private_files import make_private_folder

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
# What pip installed is a package whose folder may be read-only: a checkout alone has this file.
IS_INSTALLED = not (BASE_DIR / "pyproject.toml").exists()
# What pages, the API and exports name themselves after.
VERSION = (
    metadata.version("assize-site")
    if IS_INSTALLED
    else str(tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"])
)
# Where a file of settings and, unless something else is set, the data are: a checkout has them in itself.
HOME = Path(os.environ.get("XDG_DATA_HOME") or "~/.local/share").expanduser() / "assize" if IS_INSTALLED else BASE_DIR

env = Env()
env.read_env(str(HOME / ".env"), recurse=False)

# Where the embedded defaults keep the database, the broker's messages and the secret key.
DATA_DIR = Path(env.str("DATA_DIR", str(HOME / "var"))).absolute()
# Whatever this process writes is its user's alone, in whichever library.
os.umask(0o077)
make_private_folder(DATA_DIR)

DEBUG = env.bool("DEBUG", False)
# Whether there is a demonstration study, whose log-ins the sign-in page shows.
DEMONSTRATION = env.bool("DEMONSTRATION", False)


def _secret_key_of_this_machine() -> str:
    """Return the key kept in DATA_DIR, made at the first start."""
    import secrets

    path = DATA_DIR / "secret_key"
    try:
        with path.open("x") as file:
            path.chmod(0o600)
            file.write(secrets.token_urlsafe(64))
    except FileExistsError:
        pass
    return path.read_text()


SECRET_KEY = env.str("SECRET_KEY", "") or _secret_key_of_this_machine()
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "collection",
    "annotate",
    "judging",
    "evaluation",
    "config",
    "config.apps.Administration",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "django.forms",
    "axes",
    "django_htmx",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "config.middleware.ContentSecurityPolicy",
    "django.middleware.gzip.GZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "collection.languages.middleware.SpeakToAssessors",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.keep_pages_out_of_caches",
    "config.version.name_the_version",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "config.limits.refuse_oversized_and_unstorable",
    "config.middleware.SayBusy",
    "collection.web.computing_views.SayComputing",
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "loaders": [
                (
                    "config.translated_templates.Loader",
                    ["django.template.loaders.filesystem.Loader", "django.template.loaders.app_directories.Loader"],
                )
            ],
            "libraries": {"i18n": "config.translated_templates"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "config.version.version",
                "config.failures.scarce_room",
            ],
        },
    },
]

# Fields are drawn by templates/django/forms/, Django's own where we have none.
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

# --- Database -----------------------------------------------------------------------------------

DATABASES: dict[str, Any] = {"default": env.dj_db_url("DATABASE_URL", f"sqlite:///{DATA_DIR / 'assize.sqlite3'}")}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    # Write-ahead log: readers never wait for a writer. IMMEDIATE: a transaction takes the write lock
    # when it begins, so two of them queue up instead of failing half-way. FULL: what was committed
    # is on the disk, and outlives a power cut too.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": (
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
            "PRAGMA temp_store=MEMORY; PRAGMA mmap_size=134217728; PRAGMA cache_size=-16000;"
        ),
    }
    # A connection is kept from request to request: opening one and setting the pragmas is no small part of a save.
    DATABASES["default"]["CONN_MAX_AGE"] = None
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
    # Whether the few statements behind every answer are prepared. A pooler that shares out connections by transaction
    # needs it off. Nothing but these is: no other statement comes this often.
    if env.bool("PREPARED_STATEMENTS", True):
        DATABASES["default"].setdefault("OPTIONS", {})["prepare_threshold"] = 10**9
    # Procfile sets it for the workers that compute figures: one statement must not hold one of the few for ever.
    if statement_timeout := env.int("STATEMENT_TIMEOUT", 0, validate=validate.Range(min=0)):
        DATABASES["default"].setdefault("OPTIONS", {})["options"] = f"-c statement_timeout={statement_timeout}s"

if DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql" and (whynot := missing("psycopg")):
    raise ImproperlyConfigured(f"DATABASE_URL: {whynot}")

# --- People and sessions ------------------------------------------------------------------------

AUTH_USER_MODEL = "collection.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "collection.accounts.sign_in.LongEnough"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
# Links by which somebody chooses another password.
PASSWORD_RESET_TIMEOUT = 24 * 60 * 60
AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "config.sessions.PasswordBackend"]
# Who guesses passwords is held back: collection.accounts.sign_in says how.
AXES_HANDLER = "collection.accounts.sign_in.Throttle"
AXES_USERNAME_CALLABLE = "collection.accounts.sign_in.account_of"
AXES_CLIENT_IP_CALLABLE = "collection.accounts.sign_in.address_of"
AXES_LOCKOUT_CALLABLE = "collection.accounts.views.locked_out"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_NEVER_LOCKOUT_GET = True
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
# A label must never be refused because a session ran out in the middle of a report.
SESSION_COOKIE_AGE = 60 * 60 * 24 * 30
SESSION_ENGINE = "config.sessions"

# --- Security -----------------------------------------------------------------------------------

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "base-uri": [NONE],
        "connect-src": [SELF],
        "font-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "img-src": [SELF, "data:"],
        "manifest-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
    },
}
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SILENCED_SYSTEM_CHECKS = ["templates.W003"]  # our `i18n` takes the place of Django's
# Behind a proxy that ends TLS and sets X-Forwarded-Proto.
HTTPS = env.bool("HTTPS", False)
# How many proxies of ours a request passes; each adds to X-Forwarded-For the address that it saw.
PROXIES = env.int("PROXIES", 1 if HTTPS else 0, validate=validate.Range(min=0, max=10))
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^(health|ready)/$"]  # what watches the site asks it past the proxy
    SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365
    # Names below this site's own; and whether browsers may ship with it, which binds a whole domain for good.
    SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("HSTS_SUBDOMAINS", True)
    SECURE_HSTS_PRELOAD = env.bool("HSTS_PRELOAD", False)
    SILENCED_SYSTEM_CHECKS.append("security.W021")  # preloading is nobody's default
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

CACHES: dict[str, Any] = {
    "default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 10_000}},
    # Figures that took long to compute, shared by web servers and workers, which share this folder for uploads too.
    "figures": {
        "BACKEND": "config.caches.SignedFileCache",
        "LOCATION": DATA_DIR / "figures",
        "TIMEOUT": 7 * 24 * 3600,
        "OPTIONS": {"MAX_MB": env.int("FIGURES_CACHE_MB", 512, validate=validate.Range(min=1))},
    },
}

# --- Files and language -------------------------------------------------------------------------

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "config.storage.HashedStaticFilesStorage"
    },
}
MEDIA_ROOT = DATA_DIR / "media"
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
# Collections of a hundred thousand passages come in through the page. A larger body is refused before it is read.
UPLOAD_LIMIT_MB = env.int("UPLOAD_LIMIT_MB", 1024, validate=validate.Range(min=1))
# What one import may take besides in a worker process of its own; over it, the import ends and the worker goes on.
UPLOAD_MEMORY_MB = env.int("UPLOAD_MEMORY_MB", 2048, validate=validate.Range(min=64))
# The folder below which researchers may name folders of documents' texts; none by default. Servers of documents that
# they may name although their addresses are private: hosts, or host:port.
DOCUMENTS_FOLDER = env.str("DOCUMENTS_FOLDER", "")
DOCUMENT_HOSTS: list[str] = env.list("DOCUMENT_HOSTS", [])
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 20_000
# The API takes 200 files and says so in JSON where there are more; this is what Django refuses before anybody looks.
DATA_UPLOAD_MAX_NUMBER_FILES = 1_000
TIME_ZONE = env.str("TIME_ZONE", "UTC")
USE_TZ = True
USE_I18N = True
LANGUAGE_CODE = "en"
# The languages of assessors' pages, each named in itself; `make translations` writes their catalogues.
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("es", "Español"),
    ("fr", "Français"),
    ("it", "Italiano"),
    ("pt", "Português"),
    ("ru", "Русский"),
    ("ar", "العربية"),
    ("he", "עברית"),
    ("hi", "हिन्दी"),
    ("ja", "日本語"),
    ("ko", "한국어"),
    ("zh-hans", "简体中文"),
]
# Where catalogues are compiled to; their texts stand in locale/.
LOCALE_PATHS = [(DATA_DIR if IS_INSTALLED else BASE_DIR) / "locale"]
LANGUAGE_COOKIE_NAME = "language"

# --- Jobs ---------------------------------------------------------------------------------------

CELERY_BROKER_URL = env.str("CELERY_BROKER_URL", "embedded://")
if CELERY_BROKER_URL in {"embedded://", "filesystem://"}:  # the second is what it was called before
    CELERY_BROKER_TRANSPORT_OPTIONS = {"folder": str(DATA_DIR / "broker")}
if CELERY_BROKER_URL.startswith(("redis:", "rediss:")) and (whynot := missing("redis")):
    raise ImproperlyConfigured(f"CELERY_BROKER_URL: {whynot}")
# Grading takes turns of a minute, for hours, so what a page waits for has a queue of its own; and test runs of judges,
# which wait for a server as grading does, keep no figures waiting. What asks servers of others for texts and embeddings
# keeps neither waiting. A worker that is told nothing listens to all four; the queue `vllm` is for workers with vLLM in
# them alone.
CELERY_TASK_QUEUES: dict[str, dict[str, str]] = {"celery": {}, "errands": {}, "fetching": {}, "pages": {}}
CELERY_TASK_ROUTES = {
    "collection.mail_*": {"queue": "errands"},
    "collection.fetch_texts": {"queue": "fetching"},
    "collection.fetch_text": {"queue": "fetching"},
    "collection.retrieve": {"queue": "fetching"},
    "collection.*": {"queue": "pages"},
    "evaluation.*": {"queue": "pages"},
    "judging.requeue_stalled": {"queue": "pages"},
    "judging.work_on_errand": {"queue": "errands"},
    "judging.word_a_nugget": {"queue": "errands"},
    "annotate.mail_notices": {"queue": "errands"},
}
# Whether the web server computes figures, tries judges and probes servers itself: there is one process, no worker.
WORK_AT_ONCE = env.bool("WORK_AT_ONCE", False)
# What judges said beside their grades, and the items that they are measured on, for an app that may not import judging.
REASONS_OF_JUDGES = "judging.data.reasons.reasons_of"
# What changes when reviewers decide about the points of a build: figures are kept under it.
STATE_OF_REVIEWS = "judging.data.point_reviews.state_of_reviews"
ANCHORS_OF_JUDGES = "judging.data.reasons.anchors_among"
# The judges that can word a nugget, and what has one do so, for an app that may not import judging.
JUDGES_THAT_WORD = "judging.wordings.wordings.judges_that_word"
WORDS_OF_JUDGES = "judging.wordings.wordings.work_on"
# The items whose grade the researcher knows, for an app that may not import annotate.
ITEMS_WITH_KNOWN_GRADES = "annotate.quality.gold.items_with_known_grades"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker waits for its broker, however long that takes
CELERY_TIMEZONE = TIME_ZONE

# --- Embeddings ---------------------------------------------------------------------------------

EMBED_BASE_URL = env.str("EMBED_BASE_URL", "")
EMBED_MODEL = env.str("EMBED_MODEL", "")
EMBED_API_KEY = env.str("EMBED_API_KEY", "")

# --- Judges -------------------------------------------------------------------------------------


def _is_an_object(value: object) -> None:
    if not isinstance(value, dict):
        raise ValidationError("This is not a JSON object.")


# OpenAI-compatible servers (vLLM's, for one) that serve the same models, separated by commas; a model to offer first.
JUDGE_BASE_URL = env.str("JUDGE_BASE_URL", "")
JUDGE_MODEL = env.str("JUDGE_MODEL", "")
JUDGE_API_KEY = env.str("JUDGE_API_KEY", "")
JUDGE_TIMEOUT = env.float("JUDGE_TIMEOUT", 120.0)
# How long to wait for a server that worked and is gone; requests under way at each; the most prompts of one request.
JUDGE_PATIENCE = env.float("JUDGE_PATIENCE", 180.0)
JUDGE_CONCURRENCY = env.int("JUDGE_CONCURRENCY", 16, validate=validate.Range(min=1, max=1000))
JUDGE_PROMPTS_AT_ONCE = env.int("JUDGE_PROMPTS_AT_ONCE", 32, validate=validate.Range(min=1, max=1000))
# Tokens that each researcher may use in a calendar month on these servers; 0: as many as they like.
JUDGE_TOKENS_PER_RESEARCHER = env.int("JUDGE_TOKENS_PER_RESEARCHER", 0, validate=validate.Range(min=0, max=2**53))
# The models that a worker with vLLM in it may load: a name or a folder that a researcher writes is code and memory.
JUDGE_VLLM_MODELS: list[str] = env.list("JUDGE_VLLM_MODELS", [])
# The encoder–decoders that a worker with torch and transformers in it may load.
JUDGE_TEXT2TEXT_MODELS: list[str] = env.list("JUDGE_TEXT2TEXT_MODELS", [])
# What `vllm.LLM` is told besides the model, where a worker has vLLM in it.
JUDGE_VLLM: Any = env.json("JUDGE_VLLM", {}, validate=_is_an_object)

# --- Mail ---------------------------------------------------------------------------------------

# The server that mails go to, as a URL; by default they are written on the console.
vars().update(env.dj_email_url("EMAIL_URL", "console:"))
EMAIL_TIMEOUT = 20
DEFAULT_FROM_EMAIL = env.str("MAIL_FROM", "Assize <assize@localhost>")
# What links in mails begin with: by default this machine, at the port that `make` serves at.
SITE_URL = env.str("SITE_URL", f"http://localhost:{env.int('PORT', 8000)}").rstrip("/")

# --- Crowd sites --------------------------------------------------------------------------------


def _refuse_what_is_no_origin(origins: list[str]) -> None:
    is_origin = validate.Regexp(
        r"https?://[a-z0-9.-]+(:\d+)?\Z", error="“{input}” is not an origin like https://example.org"
    )
    for origin in origins:
        is_origin(origin)


# Where participants hand in their codes.
PROLIFIC_URL = env.str("PROLIFIC_URL", "https://app.prolific.com").rstrip("/")
# Where Prolific's API answers. Researchers' tokens are sent there and nowhere else.
PROLIFIC_API_URL = env.str("PROLIFIC_API_URL", "https://api.prolific.com").rstrip("/")
# Where Prolific shows the keys that it signs links with.
PROLIFIC_JWKS_URL = env.str("PROLIFIC_JWKS_URL", "https://api.prolific.com/.well-known/study/jwks.json")
# Who may frame the entry for Mechanical Turk, and may be sent its end.
MTURK_ORIGINS = env.list(
    "MTURK_ORIGINS",
    [
        "https://www.mturk.com",
        "https://worker.mturk.com",
        "https://workersandbox.mturk.com",
        "https://requester.mturk.com",
        "https://requestersandbox.mturk.com",
    ],
    validate=_refuse_what_is_no_origin,
)

# --- API ----------------------------------------------------------------------------------------

KNOX_TOKEN_MODEL = "collection.ApiToken"  # noqa: S105 - no password
MIGRATION_MODULES = {"knox": None}  # its own table stays unmade
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "collection.accounts.api_authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["collection.api_tools.StrictJSONParser"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.CursorPagination",
    "PAGE_SIZE": 100,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_VERSIONING_CLASS": None,
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", "WARNING")},
}

SPECTACULAR_SETTINGS |= {"VERSION": VERSION}
