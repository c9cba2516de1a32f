// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs by size and address: size_index.py. A run stands in the heap of its size and in that of its
// class, and knows its place in both, so that it leaves them at once.

#include "structure.h"

static const uint64_t NOWHERE = UINT64_MAX;

enum { GRANULE_BITS = 8, EMPTY_BINS = 1000 };

static unsigned bit_length(uint64_t number) {
    return number == 0 ? 0 : 64 - (unsigned)__builtin_clzll(number);
}

static unsigned class_of(uint64_t size) {
    uint64_t units = size >> GRANULE_BITS;
    unsigned length = bit_length(units);
    unsigned shift = length > MANTISSA_BITS + 1 ? length - MANTISSA_BITS - 1 : 0;
    return (shift << MANTISSA_BITS) + (unsigned)(units >> shift);
}

// -- heaps of runs ----------------------------------------------------------------------------

static void put_at(struct run_heap *heap, int which, uint32_t place, struct run *run) {
    heap->items[place] = run;
    run->place[which] = place;
}

static void rise(struct run_heap *heap, int which, uint32_t place, struct run *run) {
    while (place > 0) {
        uint32_t parent = (place - 1) / 2;
        if (heap->items[parent]->start <= run->start) {
            break;
        }
        put_at(heap, which, place, heap->items[parent]);
        place = parent;
    }
    put_at(heap, which, place, run);
}

static void sink(struct run_heap *heap, int which, uint32_t place, struct run *run) {
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count && heap->items[child + 1]->start < heap->items[child]->start) {
            child++;
        }
        if (run->start <= heap->items[child]->start) {
            break;
        }
        put_at(heap, which, place, heap->items[child]);
        place = child;
    }
    put_at(heap, which, place, run);
}

