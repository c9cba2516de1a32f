// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the usual calls read of a queue: queue_front.py, and the allocations and frees that are done
// without entering a method in Python. at_once.c calls them.
//
// All of this relies on the interpreter's lock: between two looks at what no lock of ours guards,
// no other thread runs. Without it (Py_GIL_DISABLED) nothing is done at once, and every call goes
// the way of the reference.

#include "structure.h"

#include <structmember.h>

// -- whether a call is a usual one ------------------------------------------------------------

static bool is_empty(PyObject *sized) {
    Py_ssize_t size = sized == NULL ? 1 : PyObject_Size(sized);
    if (size < 0) {
        PyErr_Clear();
    }
    return size == 0;
}

static bool is_usual(const queue_front *queue) {
#ifdef Py_GIL_DISABLED
    (void)queue;
    return false;
#else
    return queue->registry != NULL && queue->order != NULL && is_empty(queue->attention);
#endif
}

// -- events -----------------------------------------------------------------------------------

// Who records must be told of every event in its order, which the reference does.
static bool is_observed(const queue_front *queue) {
    PyObject *observer = registry_observer(queue->registry);
    if (observer == NULL) {
        PyErr_Clear();
    }
    Py_XDECREF(observer);
    return observer != Py_None;
}

// The queue's list, if it can be asked for a signal; NULL, without an error, if not.
static list_front *signalling_list(const queue_front *queue) {
    PyObject *list = queue->command_list;
    return list != NULL && is_a(list, &list_front_type) && list_can_signal((list_front *)list) &&
                   ((list_front *)list)->order == queue->order && queue->event_type != NULL &&
                   queue->dropped != NULL && queue->context != NULL && !is_observed(queue)
               ? (list_front *)list
               : NULL;
}

// An event over a signal that the caller holds; with an error, nobody does any more.
static PyObject *make_event(queue_front *queue, native_signal *given, PyObject *command) {
    const struct signalling what = {
        .domain = ((order_fields *)queue->order)->domain,
        .dropped = queue->dropped,
        .queue = (PyObject *)queue,
        .context = queue->context,
        .command = command,
    };
    PyObject *made = hold_signal((PyTypeObject *)queue->event_type, given, &what);
    if (made == NULL) {
        signal_release(given);
    }
    return made;
}

PyObject *queue_record(queue_front *queue, PyObject *command) {
    list_front *list = is_usual(queue) ? signalling_list(queue) : NULL;
    if (list == NULL) {
        return NULL;
    }
    Py_INCREF((PyObject *)list);
    native_signal *given = list_signal_at_once(list, false);
    Py_DECREF((PyObject *)list);
    PyObject *made = given == NULL ? NULL : make_event(queue, given, command);
    Py_XDECREF((PyObject *)given);
    return made;
}

static bool clock_covers(PyObject *clock, const mark_fields *mark) {
    uint64_t number = 0;
    if (clock == NULL || clock_number(clock, mark->order, &number) < 0) {
        PyErr_Clear();
        return false;
    }
    return number >= mark->number;
}

// The place of an event that the queue can wait for, if both are usual; NULL, without an error,
// where the reference has to look at it.
static const mark_fields *usual_mark(const queue_front *queue, PyObject *event) {
    const held_signal *held = (held_signal *)event;
    if (!is_usual(queue) || !is_a(event, &held_signal_type) || held->signal == NULL ||
        queue->context == NULL || held->context != queue->context || is_observed(queue) ||
        !is_a(held->mark, &mark_fields_type)) {
        return NULL;
    }
    const mark_fields *mark = (mark_fields *)held->mark;
    return mark->order != NULL && is_a(mark->order, &order_fields_type) ? mark : NULL;
}

static bool is_behind(const queue_front *queue, const mark_fields *mark) {
    return mark->order == queue->order ||
           mark->number <= ((order_fields *)mark->order)->completed ||
           clock_covers(((order_fields *)queue->order)->clock, mark);
}

