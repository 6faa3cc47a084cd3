"""The languages of assessors' pages. Researchers' pages are English."""
