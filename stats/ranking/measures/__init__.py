"""The measures that a leaderboard may be by, one a file. `measure_names.registered` reads this folder."""