bool queue_is_behind(queue_front *queue, PyObject *event) {
    const mark_fields *mark = usual_mark(queue, event);
    return mark != NULL && is_behind(queue, mark);
}

// Adds the signal of an event to those that the queue has to wait for, if it has to. False, without
// an error, where the reference has to look at it.
static bool add_awaited(const queue_front *queue, PyObject *event, struct awaited *all) {
    if (queue->event_type == NULL ||
        !PyObject_TypeCheck(event, (PyTypeObject *)queue->event_type)) {
        return false;
    }
    const mark_fields *mark = usual_mark(queue, event);
    if (mark == NULL || is_behind(queue, mark)) {
        return mark != NULL;
    }
    native_signal *signal = ((held_signal *)event)->signal;
    if (all->count == WAITS_AT_ONCE || signal_number((PyObject *)signal) == 0 ||
        !signal_hold(signal)) {
        return false;
    }
    all->signals[all->count++] = (native_signal *)Py_NewRef((PyObject *)signal);
    return true;
}

static bool collect_awaited(const queue_front *queue, PyObject *events, struct awaited *all) {
    if (!PyTuple_CheckExact(events) && !PyList_CheckExact(events)) {
        return add_awaited(queue, events, all);
    }
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(events); i++) {
        if (!add_awaited(queue, PySequence_Fast_GET_ITEM(events, i), all)) {
            return false;
        }
    }
    return is_usual(queue); // without events it was not looked at
}

static int release_awaited(const struct awaited *all) {
    int status = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        if (signal_release(all->signals[i]) < 0) {
            status = -1;
        }
        Py_DECREF((PyObject *)all->signals[i]);
    }
    return status;
}

static int append_wait(const queue_front *queue, const struct awaited *all) {
    PyObject *list = queue->command_list;
    if (list == NULL || !is_a(list, &list_front_type) ||
        ((list_front *)list)->order != queue->order) {
        return 0;
    }
    Py_INCREF(list);
    int status = list_wait((list_front *)list, all);
    Py_DECREF(list);
    return status;
}

PyObject *queue_wait(queue_front *queue, PyObject *events) {
    struct awaited all = {.count = 0};
    int status = collect_awaited(queue, events, &all);
    if (status > 0 && all.count != 0) {
        status = append_wait(queue, &all);
    }
    if (release_awaited(&all) < 0) {
        status = -1;
    }
    return status > 0 ? Py_NewRef(Py_None) : NULL;
}

// -- the pool of a route ----------------------------------------------------------------------

// The core of a pool that can serve the route; NULL, without an error, where the reference has to
// look at it.
static PyObject *core_of(queue_front *queue, const route *way, PyObject *pool, bool is_named) {
    PyObject *core = NULL;
    PyObject *prepares = PyObject_GetAttr(pool, known.prepares);
    if (prepares == Py_False && !is_named) {
        core = PyObject_GetAttr(pool, known.core);
    } else if (prepares == Py_False) {
        PyObject *context = PyObject_GetAttr((PyObject *)queue, known.context);
        PyObject *device = context ? PyObject_GetAttr((PyObject *)queue, known.device) : NULL;
        if (device != NULL) {
            core = PyObject_CallMethodObjArgs(pool, known.require, context, way->key, device, NULL);
        }
        Py_XDECREF(context);
        Py_XDECREF(device);
    }
    Py_XDECREF(prepares);
    if (core != NULL && !is_a(core, &pool_front_type)) {
        Py_CLEAR(core);
    }
    PyErr_Clear();
    return core;
}

