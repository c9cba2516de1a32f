// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Level Zero's declarations, with the entries hidden inside of this shared object.
//
// The loader exports functions of the same names. If ours were visible too, the dynamic linker
// would put the loader's in their place.

#ifndef URASYNC_LEVEL_ZERO_H
#define URASYNC_LEVEL_ZERO_H

#define ZE_APIEXPORT __attribute__((visibility("hidden")))

#include <level_zero/ze_api.h>

#include "newer_level_zero.h"

#endif
