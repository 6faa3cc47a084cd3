"""Nugget banks and rubrics, and which nuggets answers support, from files of the tracks and data sets."""

from collection.importing.datasets.nugget_banks.assignments import Assigning
from collection.importing.datasets.nugget_banks.banks import topic_of_file
from collection.importing.datasets.nugget_banks.importer import bank_name_of, import_nugget_banks

__all__ = [
    "Assigning",
    "bank_name_of",
    "import_nugget_banks",
    "topic_of_file",
]