// Remember a pool, so that the next call of the route that it serves takes one comparison. The
// route does not keep the pool alive.
static bool remember(queue_front *queue, route *way, PyObject *pool, bool is_named) {
    PyObject *core = core_of(queue, way, pool, is_named);
    if (core == NULL) {
        return false;
    }
    uint64_t largest = 0;
    PyObject *heap = ((pool_front *)core)->usual == NULL
                         ? NULL
                         : pool_usual((pool_front *)core, way->key, &largest);
    PyObject *reference = heap == NULL || heap == Py_None ? NULL : PyWeakref_NewRef(pool, NULL);
    if (reference == NULL) {
        PyErr_Clear();
        Py_DECREF(core);
        return false;
    }
    replace(&way->heap, heap);
    way->largest = largest;
    Py_XSETREF(way->core, core);
    Py_XSETREF(way->pool, reference);
    return true;
}

static bool leads_to(PyObject *reference, const PyObject *object) {
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *found = NULL;
    bool is_it = PyWeakref_GetRef(reference, &found) == 1 && found == object;
    Py_XDECREF(found);
    return is_it;
#else
    return PyWeakref_GET_OBJECT(reference) == object;
#endif
}

// The pool that serves a call, as a new reference; NULL, without an error, where the reference has
// to look at it.
static PyObject *pool_for(queue_front *queue, route *way, PyObject *named) {
    bool is_named = named != NULL && named != Py_None;
    PyObject *pool = is_named ? Py_NewRef(named) : current_pool(way->current);
    if (pool == NULL) {
        PyErr_Clear();
        return NULL;
    }
    bool is_known = way->pool != NULL && leads_to(way->pool, pool);
    if (!is_known && !remember(queue, way, pool, is_named)) {
        Py_CLEAR(pool);
    }
    return pool;
}

// -- allocate ---------------------------------------------------------------------------------

// Where memory comes from. Held: while a call waits for a lock, another one may give the route
// another pool.
struct place {
    pool_front *pool;
    PyObject *heap;
    uint64_t largest;
};

// A block in use, with its address; None where the reference has to do it.
static PyObject *take(const queue_front *queue, const struct place *from, uint64_t size,
                      PyObject **address) {
    return pool_take_at_once(from->pool, from->heap, from->largest, queue->order, size, address);
}

// As `take`, with the signal of the queue's place behind it. The signal comes first, since it may
// be refused. With the queue's lock held no command can come between the two, so all that used the
// memory is before the signal.
static PyObject *take_with_signal(const queue_front *queue, list_front *list,
                                  const struct place *from, uint64_t size, PyObject **address,
                                  native_signal **given) {
    uint32_t code = 0;
    int status = 1;
    PyObject *found = NULL;
    lock_acquire(list_lock(list));
    if (!list_has_signal(list)) {
        // Or a signal would be appended for nothing, as it is if another thread is quicker.
        status = pool_has_at_once(from->pool, from->heap, from->largest, queue->order, size);
    }
    *given = status > 0 && !list->is_closing ? list_signal(list, &code) : NULL;
    if (*given != NULL && code == 0) {
        found = take(queue, from, size, address);
    }
    lock_release(list_lock(list));
    if ((found == NULL || found == Py_None) && *given != NULL) {
        if (code != 0) {
            list_refuse(list, *given, code);
        } else {
            signal_release(*given);
        }
        Py_DECREF((PyObject *)*given);
        *given = NULL;
    }
    if (status < 0) {
        PyErr_Clear();
    }
    return found;
}

// As `take` or `take_with_signal`, NULL instead of None. What crowds the heap is marked first.
static PyObject *take_from(const queue_front *queue, list_front *list, const route *way,
                           uint64_t size, PyObject **address, native_signal **given) {
    const struct place from = {
        .pool = (pool_front *)Py_NewRef(way->core),
        .heap = Py_NewRef(way->heap),
        .largest = way->largest,
    };
    PyObject *found = NULL;
    if (pool_mark_if_crowded(from.pool, from.heap, from.largest, size) == 0) {
        found = list == NULL ? take(queue, &from, size, address)
                             : take_with_signal(queue, list, &from, size, address, given);
    }
    Py_DECREF((PyObject *)from.pool);
    Py_DECREF(from.heap);
    if (found == Py_None) {
        Py_CLEAR(found);
    }
    return found;
}

