"""A look at everything that mmem stands on: the machine, the base directory, its files, the hosts."""
