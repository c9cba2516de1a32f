// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// packaging/spirv.sh makes scale.spv of it.

kernel void scale(global float *data, float factor) { data[get_global_id(0)] *= factor; }
