/* The compiled scanner of a log's record batches; optional, see compiled.py.

   It reads the heads of the batches in a fetch response and creates an object for each; records are parsed later. Each
   length is checked before it is used. The source of the format is Kafka's documentation, "Message Format": record batches
   of magic 2, control batches. */

#include "_module.h"

/* Return whether objects of a type are laid out as tuples, so that their items can be set as those of a tuple. */
static inline int is_plain_tuple_type(PyTypeObject *type) {
    return PyType_IsSubtype(type, &PyTuple_Type) && type->tp_basicsize == PyTuple_Type.tp_basicsize &&
           type->tp_itemsize == PyTuple_Type.tp_itemsize && type->tp_dictoffset == 0;
}


/* The offsets of the fields in a batch's head. */
enum {
    BASE_OFFSET = 0,
    LENGTH = 8,
    LEADER_EPOCH = 12,
    MAGIC = 16,
    ATTRIBUTES = 21,
    LAST_OFFSET_DELTA = 23,
    PRODUCER_ID = 43,
    PRODUCER_EPOCH = 51,
    RECORD_COUNT = 57,
    HEAD_BYTES = 61
};
#define LENGTH_FROM 12 /* the length counts the bytes after itself */
enum { CODEC = 7, TRANSACTIONAL = 16, CONTROL = 32 };

/* A control record as brokers write it: its length, no attributes, no deltas, the length of a key of four bytes, and the
   key, which consists of version and type. */
enum { MARKER_START = HEAD_BYTES + 1, MARKER_TYPE = HEAD_BYTES + 7, MARKER_BYTES = HEAD_BYTES + 9 };

/* The kinds of batches, in the order in which the caller names them. */
enum { PLAIN, DATA, COMMIT, ABORT, KINDS };
/* The fields of a batch, which is a tuple. */
enum { PARTITION, KIND, FIRST, END, COUNT, ID, EPOCH, CONTENT, FIELDS };

typedef struct {
    PyObject *data, *partition, *spill_buffer, *kinds, *content_type, *kind_of_marker;
    PyTypeObject *batch_type;
    PyObject *batches, *compressed;
    int64_t position;
    int32_t leader_epoch, count;
    int16_t attributes;
    int has_gap;
} Scan;

static int64_t signed_int(const uint8_t *at, int size) {
    uint64_t value = (int8_t)at[0] < 0 ? ~(uint64_t)0 : 0;
    while (size-- > 0) value = value << 8 | *at++;
    return (int64_t)value;
}

static int append(PyObject *list, PyObject *item) { /* steals the reference to the item, which may be NULL */
    int failed = item == NULL || PyList_Append(list, item) < 0;
    Py_XDECREF(item);
    return failed ? -1 : 0;
}

/* Return the kind of a batch, None if it is of no interest, or NULL. */
static PyObject *kind_of(const Scan *scan, const uint8_t *at, Py_ssize_t size, PyObject *piece) {
    if (!(scan->attributes & CONTROL))
        return Py_NewRef(PyTuple_GET_ITEM(scan->kinds, scan->attributes & TRANSACTIONAL ? DATA : PLAIN));
    int is_usual = size >= MARKER_BYTES && !(scan->attributes & CODEC) && at[HEAD_BYTES] < 0x80 &&
                   memcmp(at + MARKER_START, "\0\0\0\x08", 4) == 0;
    if (!is_usual) return PyObject_CallOneArg(scan->kind_of_marker, piece);
    int type = at[MARKER_TYPE] << 8 | at[MARKER_TYPE + 1];
    if (type > 1) return Py_NewRef(Py_None);
    return Py_NewRef(PyTuple_GET_ITEM(scan->kinds, type == 1 ? COMMIT : ABORT));
}

/* Return a new batch with these fields; steals all references. Return NULL if a field is NULL. */
static PyObject *batch_of(PyTypeObject *type, PyObject *fields[FIELDS]) {
    PyObject *batch = NULL;
    int is_complete = 1;
    for (int at = 0; at < FIELDS; at++) is_complete &= fields[at] != NULL;
    if (is_complete) batch = type->tp_alloc(type, FIELDS);
    for (int at = 0; at < FIELDS; at++)
        if (batch != NULL)
            PyTuple_SET_ITEM(batch, at, fields[at]);
        else
            Py_XDECREF(fields[at]);
#if PY_VERSION_HEX >= 0x030E0000
    if (batch != NULL) ((PyTupleObject *)batch)->ob_hash = -1; /* not known yet */
#endif
    return batch;
}

