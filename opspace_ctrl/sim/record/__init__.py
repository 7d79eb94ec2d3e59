"""What happened: the log of a run, its report, and the run as an MCAP bag."""
