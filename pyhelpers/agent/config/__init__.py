"""config.json: `load` reads and checks the file, and names everything that is wrong with it at once.

The rules are in rules.py (each key) and relations.py (several keys together); docs/config.md is made from them.
"""

from pyhelpers.agent.config.load import Config, ConfigErrors, load

__all__ = ["Config", "ConfigErrors", "load"]
