"""What every call passes before it reaches a handler, from the outside in.

| layer    | does                                     | stands there because                 |
|----------|------------------------------------------|--------------------------------------|
| metrics  | counts                                   | also counts what the others refuse   |
| trace    | makes it part of a trace, if on          | its log lines name the trace         |
| log      | gives an id, writes a line at the end    | the status carries the id            |
| errors   | turns what is raised into a status       | the rest simply raises               |
| decode   | reads the request                        | cheap; bounded by the message size   |
| deadline | demands one of unary calls               | costs nothing, needs no caller       |
| auth     | who calls, and is the method for him     | before anything that costs           |
| limits   | a token bucket per player                | a stranger can't use up his bucket   |
| validate | holds the request against the protos     | grows with the message, so the last  |

Health and reflection pass only the metrics: probes and tools carry no token.
"""

from collections.abc import Mapping

from kafeneio_runtime.auth import Role, TokenVerifier
from kafeneio_runtime.clock import Time
from kafeneio_runtime.interceptors.auth import Auth
from kafeneio_runtime.interceptors.base import Layer
from kafeneio_runtime.interceptors.deadline import Deadline
from kafeneio_runtime.interceptors.decode import Decode
from kafeneio_runtime.interceptors.errors import Errors
from kafeneio_runtime.interceptors.limits import Limits
from kafeneio_runtime.interceptors.log import Log
from kafeneio_runtime.interceptors.metrics import Metrics
from kafeneio_runtime.interceptors.trace import Trace
from kafeneio_runtime.interceptors.validate import Validate
from kafeneio_runtime.settings import Settings


def all_layers(
    settings: Settings, verifier: TokenVerifier, roles: Mapping[str, frozenset[Role]], time: Time
) -> tuple[Layer, ...]:
    """The layers of a service in their order, outermost first."""
    return (
        Metrics(),
        Trace(),
        Log(),
        Errors(),
        Decode(),
        Deadline(),
        Auth(verifier, roles),
        Limits(time, settings.rate_limit_per_second, settings.rate_limit_burst),
        Validate(),
    )
