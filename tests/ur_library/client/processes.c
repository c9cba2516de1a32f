/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Threads, children and the end of the process. */
#include "client.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, ROUNDS = 64, SIZE = 1024 };

static struct bench shared;

static void sleep_milliseconds(int milliseconds) {
    nanosleep(&(struct timespec){milliseconds / 1000, milliseconds % 1000 * 1000000L}, NULL);
}

static void *dependent_rounds(void *argument) {
    ur_queue_handle_t queue = NULL;
    ur_event_handle_t previous = NULL;
    (void)argument;
    OK(UR(urQueueCreate)(shared.context, shared.device, NULL, &queue));
    for (int round = 0; round < ROUNDS; round++) {
        ur_event_handle_t allocated = NULL, filled = NULL, freed = NULL;
        void *mem = NULL;
        const unsigned char pattern = (unsigned char)round;
        uint32_t count = previous == NULL ? 0 : 1;
        OK(UR(urEnqueueUSMDeviceAllocExp)(queue, NULL, SIZE, NULL, count, count ? &previous : NULL,
                                          &mem, &allocated));
        OK(UR(urEnqueueUSMFill)(queue, mem, 1, &pattern, SIZE, 1, &allocated, &filled));
        OK(UR(urEnqueueUSMFreeExp)(queue, NULL, mem, 1, &filled, &freed));
        if (previous != NULL)
            OK(UR(urEventRelease)(previous));
        OK(UR(urEventRelease)(allocated));
        OK(UR(urEventRelease)(filled));
        previous = freed;
    }
    OK(UR(urQueueFinish)(queue));
    OK(UR(urEventRelease)(previous));
    OK(UR(urQueueRelease)(queue));
    return NULL;
}

void threads(void) {
    pthread_t ids[THREADS];
    shared = begin();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&ids[i], NULL, dependent_rounds, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
    end(&shared);
}

static pthread_barrier_t barrier;

static void *first_call(void *argument) {
    uint32_t count = 0;
    (void)argument;
    pthread_barrier_wait(&barrier);
    OK(UR(urAdapterGet)(0, NULL, &count));
    CHECK(count == 1);
    return NULL;
}

/* Python is started by whoever comes first, and all wait for it. */
void first_calls(void) {
    pthread_t ids[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&ids[i], NULL, first_call, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(ids[i], NULL) == 0);
}

static _Atomic int calls_made;
static _Atomic int last_result;

static void *call_forever(void *argument) {
    (void)argument;
    for (;;) {
        void *mem = NULL;
        ur_result_t result =
            UR(urEnqueueUSMDeviceAllocExp)(shared.queue, NULL, SIZE, NULL, 0, NULL, &mem, NULL);
        if (result == UR_RESULT_SUCCESS)
            result = UR(urEnqueueUSMFreeExp)(shared.queue, NULL, mem, 0, NULL, NULL);
        atomic_store(&last_result, (int)result);
        if (result != UR_RESULT_SUCCESS)
            return NULL;
        atomic_fetch_add(&calls_made, 1);
    }
}

static void keep_calling(void) {
    pthread_t id;
    shared = begin();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&id, NULL, call_forever, NULL) == 0);
    while (atomic_load(&calls_made) < 100)
        sleep_milliseconds(1);
}

/* The child gets errors, whatever another thread held at the fork, and ends as it likes. */
void fork_after_use(void) {
    int status = 0;
    keep_calling();
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            uint32_t count = 0;
            alarm(20);
            GIVES(UR_RESULT_ERROR_UNINITIALIZED, UR(urQueueFinish)(shared.queue));
            GIVES(UR_RESULT_ERROR_UNINITIALIZED, UR(urAdapterGet)(0, NULL, &count));
            exit(7);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
    OK(UR(urQueueFinish)(shared.queue));
}

static void *fail_forever(void *no_queue) {
    while (UR(urQueueFinish)(no_queue) == INVALID_QUEUE)
        ;
    return NULL;
}

/* Every failed call writes to the log: a child must not wait for what others were writing. */
void fork_while_logging(void) {
    pthread_t id;
    int status = 0;
    shared = begin();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&id, NULL, fail_forever, &shared) == 0);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            alarm(20);
            GIVES(UR_RESULT_ERROR_UNINITIALIZED, UR(urQueueFinish)(shared.queue));
            _exit(7);
        }
        CHECK(waitpid(child, &status, 0) == child);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