static int make_room(struct run_heap *heap) {
    if (heap->count < heap->capacity) {
        return 0;
    }
    uint32_t capacity = heap->capacity ? 2 * heap->capacity : 4;
    struct run **items = PyMem_Realloc(heap->items, capacity * sizeof *items);
    if (items == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    heap->items = items;
    heap->capacity = capacity;
    return 0;
}

static void push(struct run_heap *heap, int which, struct run *run) {
    rise(heap, which, heap->count++, run);
}

static void take_out(struct run_heap *heap, int which, struct run *run) {
    uint32_t place = run->place[which];
    struct run *last = heap->items[--heap->count];
    if (last == run) {
        return;
    }
    if (place > 0 && last->start < heap->items[(place - 1) / 2]->start) {
        rise(heap, which, place, last);
    } else {
        sink(heap, which, place, last);
    }
}

// The lowest run of some classes of an octave, which are bits; NULL if none of them has one.
static struct run *lowest_in(const size_index *index, unsigned octave, unsigned classes) {
    struct run *best = NULL;
    for (classes &= index->filled[octave]; classes != 0; classes &= classes - 1) {
        unsigned number = (octave << MANTISSA_BITS) + (unsigned)__builtin_ctz(classes);
        struct run *lowest = index->classes[number]->runs.items[0];
        if (best == NULL || lowest->start < best->start) {
            best = lowest;
        }
    }
    return best;
}

// Those of its octave that are above a class.
static unsigned above_in_octave(unsigned number) {
    return (unsigned)-2 << (number & (PER_OCTAVE - 1));
}

// The octaves above that of a class that have runs.
static uint64_t octaves_above(const size_index *index, unsigned number) {
    unsigned next = (number >> MANTISSA_BITS) + 1;
    return index->present >> next << next;
}

// -- bins -------------------------------------------------------------------------------------

static void free_bin(struct bin *bin) {
    PyMem_Free(bin->runs.items);
    PyMem_Free(bin);
}

// The position of the first bin of at least `size` bytes in a class.
static uint32_t position_in(const struct size_class *class_, uint64_t size) {
    uint32_t low = 0, high = class_->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (class_->bins[middle]->size < size) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void sweep(size_index *index) {
    for (unsigned number = 0; number < CLASSES; number++) {
        struct size_class *class_ = index->classes[number];
        uint32_t kept = 0;
        for (uint32_t i = 0; class_ != NULL && i < class_->count; i++) {
            struct bin *bin = class_->bins[i];
            if (bin->runs.count) {
                class_->bins[kept++] = bin;
            } else {
                table_pop(&index->bins, bin->size);
                free_bin(bin);
            }
        }
        if (class_ != NULL) {
            class_->count = kept;
        }
    }
}

static struct bin *make_bin(size_index *index, uint64_t size) {
    unsigned number = class_of(size);
    if (number >= CLASSES) {
        PyErr_Format(PyExc_ValueError, "a run of %llu bytes is larger than any memory",
                     (unsigned long long)size);
        return NULL;
    }
    if (index->bins.count > (size_t)(EMPTY_BINS + 4 * index->count)) {
        sweep(index);
    }
    struct size_class *class_ = index->classes[number];
    if (class_ == NULL) {
        class_ = index->classes[number] = PyMem_Calloc(1, sizeof *class_);
    }
    struct bin *bin = PyMem_Calloc(1, sizeof *bin);
    if (class_ == NULL || bin == NULL) {
        PyMem_Free(bin);
        PyErr_NoMemory();
        return NULL;
    }
    bin->size = size;
    bin->number = number;
    if (class_->count == class_->capacity) {
        uint32_t capacity = class_->capacity ? 2 * class_->capacity : 4;
        struct bin **bins = PyMem_Realloc(class_->bins, capacity * sizeof(struct bin *));
        if (bins == NULL) {
            PyMem_Free(bin);
            PyErr_NoMemory();
            return NULL;
        }
        class_->bins = bins;
        class_->capacity = capacity;
    }
    if (table_put(&index->bins, size, bin) < 0) {
        PyMem_Free(bin);
        return NULL;
    }
    uint32_t place = position_in(class_, size);
    memmove(&class_->bins[place + 1], &class_->bins[place],
            (class_->count - place) * sizeof(struct bin *));
    class_->bins[place] = bin;
    class_->count++;
    return bin;
}

// -- in and out -------------------------------------------------------------------------------

struct run *index_at(const size_index *index, uint64_t start) {
    return table_get(&index->starts, start);
}

static uint8_t class_bit(unsigned number) { return (uint8_t)(1U << (number & (PER_OCTAVE - 1))); }

// Let a run be found by its size; its start is in the table already.
int index_enter(size_index *index, struct run *run) {
    uint64_t size = run->end - run->start;
    struct bin *bin = table_get(&index->bins, size);
    if (bin == NULL) {
        bin = make_bin(index, size);
        if (bin == NULL) {
            return -1;
        }
    }
    struct size_class *class_ = index->classes[bin->number];
    if (make_room(&bin->runs) < 0 || make_room(&class_->runs) < 0) {
        return -1;
    }
    run->bin = bin;
    push(&bin->runs, BY_SIZE, run);
    push(&class_->runs, BY_CLASS, run);
    unsigned octave = bin->number >> MANTISSA_BITS;
    index->filled[octave] |= class_bit(bin->number);
    if (run->start < index->octaves[octave]) {
        index->octaves[octave] = run->start;
        index->present |= UINT64_C(1) << octave;
    }
    index->count++;
    return 0;
}

// The reverse of `index_enter`: the run keeps its start in the table.
void index_withdraw(size_index *index, struct run *run) {
    struct bin *bin = run->bin;
    take_out(&bin->runs, BY_SIZE, run);
    struct run_heap *of_class = &index->classes[bin->number]->runs;
    take_out(of_class, BY_CLASS, run);
    unsigned octave = bin->number >> MANTISSA_BITS;
    if (of_class->count == 0) {
        index->filled[octave] &= (uint8_t)~class_bit(bin->number);
    }
    if (index->octaves[octave] == run->start) {
        const struct run *lowest = lowest_in(index, octave, UINT8_MAX);
        index->octaves[octave] = lowest == NULL ? NOWHERE : lowest->start;
        if (lowest == NULL) {
            index->present &= ~(UINT64_C(1) << octave);
        }
    }
    index->count--;
}

void index_forget(size_index *index, struct run *run) {
    PyMem_Free(index->spare);
    index->spare = run;
}

struct run *index_insert(size_index *index, uint64_t start, uint64_t end, block *first) {
    struct run *run = index->spare != NULL ? index->spare : PyMem_Malloc(sizeof *run);
    if (run == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    index->spare = NULL;
    *run = (struct run){.start = start, .end = end};
    if (table_put(&index->starts, start, run) < 0) {
        index_forget(index, run);
        return NULL;
    }
    if (index_enter(index, run) < 0) {
        table_pop(&index->starts, start);
        index_forget(index, run);
        return NULL;
    }
    run->first = (block *)Py_NewRef((PyObject *)first);
    return run;
}

// Take a run out altogether; return its first block, whose reference passes to the caller.
block *index_erase(size_index *index, struct run *run) {
    block *first = run->first;
    index_withdraw(index, run);
    table_pop(&index->starts, run->start);
    index_forget(index, run);
    return first;
}

// -- search -----------------------------------------------------------------------------------

// The smallest run of at least `size` bytes in one class.
static struct run *smallest(size_index *index, unsigned number, uint64_t size) {
    struct size_class *class_ = index->classes[number];
    if (class_ == NULL) {
        return NULL;
    }
    uint32_t first = position_in(class_, size);
    uint32_t place = first;
    while (place < class_->count && class_->bins[place]->runs.count == 0) {
        struct bin *bin = class_->bins[place++];
        table_pop(&index->bins, bin->size);
        free_bin(bin);
    }
    memmove(&class_->bins[first], &class_->bins[place],
            (class_->count - place) * sizeof(struct bin *));
    class_->count -= place - first;
    return first < class_->count ? class_->bins[first]->runs.items[0] : NULL;
}

// The lowest class above `number` that has runs; -1 without one.
static int next_class(const size_index *index, unsigned number) {
    unsigned octave = number >> MANTISSA_BITS;
    unsigned classes = index->filled[octave] & above_in_octave(number);
    if (classes == 0) {
        uint64_t above = octaves_above(index, number);
        if (above == 0) {
            return -1;
        }
        octave = (unsigned)__builtin_ctzll(above);
        classes = index->filled[octave];
    }
    return (int)(octave << MANTISSA_BITS) + __builtin_ctz(classes);
}

// The lowest run of a class above `number`.
static struct run *lowest_above(const size_index *index, unsigned number) {
    struct run *best = lowest_in(index, number >> MANTISSA_BITS, above_in_octave(number));
    uint64_t lowest = best == NULL ? NOWHERE : best->start;
    bool better = false;
    for (uint64_t above = octaves_above(index, number); above != 0; above &= above - 1) {
        unsigned other = (unsigned)__builtin_ctzll(above);
        if (index->octaves[other] < lowest) {
            lowest = index->octaves[other];
            better = true;
        }
    }
    return better ? index_at(index, lowest) : best;
}

struct run *index_find(size_index *index, uint64_t size, uint64_t *rank) {
    const struct bin *exact = table_get(&index->bins, size);
    unsigned number = exact == NULL ? class_of(size) : exact->number;
    if (number >= CLASSES) {
        return NULL;
    }
    struct run *found;
    if (!index->lowest) {
        found = smallest(index, number, size);
        if (found == NULL) {
            int next = next_class(index, number);
            found = next < 0 ? NULL : smallest(index, (unsigned)next, size);
        }
        if (found != NULL) {
            *rank = found->bin->size;
        }
        return found;
    }
    found = lowest_above(index, number);
    if (exact != NULL && exact->runs.count &&
        (found == NULL || exact->runs.items[0]->start < found->start)) {
        found = exact->runs.items[0];
    }
    if (found == NULL) {
        found = smallest(index, number, size);
    }
    if (found != NULL) {
        *rank = found->start;
    }
    return found;
}

// -- the Python class -------------------------------------------------------------------------

size_index *new_size_index(bool lowest) {
    size_index *index = PyObject_GC_New(size_index, &size_index_type);
    if (index == NULL) {
        return NULL;
    }
    memset((char *)index + sizeof(PyObject), 0, sizeof *index - sizeof(PyObject));
    index->lowest = lowest;
    for (unsigned octave = 0; octave < OCTAVES; octave++) {
        index->octaves[octave] = NOWHERE;
    }
    PyObject_GC_Track((PyObject *)index);
    return index;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    (void)type;
    static char *names[] = {"lowest", NULL};
    int lowest;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "$p", names, &lowest)) {
        return NULL;
    }
    return (PyObject *)new_size_index(lowest);
}

static int traverse(PyObject *self, visitproc visit, void *arg) {
    const size_index *index = (size_index *)self;
    for (size_t i = 0; i < index->starts.capacity; i++) {
        struct run *run = index->starts.slots[i].value;
        if (run != NULL) {
            Py_VISIT(run->first);
        }
    }
    return 0;
}

static int clear(PyObject *self) {
    size_index *index = (size_index *)self;
    struct table starts = index->starts, bins = index->bins;
    index->starts = index->bins = (struct table){0};
    index->count = 0;
    index->present = 0;
    memset(index->filled, 0, sizeof index->filled);
    PyMem_Free(index->spare);
    index->spare = NULL;
    for (unsigned i = 0; i < CLASSES; i++) {
        if (index->classes[i] != NULL) {
            PyMem_Free(index->classes[i]->runs.items);
            PyMem_Free(index->classes[i]->bins);
            PyMem_Free(index->classes[i]);
            index->classes[i] = NULL;
        }
        index->octaves[i >> MANTISSA_BITS] = NOWHERE;
    }
    for (size_t i = 0; i < bins.capacity; i++) {
        if (bins.slots[i].value != NULL) {
            free_bin(bins.slots[i].value);
        }
    }
    table_free(&bins);
    for (size_t i = 0; i < starts.capacity; i++) {
        struct run *run = starts.slots[i].value;
        if (run != NULL) {
            Py_DECREF((PyObject *)run->first);
            PyMem_Free(run);
        }
    }
    table_free(&starts);
    return 0;
}

static void dealloc(PyObject *self) {
    PyObject_GC_UnTrack(self);
    clear(self);
    PyObject_GC_Del(self);
}

static PyObject *add(PyObject *self, PyObject *arguments) {
    unsigned long long size, address;
    PyObject *first;
    if (!PyArg_ParseTuple(arguments, "KKO!", &size, &address, &block_type, &first)) {
        return NULL;
    }
    if (index_insert((size_index *)self, address, address + size, (block *)first) == NULL) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *remove_(PyObject *self, PyObject *arguments) {
    size_index *index = (size_index *)self;
    unsigned long long size, address;
    if (!PyArg_ParseTuple(arguments, "KK", &size, &address)) {
        return NULL;
    }
    struct run *run = index_at(index, address);
    if (run == NULL || run->end - run->start != size) {
        PyErr_Format(PyExc_KeyError, "no run of %llu bytes at %llu", size, address);
        return NULL;
    }
    return (PyObject *)index_erase(index, run);
}

static PyObject *find(PyObject *self, PyObject *argument) {
    uint64_t rank;
    unsigned long long size = PyLong_AsUnsignedLongLong(argument);
    if (size == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    struct run *run = index_find((size_index *)self, size, &rank);
    if (run == NULL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("KO", (unsigned long long)rank, run->first);
}

static PyObject *at_least(PyObject *self, PyObject *argument) {
    const size_index *index = (size_index *)self;
    unsigned long long size = PyLong_AsUnsignedLongLong(argument);
    if (size == (unsigned long long)-1 && PyErr_Occurred()) {
        return NULL;
    }
    PyObject *found = PyList_New(0);
    for (size_t i = 0; found != NULL && i < index->starts.capacity; i++) {
        const struct run *run = index->starts.slots[i].value;
        if (run != NULL && run->end - run->start >= size &&
            PyList_Append(found, (PyObject *)run->first) < 0) {
            Py_CLEAR(found);
        }
    }
    return found;
}

static PyObject *get_count(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromSsize_t(((size_index *)self)->count);
}

static PyObject *get_known_sizes(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromSize_t(((size_index *)self)->bins.count);
}

static PyMethodDef methods[] = {
    {"add", add, METH_VARARGS, "Enter a run of so many bytes at an address, with its first block."},
    {"remove", remove_, METH_VARARGS, "Take out a run by size and address; return its block."},
    {"find", find, METH_O, "Return (number, first block) of the run to take so many bytes from."},
    {"at_least", at_least, METH_O,
     "Return the first blocks of all runs of at least so many bytes."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"count", get_count, NULL, "How many runs there are.", NULL},
    {"known_sizes", get_known_sizes, NULL, "For how many sizes there is a place.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject size_index_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "urasync_l0.pool._structure.SizeIndex",
    .tp_basicsize = sizeof(size_index),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = "Runs by size, in C.",
    .tp_new = make,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_dealloc = dealloc,
    .tp_methods = methods,
    .tp_getset = attributes,
};
