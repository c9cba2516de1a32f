#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes, or uses again, a folder with Debian sid in it: a new Level Zero loader with its layers,
# Intel's driver, Intel's own Unified Runtime adapters, and a virtual environment of its Python.
# Builds the package there, installs its wheel, and runs the tests of tests/intel in the folder.
#
# usage: intel-stack.sh PYTHON [ARGUMENT...]       the arguments are those of `python -m tests.intel`
# Figures that a part measures are left in build, as JSON. The part `bench` counts instructions as well,
# so it gets valgrind into the folder.
# Leaves with 77 when the folder cannot be had here. The folder is .cache/intel-stack, or what
# URASYNC_L0_INTEL_STACK names; remove it for newer versions of what is in it. Intel's adapters are
# in /opt/urasync/intel of it.
set -eu

python=$1
shift
root=$(cd "$(dirname "$0")/.." && pwd)
stack=${URASYNC_L0_INTEL_STACK:-$root/.cache/intel-stack}
sid=$stack/sid
wheels=$stack/wheels

debian_packages=(
    python3 python3-venv python3-dev gcc g++ libc6-dev # what builds and runs the package
    libze1 libze-dev                                   # the loader, with its layers
    libze-intel-gpu1 libigc2                           # Intel's driver and its compiler
)
python_packages=('setuptools>=77' wheel 'cffi>=1.17' 'rich>=13'
    'pytest>=8' pytest-xdist pytest-randomly hypothesis)
intel_packages=(intel-cmplr-lib-ur umf tcmlib intel-cmplr-lib-rt)

not_available() {
    echo "test with Intel's stack: not available here: $1"
    exit 77
}

# What is lent to a run: folders of this machine, each with the place in the folder where it is seen.
# - The OpenCL runtime for the software driver: what is beside the file that URASYNC_L0_OPENCL names,
#   or that `make test-kernels` has fetched.
# - dpctl and dpnp, for the part `sycl`, which fetches them for the folder's Python: a large download,
#   so only if that part is named.
opencl=${URASYNC_L0_OPENCL:-$root/.cache/kernels/lib/libintelocl.so}
sycl=$root/.cache/intel-sycl
lent=()

lend() {
    mkdir -p "$2"
    lent+=("$1" "$2")
}

# Runs a command in the folder. What is mounted for it, and what it leaves running, goes with it.
inside() {
    unshare --mount --pid --fork --kill-child sh -c '
        sid=$1 count=$2
        shift 2
        mount -t proc proc "$sid/proc" && mount --rbind /dev "$sid/dev" || exit
        while [ "$count" -gt 0 ]; do
            mount --bind "$1" "$2" || exit
            shift 2
            count=$((count - 2))
        done
        exec chroot "$sid" "$@"
    ' sh "$sid" ${#lent[@]} ${lent[@]+"${lent[@]}"} \
        env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
        PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore "$@"
}

# Runs a command that makes part of the folder; when it fails, the folder is not available.
step() {
    if ! "$@" >"$stack/log" 2>&1; then
        not_available "$* failed: $(grep -v '^I:' "$stack/log" | tail -n 1)"
    fi
}

