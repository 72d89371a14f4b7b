"""`python -m rapt`: the program rapt, which is part of the package."""
import os
import sys


def main():
    """Runs the program in place of this process, with the arguments of the command line."""
    program = os.path.join(os.path.dirname(__file__), "bin", "rapt")
    if not os.path.exists(program):
        sys.exit("rapt: the program is not part of this build of the package")
    os.execv(program, ["rapt", *sys.argv[1:]])


if __name__ == "__main__":
    main()
