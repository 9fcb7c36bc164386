# Installs a system call filter on top of the container engine's own, then becomes the command:
#   python3 -I -S filter.py FILTER COMMAND [ARGUMENT...]
# Needs no privilege, since no-new-privileges is set.
import ctypes
import os
import sys

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


with open(sys.argv[1], "rb") as file:
    rules = file.read()
held = ctypes.create_string_buffer(rules, len(rules))
program = Program(len(rules) // 8, ctypes.cast(held, ctypes.c_void_p))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
    sys.exit("system call filter: " + os.strerror(ctypes.get_errno()))
os.execv(sys.argv[2], sys.argv[2:])
