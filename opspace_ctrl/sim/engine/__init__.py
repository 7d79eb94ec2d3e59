"""The physics: our own engine and DART behind one interface."""
