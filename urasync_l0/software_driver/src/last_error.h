// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the last refused call of a thread has to say beyond its code.

#ifndef URASYNC_LAST_ERROR_H
#define URASYNC_LAST_ERROR_H

enum { LONGEST_ERROR = 4096 };

__attribute__((format(printf, 1, 2))) void last_error_set(const char *format, ...);
const char *last_error(void); // of this thread, valid until its next refused call

#endif
