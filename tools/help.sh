# tools/help.sh: sourced by scripts before they do anything: where the first argument is -h or --help, prints the comment with which
# the script begins, and ends it.
case ${1-} in
-h | --help)
    sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0"
    exit 0
    ;;
esac
