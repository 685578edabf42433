"""The reference agent. This and what it imports ships on hosts; nothing is imported here, to keep `version` cheap."""
