#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the bindings and the software driver against the newest Level Zero headers that Debian has,
# in a temporary copy of the tree, and runs the tests of the bindings with that build. The headers
# come from the mirror that this machine uses, and stay in .cache/newer-headers.
#
# usage: newer-headers.sh PYTHON
# Leaves with 77 when the headers cannot be had here.
set -eu

python=$1
root=$(cd "$(dirname "$0")/.." && pwd)
cache=$root/.cache/newer-headers
include=$cache/usr/include

not_available() {
    echo "test with newer headers: not available here: $1"
    exit 77
}

fetch_headers() {
    for tool in apt-get dpkg dpkg-deb; do
        command -v "$tool" >/dev/null || not_available "there is no $tool"
    done
    mirror=$("$root/packaging/debian-mirror.sh") ||
        not_available "apt has no Debian mirror among its sources"

    # A private state for apt: the machine's own package lists stay as they are.
    work=$(mktemp -d)
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keyring] $mirror sid main" >"$work/sources.list"
    cat >"$work/apt.conf" <<EOF
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
Acquire::Languages "none";
APT::Sandbox::User "root";
EOF
    if ! APT_CONFIG="$work/apt.conf" apt-get update -qq >"$work/log" 2>&1 ||
        ! (cd "$work" && APT_CONFIG="$work/apt.conf" apt-get download -qq libze-dev \
            >>"$work/log" 2>&1); then
        reason=$(grep -m 1 '^[EW]:' "$work/log" || echo "apt-get failed")
        rm -rf "$work"
        not_available "$reason"
    fi
    mkdir -p "$root/.cache"
    dpkg-deb -x "$work"/libze-dev_*.deb "$work/unpacked"
    rm -rf "$cache"
    mv "$work/unpacked" "$cache"
    rm -rf "$work"
}

[ -f "$include/level_zero/ze_api.h" ] || fetch_headers

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$root"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ -f "$file" ] && printf '%s\0' "$file"
done | tar --null -T - -cf - | tar -xf - -C "$tree"
cd "$tree"

export URASYNC_L0_INCLUDE="$include"
declared=$("$python" ze_build.py --print-compile-flags | tr ' ' '\n' | grep -c DURASYNC_DECLARE_ || true)
system=$(env -u URASYNC_L0_INCLUDE "$python" ze_build.py --print-compile-flags | tr ' ' '\n' |
    grep -c DURASYNC_DECLARE_ || true)
version=$(sed -n 's/.*ZE_API_VERSION_CURRENT = ZE_MAKE_VERSION( *\([0-9]*\), *\([0-9]*\) *).*/\1.\2/p' \
    "$include/level_zero/ze_api.h")
echo "newer headers: specification $version, $declared declarations of our own" \
    "(this system's headers: $system)"
"$python" setup.py -q build_ext --inplace
# The current folder comes first among the places to import from, so this tree is tested.
"$python" -c "import urasync_l0, pathlib; pathlib.Path(urasync_l0.__file__).relative_to('$tree')"
"$python" -m pytest -q -n auto tests/unit/ze tests/system
