"""Records that engine, searches and solvers share."""
