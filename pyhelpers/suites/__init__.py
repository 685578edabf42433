"""Running test files: a pool of sandboxes, TAP and JUnit in, one summary out."""
