#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds the source distribution, from that alone the wheel, installs the wheel into a fresh virtual
# environment, and runs tests there from a folder with nothing but the tests and the modules that
# build: what they find of the package is what was installed.
#
# usage: wheel.sh PYTHON [argument of pytest]...       all tests, if there is none
set -eu

python=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH

# -- the source distribution, from what is under version control -----------------------------------

mkdir "$work/source" "$work/dist" "$work/tests"
cd "$root"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ -f "$file" ] && printf '%s\0' "$file"
done | tar --null -T - -cf - | tar -xf - -C "$work/source"
installed=$work/venv/bin/python
pip() { "$installed" -m pip --quiet --disable-pip-version-check "$@"; }
"$python" -m venv "$work/venv"
pip install 'setuptools>=77' 'cffi>=1.17'
cd "$work/source"
"$installed" -c 'import sys, setuptools.build_meta as backend; backend.build_sdist(sys.argv[1])' \
    "$work/dist" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
sdist=$(echo "$work"/dist/*.tar.gz)
left_behind=$(find . -type f -printf '%P\n' | grep -v '^\.git\|^\.clang-format$\|egg-info' | sort |
    comm -23 - <(tar -tzf "$sdist" | sed 's,^[^/]*/,,' | sort))
if [ -n "$left_behind" ]; then
    echo "MANIFEST.in lacks: $left_behind" >&2
    exit 1
fi

# -- the wheel, from the source distribution, as pip builds it for anybody --------------------------

cd "$work/tests" # no source tree from here on
rm -rf "$work/source" "$work/venv"
"$python" -m venv "$work/venv"
pip wheel --no-deps --wheel-dir "$work/dist" "$sdist"
pip install "$work"/dist/*.whl 'pytest>=9' pytest-xdist pytest-randomly hypothesis mypy numpy \
    'setuptools>=77' # for the modules that build
(cd "$work/dist" && ls -s --block-size=KiB -- *)

# -- the tests: those that need no more than what is installed --------------------------------------

tar -xzf "$sdist" --strip-components=1 --wildcards '*/tests' '*/pyproject.toml' '*/*_build.py'
left_out=()
needs_sources='^(from|import) (benchmarks|ze_build|ur_library_build|tests\.(system\.made_loader|intel|helpers\.type_checker))'
reads_sources='ROOT / "(urasync_l0|tools|examples|docs)|parents\[3\] / "urasync_l0"|__file__\)\.parent / "compiled'
for file in $(grep -rlE "$needs_sources|$reads_sources" tests --include='*.py'); do
    case $file in
    */conftest.py) left_out+=("$(dirname "$file")") ;;
    */test_*.py) left_out+=("$file") ;;
    esac
done
echo "left out, since they are about the source tree: ${left_out[*]}"
pytest() { "$installed" -m pytest -q -p no:cacheprovider "${left_out[@]/#/--ignore=}" "$@"; }
# Whatever is run: none of the tests may need more to be found.
pytest --collect-only tests >"$work/log" || { tail -n 30 "$work/log"; exit 1; }
pytest -n auto "${@:-tests}"