# Wheels for the folder's Python come through this machine's pip, with its settings; the folder needs
# no network.
fetch() {
    to=$1
    shift
    version=$(inside python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    platforms=()
    for glibc in 17 27 28 34; do
        platforms+=(--platform "manylinux_2_${glibc}_x86_64")
    done
    "$python" -m pip download --dest "$to" --only-binary :all: --python-version "$version" \
        "${platforms[@]}" "$@"
}

make_folder() {
    step debootstrap --variant=minbase \
        --include="$(IFS=, && echo "${debian_packages[*]}")" sid "$sid" "$mirror"
    step fetch "$wheels" "${python_packages[@]}"
    step fetch "$wheels" --no-deps "${intel_packages[@]}"
    mkdir -p "$sid/opt/urasync/wheels"
    cp "$wheels"/*.whl "$sid/opt/urasync/wheels"
    offline=(--quiet --no-index --find-links /opt/urasync/wheels)
    step inside python3 -m venv /opt/urasync/venv
    step inside /opt/urasync/venv/bin/pip install "${offline[@]}" "${python_packages[@]}"
    step inside /opt/urasync/venv/bin/pip install "${offline[@]}" --no-deps \
        --prefix /opt/urasync/intel "${intel_packages[@]}"
}

# dpctl and dpnp with all that they need, in a folder that a run is lent.
make_sycl() {
    local lent=() offered=${run#"$sid"}
    wanted="$(inside python3 --version) dpctl dpnp"
    [ "$(cat "$sycl/made" 2>/dev/null)" != "$wanted" ] || return 0
    echo "Fetching dpctl and dpnp for the folder's Python, about two gigabytes when they are unpacked"
    rm -rf "$sycl"
    mkdir -p "$sycl/wheels" "$sycl/prefix"
    step fetch "$sycl/wheels" dpctl dpnp
    lend "$sycl/wheels" "$run/sycl-wheels"
    lend "$sycl/prefix" "$run/sycl"
    step inside /opt/urasync/venv/bin/pip install --quiet --no-index \
        --find-links "$offered/sycl-wheels" --prefix "$offered/sycl" dpctl dpnp
    rm -r "$sycl/wheels"
    echo "$wanted" >"$sycl/made"
}

# Without it no instructions are counted, which the part says.
add_valgrind() {
    inside test ! -x /usr/bin/valgrind || return 0
    echo "Installing valgrind in the folder"
    inside sh -euc 'apt-get update -qq -o Acquire::Check-Valid-Until=false
        DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends valgrind
    ' >"$stack/log" 2>&1 || echo "valgrind cannot be installed: $(tail -n 1 "$stack/log")"
}

[ "$(id -u)" = 0 ] || not_available "only root may make and enter such a folder"
[ "$(uname -m)" = x86_64 ] || not_available "Intel's driver is for x86_64, this is $(uname -m)"
command -v unshare >/dev/null || not_available "there is no unshare"
unshare --mount --pid --fork true 2>/dev/null || not_available "this machine lets nobody mount"

wanted="${debian_packages[*]} ${python_packages[*]} ${intel_packages[*]}"
if [ "$(cat "$stack/made" 2>/dev/null)" != "$wanted" ]; then
    command -v apt-get >/dev/null || not_available "this is not Debian"
    mirror=$("$root/packaging/debian-mirror.sh") ||
        not_available "apt has no Debian mirror among its sources"
    if ! command -v debootstrap >/dev/null; then
        apt-get install -qq -y --no-install-recommends debootstrap >/dev/null 2>&1 ||
            not_available "there is no debootstrap, and apt-get cannot install it"
    fi
    rm -rf "$stack"
    mkdir -p "$stack"
    echo "Making a folder with Debian sid and Intel's software; this takes some minutes"
    make_folder
    echo "$wanted" >"$stack/made"
fi

# Each run has a folder and a virtual environment of its own, so that several can go on at a time. The
# package is installed from its wheel; of the source tree only the tests are there to be run.
mkdir -p "$sid/opt/urasync/runs"
run=$(mktemp -d "$sid/opt/urasync/runs/XXXXXX")
trap 'rm -rf "$run"' EXIT
tree=$run/tree
mkdir "$tree"
cd "$root"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
    [ -f "$file" ] && printf '%s\0' "$file"
done | tar --null -T - -cf - | tar -xf - -C "$tree"
inside sh -euc '
    cd "$1/tree"
    shared=/opt/urasync/venv/bin/python
    python3 -m venv --without-pip "$1/venv"
    $shared -c "import site; print(site.getsitepackages()[0])" \
        >"$(echo "$1"/venv/lib/python*/site-packages)/shared.pth"
    $shared -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir "$1/dist" .
    $shared -m pip --python "$1/venv/bin/python" install --quiet --no-index --no-deps \
        --ignore-installed "$1"/dist/*.whl
    rm -rf build ./*.egg-info tools urasync_l0 setup.py
' sh "${run#"$sid"}"
settings=()
if [ -f "$opencl" ]; then
    lend "$(dirname "$opencl")" "$run/opencl"
    settings+=("URASYNC_L0_OPENCL=${run#"$sid"}/opencl/$(basename "$opencl")")
fi
case " $* " in *" sycl "*) make_sycl ;; esac
case " $* " in *" bench "*) add_valgrind ;; esac
if [ -f "$sycl/made" ]; then
    lend "$sycl/prefix" "$run/sycl"
    settings+=("URASYNC_L0_SYCL=${run#"$sid"}/sycl")
fi
status=0
inside env ${settings[@]+"${settings[@]}"} sh -euc '
    cd "$1/tree"
    run=$1
    shift
    exec "$run/venv/bin/python" -m tests.intel "$@"
' sh "${run#"$sid"}" "$@" || status=$?
# The run's folder goes away; what it measured stays.
for file in "$tree"/build/*.json; do
    [ -f "$file" ] || continue
    mkdir -p build
    cp "$file" build
    echo "The figures as JSON: build/$(basename "$file")"
done
exit "$status"
