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
            CHECK_DONE(seen[y][x] == pattern[x % 4]);
    CHECK_DONE(((unsigned char *)mem)[WIDTH] == 0xFF && ((unsigned char *)mem)[PITCH] == 1);
    GIVES(INVALID_SIZE, UR(urEnqueueUSMFill2D)(bench.queue, mem, WIDTH - 1, 1, pattern, WIDTH,
                                               HEIGHT, 0, NULL, NULL));
    OK(UR(urEventRelease)(event[0]));
    OK(UR(urEventRelease)(event[1]));
    OK(UR(urUSMFree)(bench.context, mem));
    end(&bench);
}

/* What a buffer holds, without a check of how it came there. */
static void contents(struct bench *bench, ur_mem_handle_t buffer, unsigned char *seen,
                     size_t size) {
    OK(UR(urEnqueueMemBufferRead)(bench->queue, buffer, true, 0, size, seen, 0, NULL, NULL));
}

static void copies(struct bench *bench, ur_mem_handle_t first, ur_mem_handle_t second) {
    enum { SIZE = 256 };
    unsigned char content[SIZE], seen[SIZE], part[8];
    ur_event_handle_t event[3] = {0};
    const ur_rect_offset_t origin = {2, 1, 0}, start = {0, 0, 0};
    const ur_rect_region_t region = {4, 2, 1};
    for (int i = 0; i < SIZE; i++)
        content[i] = (unsigned char)i;
    OK(UR(urEnqueueMemBufferWrite)(bench->queue, first, false, 0, SIZE, content, 0, NULL,
                                   &event[0]));
    OK(UR(urEnqueueMemBufferCopy)(bench->queue, first, second, 0, 0, SIZE, 1, &event[0],
                                  &event[1]));
    OK(UR(urEnqueueMemBufferFill)(bench->queue, second, "ab", 2, 16, 16, 1, &event[1], &event[2]));
    OK(UR(urEventWait)(3, event));
    contents(bench, second, seen, SIZE);
    CHECK_DONE(seen[15] == 15 && seen[16] == 'a' && seen[31] == 'b' && seen[32] == 32);
    OK(UR(urEnqueueMemBufferReadRect)(bench->queue, first, true, origin, start, region, 16, 0, 0, 0,
                                      part, 0, NULL, NULL));
    CHECK_DONE(part[0] == 18 && part[3] == 21 && part[4] == 34 && part[7] == 37);
    OK(UR(urEnqueueMemBufferWriteRect)(bench->queue, second, true, start, start, region, 32, 0, 0,
                                       0, part, 0, NULL, NULL));
    OK(UR(urEnqueueMemBufferCopyRect)(bench->queue, first, second, origin, start, region, 16, 0, 64,
                                      0, 0, NULL, NULL));
    contents(bench, second, seen, SIZE);
    CHECK_DONE(seen[0] == 18 && seen[3] == 21 && seen[32] == 34 && seen[35] == 37 &&
               seen[64] == 34);
    GIVES(INVALID_SIZE,
          UR(urEnqueueMemBufferRead)(bench->queue, first, true, 1, SIZE, seen, 0, NULL, NULL));
    for (int i = 0; i < 3; i++)
        OK(UR(urEventRelease)(event[i]));
}

static void mapping(struct bench *bench, ur_mem_handle_t buffer) {
    unsigned char seen[256];
    ur_event_handle_t event = NULL;
    void *mapped = NULL;
    OK(UR(urEnqueueMemBufferMap)(bench->queue, buffer, true, 3, 64, 64, 0, NULL, NULL, &mapped));
    memset(mapped, 0x55, 64);
    OK(UR(urEnqueueMemUnmap)(bench->queue, buffer, mapped, 0, NULL, &event));
    OK(UR(urEventWait)(1, &event));
    OK(UR(urEventRelease)(event));
    contents(bench, buffer, seen, sizeof(seen));
    CHECK_DONE(seen[63] == 63 && seen[64] == 0x55 && seen[127] == 0x55 && seen[128] == 128);
}

void buffers(void) {
    enum { SIZE = 256 };
    struct bench bench = begin();
    ur_mem_handle_t first = NULL, second = NULL, part = NULL, again = NULL;
    unsigned char content[SIZE], seen[SIZE];
    void *handle = NULL;
    size_t size = 0;
    ur_native_handle_t native = 0;
    memset(content, 9, SIZE);
    const ur_buffer_properties_t copied = {STYPE_BUFFER_PROPERTIES, NULL, content};
    const ur_buffer_region_t region = {STYPE_BUFFER_REGION, NULL, 128, 64};
    const ur_mem_native_properties_t kept = {STYPE_MEM_NATIVE_PROPERTIES, NULL, false};
    OK(UR(urMemBufferCreate)(bench.context, 1, SIZE, NULL, &first));
    OK(UR(urMemBufferCreate)(bench.context, 32, SIZE, &copied, &second));
    GIVES(INVALID_BUFFER_SIZE, UR(urMemBufferCreate)(bench.context, 1, 0, NULL, &again));
    contents(&bench, second, seen, SIZE);
    CHECK_DONE(memcmp(seen, content, SIZE) == 0);
    OK(UR(urMemGetInfo)(first, MEM_INFO_SIZE, sizeof(size), &size, NULL));
    CHECK(size == SIZE);
    OK(UR(urMemGetInfo)(first, MEM_INFO_CONTEXT, sizeof(handle), &handle, NULL));
    CHECK(is_direct ? handle == bench.context : handle != NULL);
    copies(&bench, first, second);
    mapping(&bench, first);
    OK(UR(urMemBufferPartition)(first, 1, 0, &region, &part));
    contents(&bench, part, seen, 64);
    CHECK_DONE(seen[0] == 128 && seen[63] == 191);
    OK(UR(urMemGetNativeHandle)(part, bench.device, &native));
    OK(UR(urMemBufferCreateWithNativeHandle)(native, bench.context, &kept, &again));
    OK(UR(urMemGetInfo)(again, MEM_INFO_SIZE, sizeof(size), &size, NULL));
    CHECK(size == SIZE - 128);
    contents(&bench, again, seen, 64);
    CHECK_DONE(seen[0] == 128 && seen[63] == 191);
    OK(UR(urMemRelease)(again));
    OK(UR(urMemRetain)(first));
    OK(UR(urMemRelease)(first));
    OK(UR(urMemRelease)(first));
    contents(&bench, part, seen, 64);
    CHECK_DONE(seen[0] == 128);
    OK(UR(urMemRelease)(part));
    OK(UR(urMemRelease)(second));
    if (is_direct)
        GIVES(INVALID_MEM_OBJECT, UR(urMemRelease)(second));
    end(&bench);
}
