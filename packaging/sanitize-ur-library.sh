#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the C client of the UR libraries under the address and undefined sanitizers, then under the
# thread sanitizer, in a temporary copy of the tree. Client and libraries are instrumented; Python,
# its extension modules and the software driver are not.
#
# usage: sanitize-ur-library.sh PYTHON [option of pytest]...
set -eu

python=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
compiler=${CC:-cc}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

cp -r "$root/urasync_l0" "$root/tests" "$root/pyproject.toml" "$root/ze_build.py" \
    "$root/ur_library_build.py" "$copy"
cd "$copy"
export PYTHONPATH=$copy

run() {
    export CC="$compiler -O1 -g -fno-omit-frame-pointer $1"
    shift
    rm -f urasync_l0/ur_library/*.so
    "$python" -c 'import pathlib, ze_build
for adapter in ze_build.ADAPTERS:
    ze_build.build_ur_library(pathlib.Path("urasync_l0/ur_library"), adapter)'
    "$python" -m pytest -q -p no:cacheprovider -n auto "$@" tests/ur_library/test_client.py
}

# Python keeps some memory at exit.
ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
    run '-fsanitize=address,undefined -fno-sanitize-recover=undefined' "$@"
# Threads that are left at the end are what some scenarios are about.
TSAN_OPTIONS=ignore_noninstrumented_modules=1:die_after_fork=0:report_thread_leaks=0 \
    run -fsanitize=thread "$@"
