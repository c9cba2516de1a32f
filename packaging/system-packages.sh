#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes sure that what the build needs from the system is there. On Debian as root it installs what
# is missing; otherwise it says what to install and fails.
#
# usage: system-packages.sh PYTHON
set -eu

python=$1
compiler=${CC:-cc}

if ! command -v "$python" >/dev/null; then
    echo "There is no $python. Install Python 3.11 or newer, or name one: make PYTHON=..." >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "$python is older than 3.11. Name a newer one: make PYTHON=..." >&2
    exit 1
fi

missing_packages() {
    echo '#include <stdio.h>' | $compiler -E -x c - >/dev/null 2>&1 || echo gcc libc6-dev
    echo '#include <level_zero/ze_api.h>' |
        $compiler -E ${URASYNC_L0_INCLUDE:+"-I$URASYNC_L0_INCLUDE"} -x c - >/dev/null 2>&1 ||
        echo libze-dev
    "$python" -c "import ctypes; ctypes.CDLL('${URASYNC_L0_LOADER:-libze_loader.so.1}')" \
        2>/dev/null || echo libze1
    "$python" -c 'import ensurepip, venv' 2>/dev/null || echo python3-venv
    "$python" -c 'import pathlib, sys, sysconfig
sys.exit(not pathlib.Path(sysconfig.get_path("include"), "Python.h").is_file())' || echo python3-dev
}

missing=$(missing_packages | tr '\n' ' ')
[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Please install these packages (names as in Debian): $missing" >&2
    echo "As root on Debian: apt-get update && apt-get install $missing" >&2
    exit 1
fi
echo "Installing $missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq || echo "apt-get update failed; going on with the lists that are there" >&2
# shellcheck disable=SC2086 # several names, none with a blank
apt-get install -qq -y --no-install-recommends $missing >/dev/null

missing=$(missing_packages | tr '\n' ' ')
if [ -n "$missing" ]; then
    echo "Still missing for $python after the installation: $missing" >&2
    exit 1
fi
