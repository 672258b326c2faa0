/* Memory of the C library's heap, provided before it is needed; optional, see heap.py.

   A reserve is a number of blocks of the calling thread's heap. While they are allocated, another thread can let the system
   provide their pages, without the interpreter lock. After the blocks are freed, the next objects are created in them.
   Nothing is assumed about how the C library manages its heap: with another allocator, the memory is just not used. */

#include "_module.h"
#include <stdlib.h>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14; an older kernel refuses it */
#endif
#else
enum { MADV_DONTNEED, MADV_POPULATE_WRITE };
#endif

#define BLOCK_BYTES 100000  /* below 128 KiB, from which on glibc maps each block separately, outside of the heap */
#define MOST_GAP_BYTES 4096 /* the maximum gap between blocks that are combined into one range */
#define MOST_RANGES 64
#define NAME "kafka_replica.common._heap.reserve"

typedef struct {
    Py_ssize_t count;
    char *blocks[];
} Reserve;

typedef struct {
    char *begin, *end;
} Range;

static void free_blocks(Reserve *reserve) {
    for (Py_ssize_t at = 0; at < reserve->count; at++) free(reserve->blocks[at]);
    reserve->count = 0;
}

/* Advise the system that the whole pages between two addresses are no longer needed, or will be needed. */
static void advise(char *from, char *to, int advice) {
#ifdef __linux__
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE) - 1;
    uintptr_t begin = ((uintptr_t)from + page) & ~page, end = (uintptr_t)to & ~page;
    if (begin < end) (void)madvise((void *)begin, end - begin, advice); /* may fail, because nothing depends on it */
#endif
}

/* Free a reserve that was not released, and return its memory to the system, because the C library might keep it. */
static void delete_reserve(PyObject *capsule) {
    Reserve *reserve = PyCapsule_GetPointer(capsule, NAME);
    for (Py_ssize_t at = 0; at < reserve->count; at++)
        advise(reserve->blocks[at], reserve->blocks[at] + BLOCK_BYTES, MADV_DONTNEED);
    free_blocks(reserve);
    free(reserve);
}

PyDoc_STRVAR(reserve_doc, "reserve(size_bytes)\n--\n\nAllocate blocks of about this size in all, and return them as a reserve.");

static PyObject *reserve(PyObject *module, PyObject *size) {
    Py_ssize_t size_bytes = PyLong_AsSsize_t(size);
    if (size_bytes < 0) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_ValueError, "a negative size");
    Py_ssize_t count = size_bytes / BLOCK_BYTES;
    Reserve *made = malloc(sizeof(Reserve) + (size_t)count * sizeof(char *));
    if (made == NULL) return PyErr_NoMemory();
    made->count = 0;
    while (made->count < count && (made->blocks[made->count] = malloc(BLOCK_BYTES)) != NULL) made->count++;
    PyObject *capsule = PyCapsule_New(made, NAME, delete_reserve);
    if (capsule == NULL) {
        free_blocks(made);
        free(made);
    }
    return capsule;
}

/* Find the ranges of adjacent blocks; return their number. */
static int ranges_of(const Reserve *reserve, Range ranges[MOST_RANGES]) {
    int count = 0;
    for (Py_ssize_t at = 0; at < reserve->count; at++) {
        char *block = reserve->blocks[at];
        Range *last = count ? &ranges[count - 1] : NULL;
        if (last != NULL && block >= last->end && block - last->end <= MOST_GAP_BYTES)
            last->end = block + BLOCK_BYTES;
        else if (count < MOST_RANGES)
            ranges[count++] = (Range){block, block + BLOCK_BYTES};
    }
    return count;
}

PyDoc_STRVAR(populate_doc, "populate(reserve)\n--\n\nLet the system provide the memory of a reserve, without the interpreter lock.");

static PyObject *populate(PyObject *module, PyObject *capsule) {
    Reserve *reserve = PyCapsule_GetPointer(capsule, NAME);
    if (reserve == NULL) return NULL;
    Range ranges[MOST_RANGES];
    int count = ranges_of(reserve, ranges); /* from here on the reserve may be released */
    Py_BEGIN_ALLOW_THREADS
    for (int at = 0; at < count; at++) advise(ranges[at].begin, ranges[at].end, MADV_POPULATE_WRITE); /* content stays */
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

PyDoc_STRVAR(release_doc, "release(reserve)\n--\n\nFree the blocks of a reserve, so that the next objects are created in their memory.");

static PyObject *release(PyObject *module, PyObject *capsule) {
    Reserve *reserve = PyCapsule_GetPointer(capsule, NAME);
    if (reserve == NULL) return NULL;
    free_blocks(reserve);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"reserve", reserve, METH_O, reserve_doc},
    {"populate", populate, METH_O, populate_doc},
    {"release", release, METH_O, release_doc},
    {NULL, NULL, 0, NULL},
};

MODULE(_heap, "Memory of the heap, provided before it is needed; see heap.py.", functions, add_interface, .m_size = 0)
