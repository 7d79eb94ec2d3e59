"""The record of a run: its log, its report, and the run as an MCAP bag."""
