# tools/levels.sh: for scripts, to be sourced: levels of the ISA, as `rapt info --json` has them; what it prints without --json is
# for people, and changes. In Python: levels.py.

# strings KEY <JSON: the strings of an array.
strings() { tr -d ' \n' | sed -n "s/.*\"$1\":\[\([^]]*\)\].*/\1/p" | tr -d '"' | tr ',' ' '; }
# The levels of this build that this machine has, best last, and the levels that it lacks.
levels_of() { "$1" info --json | strings levels; }
missing_levels_of() { "$1" info --json | strings levels_missing; }
