"""Grades that another tool gave: a file of them becomes a judge whose origin is recorded."""
