# tests/serve/lib_clients.sh: PYTHON, an interpreter that has the clients of other projects: as set, or the one in the folder into
# which tools/serve_clients.sh installs them, or python3. has_package NAME: whether it has that one. Sourced behind
# tests/cli/lib.sh.
: "${PYTHON:=$HOME/.cache/rapt-clients/bin/python}"
[[ $PYTHON != */* || $PYTHON = /* ]] || PYTHON=$OLDPWD/$PYTHON # lib.sh has changed the folder
[ -x "$(command -v "$PYTHON")" ] || PYTHON=python3
has_package() { "$PYTHON" -c "import $1" 2>/dev/null; }
