"""`python3 -m pyhelpers.agent`: the agent from a checkout, for development. Releases start `cli.main` themselves."""

import sys

from pyhelpers.agent.cli import main

sys.exit(main(sys.argv[1:]))
