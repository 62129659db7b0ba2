"""Functions written in C that looks at stacks show, in a file of their own: they wait, or move data."""

FILE = "<built-in>"
BLOCKING = frozenset(
    {
        "sleep", "acquire", "wait", "select", "poll", "recv", "recv_into", "recvfrom", "recvfrom_into",
        "recvmsg", "send", "sendall", "sendto", "sendmsg", "sendfile", "accept", "connect", "getaddrinfo",
        "gethostbyname", "read", "readinto", "readline", "readlines", "write", "writelines", "flush", "fsync",
        "fdatasync", "truncate", "waitpid", "wait4", "__enter__",
    }
)  # fmt: skip
"""Functions that wait for a thread, a file, a socket or a program, whatever that costs the processor. Of what
is written in C, a `with` statement enters little that takes time but locks."""
MOVING = frozenset(
    {"array", "asarray", "astype", "tolist", "copyto", "copy", "concatenate", "tensor", "as_tensor"}
)
"""Functions of NumPy and PyTorch that copy and convert arrays; those of devices come to the host in them."""
AWAITING = frozenset({"block_until_ready"})
"""Methods of JAX's arrays that wait until the device has computed them."""
SHOWN = BLOCKING | MOVING | AWAITING