// The event of a call: None without a signal. Takes the signal, also with an error.
static PyObject *event_of(queue_front *queue, native_signal *given, PyObject *command) {
    if (given == NULL) {
        return Py_NewRef(Py_None);
    }
    PyObject *event = make_event(queue, given, command);
    Py_DECREF((PyObject *)given);
    return event;
}

PyObject *queue_allocate(queue_front *queue, PyObject *kind, PyObject *nbytes, PyObject *named,
                         bool is_held, bool with_event) {
    if (!PyLong_CheckExact(nbytes) || !is_usual(queue) || !is_empty(queue->notes) ||
        queue->routes == NULL || queue->held_type == NULL || queue->dropped == NULL) {
        return NULL;
    }
    PyObject *found_route = PyDict_GetItemWithError(queue->routes, kind);
    if (found_route == NULL || !Py_IS_TYPE(found_route, &route_type)) {
        PyErr_Clear();
        return NULL;
    }
    list_front *list = with_event ? signalling_list(queue) : NULL;
    if (with_event && list == NULL) {
        return NULL;
    }
    uint64_t size = PyLong_AsUnsignedLongLong(nbytes);
    if (size == UINT64_MAX && PyErr_Occurred()) {
        PyErr_Clear();
        return NULL;
    }
    route *way = (route *)Py_NewRef(found_route);
    Py_XINCREF((PyObject *)list);
    PyObject *pool = pool_for(queue, way, named);
    PyObject *address = NULL, *found = NULL, *event = NULL;
    native_signal *given = NULL;
    if (pool != NULL) {
        found = take_from(queue, list, way, size, &address, &given);
    }
    if (found != NULL) {
        event = event_of(queue, given, way->command);
    }
    PyObject *result = NULL;
    if (event != NULL && is_held) {
        const struct holding what = {
            .block = (block *)found,
            .address = address,
            .nbytes = nbytes,
            .dropped = queue->dropped,
            .order = queue->order,
            .queue = (PyObject *)queue,
            .kind = way->kind,
            .pool = pool,
            .event = event,
        };
        result = hold_block((PyTypeObject *)queue->held_type, &what);
    } else if (event != NULL) {
        result = PyTuple_Pack(2, address, event);
    }
    Py_XDECREF(event);
    Py_XDECREF(address);
    Py_XDECREF(found);
    Py_XDECREF(pool);
    Py_XDECREF((PyObject *)list);
    Py_DECREF((PyObject *)way);
    return result;
}

// -- free -------------------------------------------------------------------------------------

// The block of what is to be freed, and its pool, if it is in use and this is a usual call;
// borrowed. NULL, without an error, where the reference has to look at it.
static block *block_to_free(const queue_front *queue, const held_block *held, PyObject *address,
                            PyObject *live, pool_front **pool) {
    PyObject *found =
        live != NULL && PyDict_CheckExact(live) ? PyDict_GetItemWithError(live, address) : NULL;
    block *freed = found != NULL && Py_IS_TYPE(found, &block_type) ? (block *)found : NULL;
    *pool = pool_of(freed);
    if (*pool == NULL || (*pool)->lock == NULL || (*pool)->tally == NULL || queue->order == NULL ||
        (held != NULL && (freed != held->block || freed->born != held->born))) {
        PyErr_Clear();
        return NULL;
    }
    return freed;
}

// The signal of a free, held, and the free's stamp. What used the memory was given to the queue
// before, so that the signal's number is one. The block is out of the live table; where it stays in
// use it is put back.
static native_signal *signal_of_free(list_front *list, PyObject *live, PyObject *address,
                                     block *freed, uint64_t *stamp) {
    Py_INCREF((PyObject *)list);
    native_signal *given = list_signal_at_once(list, false);
    Py_DECREF((PyObject *)list);
    if (given != NULL) {
        *stamp = ((mark_fields *)given->mark)->number;
        return given;
    }
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (PyDict_SetItem(live, address, (PyObject *)freed) < 0) {
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    } else {
        PyErr_Restore(type, value, trace);
    }
    return NULL;
}

