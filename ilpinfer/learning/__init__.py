"""Learning with constraints: rules and penalties from labelled sequences, models from few of them."""
