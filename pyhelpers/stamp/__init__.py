"""Keeps shell and documents in step with Python: what contract.py and errors.py say is written there, or checked."""
