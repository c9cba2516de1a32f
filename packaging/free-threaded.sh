#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the package for a free-threaded CPython, in a temporary copy of the tree, and runs the unit
# and conformance tests there. What the interpreter lacks of the development packages is installed
# into a virtual environment in .cache/free-threaded.
#
# usage: [PYTHON_FREE_THREADED=INTERPRETER] free-threaded.sh [pytest options]
# Without the variable, the newest free-threaded interpreter on the PATH is used.
# Leaves with 77 when there is none, or when what the tests need cannot be had for it.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)

not_available() {
    echo "free-threaded CPython: not available here: $1"
    exit 77
}

python=${PYTHON_FREE_THREADED:-}
if [ -z "$python" ]; then
    for name in python3.16t python3.15t python3.14t python3.13t; do
        python=$(command -v "$name" || true)
        [ -z "$python" ] || break
    done
fi
[ -n "$python" ] ||
    not_available "no python3.14t or the like on the PATH; PYTHON_FREE_THREADED=… names one"
command -v "$python" >/dev/null || not_available "there is no $python"
"$python" -c 'import sysconfig; raise SystemExit(not sysconfig.get_config_var("Py_GIL_DISABLED"))' ||
    not_available "$python is no free-threaded build"

if ! "$python" -c 'import cffi, rich, setuptools, pytest, xdist' 2>/dev/null; then
    version=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))')
    environment=$root/.cache/free-threaded/$version
    log=$root/.cache/free-threaded/log
    mkdir -p "$root/.cache/free-threaded"
    if [ ! -x "$environment/bin/python" ]; then
        "$python" -m venv "$environment" >"$log" 2>&1 || not_available "$(tail -n 1 "$log")"
    fi
    python=$environment/bin/python
    # The built part of hypothesis may not exist for it; its tests are left out then, and say so.
    if ! "$python" -m pip install --quiet 'setuptools>=77' wheel 'cffi>=2' 'rich>=13' \
        pytest pytest-xdist pytest-randomly >"$log" 2>&1; then
        reason=$(grep -m 1 -E "Error: |^ERROR: " "$log" || tail -n 1 "$log")
        not_available "$(echo "$reason" | sed "s/^ *//")"
    fi
    "$python" -m pip install --quiet hypothesis >>"$log" 2>&1 || true
fi

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cd "$root"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ -f "$file" ] && printf '%s\0' "$file"
done | tar --null -T - -cf - | tar -xf - -C "$tree"
cd "$tree"
"$python" setup.py -q build_ext --inplace
export PYTHONPATH=$tree # also for the programs that tests start elsewhere
# No extension may have switched the interpreter's lock on again.
"$python" -W error -c "
import pathlib, sys
import urasync_l0, urasync_l0.dlpack._capsule, urasync_l0.pool._structure, urasync_l0.ze._level_zero
import urasync_l0.software_driver._controls_ffi
pathlib.Path(urasync_l0.__file__).relative_to('$tree')
assert not sys._is_gil_enabled(), 'importing the package switched the lock on'
print('free-threaded CPython', sys.version.split()[0])"
left_out=()
if ! "$python" -c 'import hypothesis' 2>/dev/null; then
    for file in $(grep -rlE '^(from|import) (hypothesis|tests.helpers.pool_machine)' tests/unit tests/conformance); do
        left_out+=(--ignore "$file")
    done
    echo "left out, since hypothesis cannot be had for it: ${left_out[*]}"
fi
"$python" -X dev -m pytest -q -n auto "${left_out[@]}" tests/unit tests/conformance "$@"
