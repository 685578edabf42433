"""Breaks the scripts at every mutating system call, and says what does not hold then. See docs/faults.md."""
