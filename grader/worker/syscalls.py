"""Which system calls remain, by name and number, for the fork server and for student code.

The allow-list was found by running NumPy workloads under it; all else answers EPERM, so that a library can fall back.
Only x86-64 is listed: on any other machine the lockdown refuses to start.
"""

from __future__ import annotations

AUDIT_ARCH_X86_64 = 0xC000003E
X32_BIT = 0x40000000

X86_64 = {
    "read": 0, "write": 1, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "pread64": 17, "readv": 19, "writev": 20, "access": 21, "select": 23, "sched_yield": 24, "mremap": 25,
    "madvise": 28, "dup": 32, "dup2": 33, "nanosleep": 35, "getpid": 39, "exit": 60, "uname": 63, "getcwd": 79,
    "readlink": 89, "gettimeofday": 96, "getrusage": 98, "sysinfo": 99, "times": 100, "getuid": 102, "getgid": 104,
    "geteuid": 107, "getegid": 108, "getppid": 110, "sigaltstack": 131, "arch_prctl": 158, "gettid": 186, "time": 201,
    "futex": 202, "sched_getaffinity": 204, "getdents64": 217, "set_tid_address": 218, "restart_syscall": 219,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "mbind": 237,
    "get_mempolicy": 239, "newfstatat": 262, "readlinkat": 267, "faccessat": 269, "pselect6": 270,
    "ppoll": 271, "set_robust_list": 273, "dup3": 292, "pipe2": 293, "getcpu": 309, "getrandom": 318,
    "membarrier": 324, "statx": 332, "rseq": 334, "faccessat2": 439,
}  # fmt: skip
"""Allowed whatever their arguments are, to everyone."""

SERVER_ONLY = {"wait4": 61, "kill": 62, "close_range": 436}
"""Also allowed to the fork server: it ends and reaps its children, and closes its descriptors in them."""

GPU_ONLY = {"mlock": 149, "munlock": 150, "set_mempolicy": 238, "eventfd2": 290}
"""Also allowed where a GPU was asked for: memory that stays in place, and how the driver tells of events."""

OPEN, IOCTL, CLONE, FCNTL, PRCTL, OPENAT, PRLIMIT64, CLONE3 = 2, 16, 56, 72, 157, 257, 302, 435
TGKILL, SIGABRT = 234, 6

WRITING = 0x1 | 0x2 | 0x40 | 0x200 | 0x400 | 0x400000
"""O_WRONLY, O_RDWR, O_CREAT, O_TRUNC (which empties a file opened to be read, too), O_APPEND, O_TMPFILE's own bit."""

HARMLESS_IOCTLS = (0x5401, 0x5413, 0x5450, 0x5451)
"""TCGETS, TIOCGWINSZ, FIONCLEX, FIOCLEX: what `isatty`, terminal sizes and `set_inheritable` ask."""

HARMLESS_FCNTLS = (0, 1, 2, 3, 4, 1030)
"""F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC: no locks, leases or signals between sandboxes."""

SERVER_PRCTLS = (1, 22, 38)
"""PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS: a child dies with the server and takes the stricter filter."""

CLONE_THREAD = 0x00010000
CLONE_NEW_NAMESPACES = 0x7E020000
"""Every CLONE_NEW… bit that `clone` knows: no new namespace of any kind, by anyone."""
