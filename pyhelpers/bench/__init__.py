"""Measurements, side by side in one run. Each module has `measure() -> list[Row]`."""
