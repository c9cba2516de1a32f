#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the programs in SPIR-V that are kept in the repository from their sources in OpenCL C, with
# Debian's packages clang-14 and llvm-spirv-14. SPIR-V 1.0 is what every driver takes.
set -eu

cd "$(dirname "$0")/.."
bitcode=$(mktemp)
trap 'rm -f "$bitcode"' EXIT
for source in tools/replayer/compare_places.cl examples/scale.cl; do
    clang-14 -c -emit-llvm -x cl -cl-std=CL1.2 -target spir64 -O2 -Xclang -finclude-default-header \
        -o "$bitcode" "$source"
    llvm-spirv-14 --spirv-max-version=1.0 -o "${source%.cl}.spv" "$bitcode"
done
