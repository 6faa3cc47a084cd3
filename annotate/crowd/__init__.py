"""People from crowd sites and by invitation: coming in, being paid, and being forgotten."""
