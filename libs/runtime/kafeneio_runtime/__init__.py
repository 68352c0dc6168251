"""What every process of Kafeneio needs and no game knows."""

import os

# gRPC reads it when it is loaded. We start programs, but never fork to go on in both halves: its
# preparations for that would only complain.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
