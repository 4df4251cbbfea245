"""What each command of the command line does, one module a command."""

INTERRUPTED = 130  # exit code after Ctrl-C, as a shell says it
