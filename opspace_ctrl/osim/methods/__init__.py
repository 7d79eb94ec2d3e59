"""One file a method: the inverse operational-space inertia. `osim.registry` knows them by name."""
