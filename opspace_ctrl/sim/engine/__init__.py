"""The physics: our own engine, DART and MuJoCo behind one interface."""
