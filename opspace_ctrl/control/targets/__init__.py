"""References: how targets from outside become programs that the tick samples."""