PyObject *queue_free(queue_front *queue, PyObject *target, bool with_event) {
    held_block *held = is_a(target, &held_block_type) ? (held_block *)target : NULL;
    if (!is_usual(queue) || (held != NULL ? held->is_noted : !PyLong_CheckExact(target))) {
        return NULL;
    }
    list_front *list = with_event ? signalling_list(queue) : NULL;
    PyObject *address = held != NULL ? held->ptr : target;
    PyObject *live = registry_live(queue->registry);
    pool_front *pool;
    block *freed = block_to_free(queue, held, address, live, &pool);
    uint64_t stamp;
    if (freed == NULL || (with_event && list == NULL) || order_sequence(queue->order, &stamp) < 0) {
        PyErr_Clear();
        Py_XDECREF(live);
        return NULL;
    }
    stamp++;
    native_signal *given = NULL;
    PyObject *event = NULL;
    Py_INCREF((PyObject *)freed);
    Py_INCREF((PyObject *)pool);
    if (PyDict_DelItem(live, address) == 0 &&
        (!with_event || (given = signal_of_free(list, live, address, freed, &stamp)) != NULL)) {
        if (held != NULL) {
            held->is_noted = 1;
        }
        int status = pool_free(pool, freed, queue->order, stamp);
        event = event_of(queue, given, known.command_free);
        if (status < 0) {
            Py_CLEAR(event);
        }
    }
    Py_DECREF(live);
    Py_DECREF((PyObject *)pool);
    Py_DECREF((PyObject *)freed);
    return event;
}

// -- the Python classes -----------------------------------------------------------------------

static int traverse_queue(PyObject *self, visitproc visit, void *arg) {
    const queue_front *queue = (queue_front *)self;
    Py_VISIT(queue->attention);
    Py_VISIT(queue->dropped);
    Py_VISIT(queue->event_type);
    Py_VISIT(queue->held_type);
    Py_VISIT(queue->notes);
    Py_VISIT(queue->registry);
    Py_VISIT(queue->routes);
    Py_VISIT(queue->command_list);
    Py_VISIT(queue->context);
    Py_VISIT(queue->order);
    return 0;
}

static int clear_queue(PyObject *self) {
    queue_front *queue = (queue_front *)self;
    Py_CLEAR(queue->attention);
    Py_CLEAR(queue->dropped);
    Py_CLEAR(queue->event_type);
    Py_CLEAR(queue->held_type);
    Py_CLEAR(queue->notes);
    Py_CLEAR(queue->registry);
    Py_CLEAR(queue->routes);
    Py_CLEAR(queue->command_list);
    Py_CLEAR(queue->context);
    Py_CLEAR(queue->order);
    return 0;
}

static void dealloc_queue(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_queue(self);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *get_held_type(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((queue_front *)self)->held_type, "_held_type");
}

static int set_held_type(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !PyType_Check(value) ||
        !PyType_IsSubtype((PyTypeObject *)value, &held_block_type)) {
        PyErr_SetString(PyExc_TypeError, "what a queue hands out is a HeldBlock");
        return -1;
    }
    replace(&((queue_front *)self)->held_type, value);
    return 0;
}

static PyObject *get_event_type(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((queue_front *)self)->event_type, "_event_type");
}

static int set_event_type(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !PyType_Check(value) ||
        !PyType_IsSubtype((PyTypeObject *)value, &held_signal_type)) {
        PyErr_SetString(PyExc_TypeError, "an event of a queue is a HeldSignal");
        return -1;
    }
    replace(&((queue_front *)self)->event_type, value);
    return 0;
}

static PyObject *get_routes(PyObject *self, void *closure) {
    (void)closure;
    return member_value(((queue_front *)self)->routes, "_routes");
}

