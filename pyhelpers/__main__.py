"""`python3 -m pyhelpers` is `flexkit`."""

import sys

from pyhelpers.cli import main

sys.exit(main())
