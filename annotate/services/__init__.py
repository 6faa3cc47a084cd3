"""What happens in annotate: one function for each thing, verb first."""
