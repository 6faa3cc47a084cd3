"""What a researcher asks of Prolific from here, under their own token."""
