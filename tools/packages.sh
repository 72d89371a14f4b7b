# tools/packages.sh: for scripts that need Debian packages: `need REASON PACKAGE...` notes what is wanted, and
# `install_missing` says what is missing and why, and installs it. Nothing else is downloaded, nothing that is there is
# touched, and sudo is asked for only where something is missing and the user is not root.
missing=()

# text ENGLISH: prints a text in the user's language. ./quickstart defines it first where that is Chinese.
declare -F text >/dev/null || text() { printf '%s\n' "$1"; }

is_installed() { [ "$(dpkg-query -W -f '${Status}' "$1" 2>/dev/null)" = 'install ok installed' ]; }

need() {
    local reason package wanted=()
    reason=$(text "$1")
    shift
    command -v dpkg-query >/dev/null || { echo "  $reason: $* ($(text 'or what your system calls them'))"; return; }
    for package; do
        is_installed "$package" || wanted+=("$package")
    done
    [ ${#wanted[@]} = 0 ] || echo "  ${wanted[*]}: $reason"
    missing+=("${wanted[@]}")
}

install_missing() {
    local root=()
    [ ${#missing[@]} -gt 0 ] || return 0
    if [ "$(id -u)" != 0 ]; then
        root=(sudo)
        command -v sudo >/dev/null || { echo "$(text 'please install, as root'): apt-get install ${missing[*]}"; return 1; }
    fi
    echo "$(text installing): ${missing[*]}"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=300 --no-install-recommends "${missing[@]}" >/dev/null ||
        { echo "$(text 'could not install'): ${missing[*]}"; return 1; }
}

# What it takes to try the page of rapt explain --html in a browser; large, so only where asked for.
need_for_browser() {
    need 'a browser, driven by a test' chromium chromium-driver python3-selenium
}

# What it takes to train on several machines: one MPI, where there is none. The program is built and runs without.
need_for_mpi() {
    { command -v mpicc && command -v mpirun; } >/dev/null || need 'processes on several machines: MPI' openmpi-bin libopenmpi-dev
}

# What it takes to build the module of WebAssembly, and to run it.
need_for_wasm() {
    need 'the module of WebAssembly: a compiler, and what its linker asks node for' emscripten node-acorn
    command -v node >/dev/null || need 'the module of WebAssembly: what runs it' nodejs
}

# The packages for comparing the library with the last release's.
need_for_abi() {
    need 'the report of what changed for programs that are linked with the library' abigail-tools xz-utils
}

# What it takes to build the program.
need_for_build() {
    need 'the C compiler and make' build-essential
    need 'the build system, and how it finds libraries' cmake pkg-config
    need 'JSON: configurations, model files, logs' libjansson-dev
    need 'YAML: recipes' libyaml-dev
    need 'checksums of model files' libxxhash-dev
    need 'patterns that split texts for tokenizers' libpcre2-dev
    need 'texts in gzip files' zlib1g-dev
    need 'pictures as PNG: text of all scripts' libpango1.0-dev
    # Three packages have libcurl for programs, one of which can be installed: any will do.
    { command -v pkg-config && pkg-config --exists libcurl; } >/dev/null || need 'rapt fetch: downloads' libcurl4-openssl-dev
    need 'rapt fetch: unpacking and sha256' libarchive-dev nettle-dev
    need 'rapt serve: HTTP' libmicrohttpd-dev
}