/* Add a batch that has records. */
static int add_batch(Scan *scan, const uint8_t *at, Py_ssize_t begin, Py_ssize_t size, int64_t base, int64_t end) {
    PyObject *piece = PySequence_GetSlice(scan->data, begin, begin + size);
    if (piece == NULL) return -1;
    int64_t first = scan->position > base ? scan->position : base;
    PyObject *kind = kind_of(scan, at, size, piece), *content = NULL, *from_offset = NULL;
    int failed = kind == NULL;
    if (!failed && kind != Py_None) {
        from_offset = PyLong_FromLongLong(base < first ? first : 0);
        if (from_offset != NULL)
            content = PyObject_CallFunctionObjArgs(
                scan->content_type, piece, scan->partition, from_offset, scan->spill_buffer, NULL
            );
        PyObject *fields[FIELDS] = {
            Py_NewRef(scan->partition), Py_NewRef(kind), PyLong_FromLongLong(first), PyLong_FromLongLong(end),
            PyLong_FromLong(scan->count), PyLong_FromLongLong(signed_int(at + PRODUCER_ID, 8)),
            PyLong_FromLong((long)signed_int(at + PRODUCER_EPOCH, 2)), Py_XNewRef(content),
        };
        failed = append(scan->batches, batch_of(scan->batch_type, fields)) < 0;
        if (!failed && scan->attributes & CODEC && !(scan->attributes & CONTROL))
            failed = append(scan->compressed, Py_BuildValue("OOi", content, piece, (int)scan->count)) < 0;
    }
    Py_DECREF(piece);
    Py_XDECREF(kind);
    Py_XDECREF(content);
    Py_XDECREF(from_offset);
    return failed ? -1 : 0;
}

/* Scan all batches that are there as a whole; return where a batch begins that cannot be scanned, -1 if there is none, or
   -2 after an exception. */
static Py_ssize_t scan_all(Scan *scan, const uint8_t *data, Py_ssize_t size) {
    Py_ssize_t begin = 0;
    while (size - begin >= HEAD_BYTES) {
        const uint8_t *at = data + begin;
        int64_t base = signed_int(at + BASE_OFFSET, 8), length = signed_int(at + LENGTH, 4) + LENGTH_FROM;
        if (length > size - begin) break; /* truncated by the size limit of the fetch */
        int32_t last = (int32_t)signed_int(at + LAST_OFFSET_DELTA, 4);
        if (at[MAGIC] != 2 || length < HEAD_BYTES || base < 0 || (last >= 0 && base > INT64_MAX - 1 - last)) return begin;
        scan->attributes = (int16_t)signed_int(at + ATTRIBUTES, 2);
        scan->count = (int32_t)signed_int(at + RECORD_COUNT, 4);
        int64_t end = base + last + 1;
        if (end > scan->position) {
            scan->has_gap |= base > scan->position || scan->count <= last;
            /* The log cleaner keeps the head of an emptied batch, without the marker that it contained. */
            if (scan->count && add_batch(scan, at, begin, (Py_ssize_t)length, base, end) < 0) return -2;
            scan->position = end;
            scan->leader_epoch = (int32_t)signed_int(at + LEADER_EPOCH, 4);
        }
        begin += (Py_ssize_t)length;
    }
    /* A message of an old format may be shorter than the head of a batch. */
    return size - begin > MAGIC && data[begin + MAGIC] != 2 ? begin : -1;
}

PyDoc_STRVAR(scan_doc,
             "scan(data, partition, position, epoch, spill_buffer, batch_type, kinds, content_type, kind_of_marker)\n--\n\n"
             "Return the batches of a partition in a fetch response, those that are compressed, whether an offset is\n"
             "missing, position and leader epoch after them, and where a batch begins that cannot be scanned, or -1.");

static PyObject *scan(PyObject *module, PyObject *arguments) {
    Py_buffer data;
    long long position;
    int leader_epoch;
    Scan scan = {0};
    if (!PyArg_ParseTuple(
            arguments, "OOLiOO!O!OO", &scan.data, &scan.partition, &position, &leader_epoch, &scan.spill_buffer,
            &PyType_Type, &scan.batch_type, &PyTuple_Type, &scan.kinds, &scan.content_type, &scan.kind_of_marker
        ))
        return NULL;
    if (!is_plain_tuple_type(scan.batch_type) || PyTuple_GET_SIZE(scan.kinds) != KINDS)
        return PyErr_Format(PyExc_TypeError, "batches have to be tuples without a dict, and have four kinds");
    if (PyObject_GetBuffer(scan.data, &data, PyBUF_SIMPLE) < 0) return NULL;
    scan.position = position;
    scan.leader_epoch = leader_epoch;
    scan.batches = PyList_New(0);
    scan.compressed = PyList_New(0);
    Py_ssize_t stopped = -2;
    if (scan.batches != NULL && scan.compressed != NULL) stopped = scan_all(&scan, data.buf, data.len);
    PyBuffer_Release(&data);
    if (stopped == -2) {
        Py_XDECREF(scan.batches);
        Py_XDECREF(scan.compressed);
        return NULL;
    }
    return Py_BuildValue(
        "NNNLin", scan.batches, scan.compressed, PyBool_FromLong(scan.has_gap), (long long)scan.position,
        (int)scan.leader_epoch, stopped
    );
}

static PyMethodDef functions[] = {
    {"scan", scan, METH_VARARGS, scan_doc},
    {NULL, NULL, 0, NULL},
};

MODULE(_batches, "The compiled scanner of a log's record batches; see compiled.py.", functions, add_interface, .m_size = 0)
