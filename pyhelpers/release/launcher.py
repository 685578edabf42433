"""The `__main__.py` of the executable file: checks the interpreter, then runs the agent.

It must stay readable for any python3 that a host may have, or the one-line error would be a syntax error.
"""

import os
import sys

if sys.version_info < (3, 9):  # noqa: UP036 - hosts have older ones
    sys.exit("Command execution failed: python3 >= 3.9 is needed, this is %d.%d" % sys.version_info[:2])  # noqa: UP031

if sys.argv[1:] == ["version"]:
    # Callers wait for this answer, so it costs what Python costs: one small import, and no clean-up at exit.
    from pyhelpers.agent._build import BUILD, VERSION_LINES

    if not BUILD["fault"] and sys.stdout is not None:
        try:
            sys.stdout.write(VERSION_LINES)
            sys.stdout.flush()
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the flush at exit would fail again
            sys.exit("Command execution failed: cannot write the answer: %s" % error.strerror)  # noqa: UP031
        os._exit(0)

# An upgrade switches the link that this file was called by: what is imported later must come from this file still.
sys.path[0] = os.path.realpath(sys.path[0])

from pyhelpers.agent.cli import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
