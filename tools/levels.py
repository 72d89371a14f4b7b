"""Levels of the ISA, as `rapt info --json` has them, for the scripts beside this one. In shell: levels.sh."""
import json
import subprocess


def levels(rapt):
    """What this machine has, best last, and the one that rapt chooses: not the last where that is slower."""
    info = json.loads(subprocess.run([rapt, "info", "--json"], capture_output=True, text=True, check=True).stdout)
    return info["levels"], info["isa"]
