"""Each module or package declares one study as STUDY, with `cells`, `measure` and `report`; its name has hyphens for underscores."""
