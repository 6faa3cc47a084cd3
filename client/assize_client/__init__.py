"""An Assize site from Python: files in, judgments, scores and jobs out, as DataFrames."""

from assize_client.connection import AssizeError, NotReady
from assize_client.site import Build, Collection, Job, Site, Study, connect

__all__ = ["AssizeError", "Build", "Collection", "Job", "NotReady", "Site", "Study", "connect"]