/* Python starts without a change to what is the client's: variables, locale, signals. */
void leaves_the_client_alone(void) {
    static const int signals[3] = {SIGINT, SIGPIPE, SIGXFSZ};
    extern char **environ;
    char *variables[256], **before = environ;
    size_t count = 0;
    for (; environ[count] != NULL && count < 255; count++)
        variables[count] = environ[count];
    variables[count] = NULL;
    struct sigaction actions[3], action;
    signal(SIGINT, SIG_DFL);
    for (size_t i = 0; i < 3; i++)
        CHECK(sigaction(signals[i], NULL, &actions[i]) == 0);
    char *locale = strdup(setlocale(LC_ALL, NULL));
    uint32_t adapters = 0;
    OK(UR(urAdapterGet)(0, NULL, &adapters));
    CHECK(environ == before);
    for (size_t i = 0; i <= count; i++)
        CHECK(environ[i] == variables[i]);
    CHECK(strcmp(locale, setlocale(LC_ALL, NULL)) == 0);
    for (size_t i = 0; i < 3; i++) {
        CHECK(sigaction(signals[i], NULL, &action) == 0);
        CHECK(action.sa_handler == actions[i].sa_handler);
    }
    free(locale);
}

/* A relative path was given when the library was loaded. */
void from_another_folder(void) {
    CHECK(chdir("/") == 0);
    struct bench bench = begin();
    end(&bench);
}

/* Until nobody writes to it any more. */
void waits_for_input(void) {
    struct bench bench = begin();
    puts("ready");
    fflush(stdout);
    while (getchar() != EOF)
        ;
    end(&bench);
}

void no_release(void) {
    struct bench bench = begin();
    ur_event_handle_t event = NULL;
    void *mem = NULL;
    const unsigned char pattern = 1;
    for (int i = 0; i < 100; i++) {
        OK(UR(urEnqueueUSMDeviceAllocExp)(bench.queue, NULL, SIZE, NULL, 0, NULL, &mem, &event));
        OK(UR(urEnqueueUSMFill)(bench.queue, mem, 1, &pattern, SIZE, 1, &event, NULL));
    }
}

void exit_during_calls(void) { keep_calling(); }

static void exit_here(ur_event_handle_t event, ur_execution_info_t status, void *user_data) {
    (void)event, (void)status, (void)user_data;
    puts("passed");
    exit(0);
}

void exit_in_callback(void) {
    struct bench bench = begin();
    ur_event_handle_t event = NULL;
    OK(UR(urEnqueueEventsWaitWithBarrier)(bench.queue, 0, NULL, &event));
    OK(UR(urEventSetCallback)(event, 0, exit_here, NULL));
    sleep_milliseconds(20000);
    fprintf(stderr, "the callback did not end the process\n");
    _exit(1);
}

static void *start_adapter(void *library) {
    void **table = table_of(library);
    ur_result_t (*get)(uint32_t, ur_adapter_handle_t *, uint32_t *) =
        (__typeof__(get))table[table_index("urAdapterGet")];
    ur_adapter_handle_t adapter = NULL;
    pthread_barrier_wait(&barrier);
    OK(get(1, &adapter, NULL));
    free(table);
    return adapter;
}

/* Both libraries in one process, first called at the same time: one Python, two adapters. */
void two_adapters(void) {
    pthread_t ids[2];
    void *adapters[2] = {0};
    uint32_t versions[2] = {0};
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&ids[i], NULL, start_adapter, libraries[i]) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_join(ids[i], &adapters[i]) == 0);
    for (int i = 0; i < 2; i++) {
        ur_result_t (*info)(void *, uint32_t, size_t, void *, size_t *) =
            (__typeof__(info))(*(void ***)adapters[i])[table_index("urAdapterGetInfo")];
        OK(info(adapters[i], ADAPTER_INFO_VERSION, 4, &versions[i], NULL));
    }
    CHECK(versions[0] == 1 && versions[1] == 2);
}

/* Where Python cannot be started, every call says so, and none fails in another way. */
void not_started(void) {
    uint32_t count = 99;
    ur_adapter_handle_t adapter = NULL;
    for (int i = 0; i < 2; i++) {
        GIVES(UR_RESULT_ERROR_UNINITIALIZED, UR(urAdapterGet)(1, &adapter, &count));
        GIVES(UR_RESULT_ERROR_UNINITIALIZED, UR(urQueueFinish)(NULL));
    }
    CHECK(adapter == NULL && count == 99);
}
