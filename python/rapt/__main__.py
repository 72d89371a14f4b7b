"""`python -m rapt`: the program rapt, which is part of the package."""
import os
import sys


def path():
    """Where the program is."""
    folder = os.path.dirname(__file__)
    return os.path.join(folder, "rapt.exe") if os.name == "nt" else os.path.join(folder, "bin", "rapt")


def main():
    """Runs the program in place of this process, with the arguments of the command line."""
    program = path()
    if not os.path.exists(program):
        sys.exit("rapt: the program is not part of this build of the package")
    if os.name != "nt":
        os.execv(program, ["rapt", *sys.argv[1:]])
    # There is no "in place of" there: the shell would not wait for the program. Ctrl-C is for the program, which knows it.
    import signal
    import subprocess
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(subprocess.run([program, *sys.argv[1:]], check=False).returncode)


if __name__ == "__main__":
    main()
