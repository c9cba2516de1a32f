/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Rows and buffers: what clients do with memory beside allocating it. */
#include "client.h"

#include <string.h>

void rows(void) {
    enum { PITCH = 64, WIDTH = 48, HEIGHT = 5 };
    struct bench bench = begin();
    ur_event_handle_t event[2] = {0};
    unsigned char seen[HEIGHT][WIDTH];
    const unsigned char pattern[4] = {1, 2, 3, 4};
    uint32_t command = 99;
    void *mem = NULL;
    ur_bool_t has = 0;
    OK(UR(urContextGetInfo)(bench.context, CONTEXT_INFO_USM_MEMCPY_2D_SUPPORT, 1, &has, NULL));
    CHECK(has == 1);
    OK(UR(urUSMSharedAlloc)(bench.context, bench.device, NULL, NULL, PITCH * HEIGHT, &mem));
    memset(mem, 0xFF, PITCH * HEIGHT);
    OK(UR(urEnqueueUSMPrefetch)(bench.queue, mem, PITCH * HEIGHT, 1, 0, NULL, NULL));
    OK(UR(urEnqueueUSMAdvise)(bench.queue, mem, PITCH * HEIGHT, 2, &event[0]));
    OK(UR(urEnqueueUSMFill2D)(bench.queue, mem, PITCH, sizeof(pattern), pattern, WIDTH, HEIGHT, 1,
                              &event[0], &event[1]));
    OK(UR(urEventGetInfo)(event[1], EVENT_INFO_COMMAND_TYPE, sizeof(command), &command, NULL));
    CHECK(command == COMMAND_USM_FILL_2D);
    OK(UR(urEnqueueUSMMemcpy2D)(bench.queue, true, seen, WIDTH, mem, PITCH, WIDTH, HEIGHT, 1,
                                &event[1], NULL));
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            CHECK(seen[y][x] == pattern[x % 4]);
    CHECK(((unsigned char *)mem)[WIDTH] == 0xFF && ((unsigned char *)mem)[PITCH] == 1);
    GIVES(INVALID_SIZE, UR(urEnqueueUSMFill2D)(bench.queue, mem, WIDTH - 1, 1, pattern, WIDTH,
                                               HEIGHT, 0, NULL, NULL));
    OK(UR(urEventRelease)(event[0]));
    OK(UR(urEventRelease)(event[1]));
    OK(UR(urUSMFree)(bench.context, mem));
    end(&bench);
}
