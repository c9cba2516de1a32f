#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs the tests of the pool core's part in C, and of what makes DLPack capsules, under the address
# and undefined sanitizers, in a temporary copy of the tree.
#
# usage: sanitize-pool.sh PYTHON
set -eu

python=$1
root=$(cd "$(dirname "$0")/.." && pwd)
compiler=${CC:-cc}
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

cp -r "$root/urasync_l0" "$root/tests" "$root/pyproject.toml" "$copy"
cd "$copy"
rm -f urasync_l0/pool/_structure*.so urasync_l0/dlpack/_capsule*.so
suffix=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
include=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
build() {
    "$compiler" -std=gnu11 -O1 -g -Wall -Wextra -Werror -fPIC -shared -fno-omit-frame-pointer \
        -fsanitize=address,undefined -fno-sanitize-recover=undefined "-I$include" "$@"
}
build urasync_l0/pool/compiled/*.c -o "urasync_l0/pool/_structure$suffix"
build urasync_l0/dlpack/capsule.c -o "urasync_l0/dlpack/_capsule$suffix"

# Python gives small objects out of its own arenas unless told otherwise, and keeps some at exit.
export PYTHONPATH=$copy PYTHONMALLOC=malloc ASAN_OPTIONS=detect_leaks=0 URASYNC_L0_POOL=compiled
LD_PRELOAD="$("$compiler" -print-file-name=libasan.so) $("$compiler" -print-file-name=libubsan.so)"
export LD_PRELOAD
# What starts processes of its own, the compiler among them, is left to the plain run.
"$python" -m pytest -q -p no:xdist -p no:cacheprovider \
    -k "not variable and not without_the_module and not compile and not outlives" \
    tests/unit/pool/test_structure.py tests/unit/pool/test_size_index.py \
    tests/unit/pool/test_reuse.py tests/unit/pool/test_bounds.py \
    tests/unit/pool/test_queue_front.py tests/unit/pool/test_held_signal.py \
    tests/conformance/test_shared_signal.py tests/conformance/test_markers.py \
    tests/conformance/test_waits_at_once.py \
    tests/conformance/test_dlpack.py
