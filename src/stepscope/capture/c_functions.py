"""Functions written in C that samples name when a thread is in them: they wait, or move data."""

FILE = "<built-in>"
BLOCKING = frozenset(
    {
        "sleep", "acquire", "wait", "select", "poll", "recv", "recv_into", "recvfrom", "recvfrom_into",
        "recvmsg", "send", "sendall", "sendto", "sendmsg", "sendfile", "accept", "connect", "getaddrinfo",
        "gethostbyname", "read", "readinto", "readline", "readlines", "write", "writelines", "flush", "fsync",
        "fdatasync", "truncate", "waitpid", "wait4", "__enter__",
    }
)  # fmt: skip
"""Functions that wait for a thread, a file, a socket or a program, whatever processor time they take. Of C
functions, a `with` statement mostly enters locks."""
MOVING = frozenset(
    {"array", "asarray", "astype", "tolist", "copyto", "copy", "concatenate", "tensor", "as_tensor"}
)
"""Functions of NumPy and PyTorch that copy and convert arrays, and bring them from a device to the host."""
AWAITING = frozenset({"block_until_ready"})
"""Methods of JAX's arrays that wait for the device to compute them."""
SHOWN = BLOCKING | MOVING | AWAITING
