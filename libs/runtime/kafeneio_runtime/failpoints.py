"""Named places at which a crash test kills the process.

`failpoint("outbox.published")` does nothing, unless the process was started with
`KAFENEIO_FAILPOINT=outbox.published`: then it dies there at once, like a machine that loses its
power. A test finds all names in the code and fails if one is never hit, so a name is always a
literal.
"""

import os
import signal
from typing import Final

VARIABLE: Final = "KAFENEIO_FAILPOINT"
_ARMED: Final = os.environ.get(VARIABLE)


def failpoint(name: str) -> None:
    """Kills the process here if it was started to die at `name`."""
    if _ARMED is not None and name == _ARMED:
        os.kill(os.getpid(), signal.SIGKILL)
