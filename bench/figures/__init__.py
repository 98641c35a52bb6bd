"""The figures, a module each: what it wants to know, how it asks, and `measure()`, which returns a `report.Section`."""