static int set_routes(PyObject *self, PyObject *value, void *closure) {
    (void)closure;
    if (value == NULL || !PyDict_CheckExact(value)) {
        PyErr_SetString(PyExc_TypeError, "the routes of a queue are a dict");
        return -1;
    }
    replace(&((queue_front *)self)->routes, value);
    return 0;
}

static PyGetSetDef attributes_of_queue[] = {
    {"_held_type", get_held_type, set_held_type, "What an allocation returns.", NULL},
    {"_event_type", get_event_type, set_event_type, "What an event is.", NULL},
    {"_routes", get_routes, set_routes, "Where memory comes from, by its kind.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMemberDef members_of_queue[] = {
    {"_attention", T_OBJECT_EX, offsetof(queue_front, attention), 0, "Empty if all is as usual."},
    {"_dropped", T_OBJECT_EX, offsetof(queue_front, dropped), 0, "Where dropped objects go."},
    {"_notes", T_OBJECT_EX, offsetof(queue_front, notes), 0, "Empty if addresses need none."},
    {"_registry", T_OBJECT_EX, offsetof(queue_front, registry), 0, "The pools of the context."},
    {"command_list", T_OBJECT_EX, offsetof(queue_front, command_list), 0, "Its list."},
    {"context", T_OBJECT_EX, offsetof(queue_front, context), 0, "What it belongs to."},
    {"order", T_OBJECT_EX, offsetof(queue_front, order), 0, "Its order."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject queue_front_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.QueueFront",
    .tp_basicsize = sizeof(queue_front),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What the usual calls read of a queue, in C.",
    .tp_new = make_empty,
    .tp_traverse = traverse_queue,
    .tp_clear = clear_queue,
    .tp_dealloc = dealloc_queue,
    .tp_getset = attributes_of_queue,
    .tp_members = members_of_queue,
};

static PyObject *make_route(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"kind", "key", "current", "command", NULL};
    PyObject *kind, *key, *current, *command;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOOO", names, &kind, &key, &current,
                                     &command)) {
        return NULL;
    }
    route *way = (route *)type->tp_alloc(type, 0);
    if (way != NULL) {
        way->kind = Py_NewRef(kind);
        way->key = Py_NewRef(key);
        way->current = Py_NewRef(current);
        way->command = Py_NewRef(command);
    }
    return (PyObject *)way;
}

static int traverse_route(PyObject *self, visitproc visit, void *arg) {
    const route *way = (route *)self;
    Py_VISIT(way->kind);
    Py_VISIT(way->key);
    Py_VISIT(way->current);
    Py_VISIT(way->command);
    Py_VISIT(way->pool);
    Py_VISIT(way->core);
    Py_VISIT(way->heap);
    return 0;
}

static int clear_route(PyObject *self) {
    route *way = (route *)self;
    Py_CLEAR(way->kind);
    Py_CLEAR(way->key);
    Py_CLEAR(way->current);
    Py_CLEAR(way->command);
    Py_CLEAR(way->pool);
    Py_CLEAR(way->core);
    Py_CLEAR(way->heap);
    return 0;
}

static void dealloc_route(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear_route(self);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef members_of_route[] = {
    {"kind", T_OBJECT, offsetof(route, kind), READONLY, "The kind of memory."},
    {"key", T_OBJECT, offsetof(route, key), READONLY, "That of the heap."},
    {"current", T_OBJECT, offsetof(route, current), READONLY, "Names the pool."},
    {"command", T_OBJECT, offsetof(route, command), READONLY, "That of the event."},
    {NULL, 0, 0, 0, NULL},
};

PyTypeObject route_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.Route",
    .tp_basicsize = sizeof(route),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Where allocations of one kind on one queue come from, in C.",
    .tp_new = make_route,
    .tp_traverse = traverse_route,
    .tp_clear = clear_route,
    .tp_dealloc = dealloc_route,
    .tp_members = members_of_route,
};
