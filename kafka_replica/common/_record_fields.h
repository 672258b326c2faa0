/* The fields of a record in 48 bytes, where a tuple with an offset takes 128; see record_fields.py, which does the same.

   What a record has in common with its neighbours is stored once for all of them: the headers, the partition, and the base
   of offsets and timestamps. Both types are meant for plain values, which cannot be part of a cycle, so they are not
   tracked by Python's garbage collector. They never change. */

#include "_module.h"
#include <structmember.h>

enum { KEY, VALUE, OFFSET, TIMESTAMP, HEADERS, SOURCE, FIELDS };

typedef struct {
    PyObject_HEAD
    uint64_t offset, timestamp; /* the base; sums and differences are modulo 2 ** 64 */
    PyObject *headers, *source;
} Common;

typedef struct {
    PyObject_HEAD
    PyObject *key, *value;
    Common *common;
    int32_t offset_delta, timestamp_delta;
} RecordFields;

typedef struct {
    PyTypeObject *common_type, *fields_type;
} State;

static void free_common(PyObject *self) {
    Common *common = (Common *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(common->headers);
    Py_DECREF(common->source);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Return what records with these fields have in common. */
static Common *new_common(PyTypeObject *type, uint64_t offset, uint64_t timestamp, PyObject *headers, PyObject *source) {
    Common *common = PyObject_New(Common, type);
    if (common == NULL) return NULL;
    common->offset = offset;
    common->timestamp = timestamp;
    common->headers = Py_NewRef(headers);
    common->source = Py_NewRef(source);
    return common;
}

static inline int fits(uint64_t difference) { return (int64_t)difference == (int32_t)(uint32_t)difference; }

/* Return whether a record can refer to this object. */
static inline int is_common_to(const Common *common, uint64_t offset, uint64_t timestamp, const PyObject *headers) {
    return common->headers == headers && fits(offset - common->offset) && fits(timestamp - common->timestamp);
}

/* Fill a new object, which may be NULL; return it. */
static PyObject *filled(RecordFields *made, Common *common, PyObject *key, PyObject *value, uint64_t offset,
                        uint64_t timestamp) {
    if (made == NULL) return NULL;
    made->key = Py_NewRef(key);
    made->value = Py_NewRef(value);
    made->common = (Common *)Py_NewRef(common);
    made->offset_delta = (int32_t)(uint32_t)(offset - common->offset);
    made->timestamp_delta = (int32_t)(uint32_t)(timestamp - common->timestamp);
    return (PyObject *)made;
}

static void free_fields(PyObject *self) {
    RecordFields *fields = (RecordFields *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(fields->key);
    Py_DECREF(fields->value);
    Py_DECREF(fields->common);
    type->tp_free(self);
    Py_DECREF(type);
}

static inline uint64_t offset_of(const RecordFields *fields) {
    return fields->common->offset + (uint64_t)(int64_t)fields->offset_delta;
}

static inline uint64_t timestamp_of(const RecordFields *fields) {
    return fields->common->timestamp + (uint64_t)(int64_t)fields->timestamp_delta;
}

static PyObject *field(const RecordFields *fields, Py_ssize_t at) {
    switch (at) {
    case KEY: return Py_NewRef(fields->key);
    case VALUE: return Py_NewRef(fields->value);
    case OFFSET: return PyLong_FromLongLong((int64_t)offset_of(fields));
    case TIMESTAMP: return PyLong_FromLongLong((int64_t)timestamp_of(fields));
    case HEADERS: return Py_NewRef(fields->common->headers);
    case SOURCE: return Py_NewRef(fields->common->source);
    default: PyErr_SetString(PyExc_IndexError, "a record has six items"); return NULL;
    }
}

static PyObject *item(PyObject *self, Py_ssize_t at) { return field((RecordFields *)self, at); }

static PyObject *attribute(PyObject *self, void *at) { return field((RecordFields *)self, (Py_ssize_t)at); }

static Py_ssize_t item_count(PyObject *Py_UNUSED(self)) { return FIELDS; }

/* Return the items as a tuple. */
static PyObject *items_of(PyObject *self) {
    PyObject *items = PyTuple_New(FIELDS);
    for (Py_ssize_t at = 0; items != NULL && at < FIELDS; at++) {
        PyObject *one = item(self, at);
        if (one == NULL) Py_CLEAR(items);
        else PyTuple_SET_ITEM(items, at, one);
    }
    return items;
}

/* Return an item by its index, which may be negative, or a tuple of items. */
static PyObject *item_or_slice(PyObject *self, PyObject *index) {
    if (PyIndex_Check(index)) {
        Py_ssize_t at = PyNumber_AsSsize_t(index, PyExc_IndexError);
        if (at == -1 && PyErr_Occurred()) return NULL;
        return item(self, at < 0 ? at + FIELDS : at);
    }
    PyObject *items = items_of(self);
    PyObject *found = items == NULL ? NULL : PyObject_GetItem(items, index);
    Py_XDECREF(items);
    return found;
}

static PyObject *iterator(PyObject *self) {
    PyObject *items = items_of(self);
    PyObject *made = items == NULL ? NULL : PyObject_GetIter(items);
    Py_XDECREF(items);
    return made;
}

/* Return whether an object has the layout of RecordFields. */
static inline int has_fields(PyObject *object) { return Py_TYPE(object)->tp_iter == iterator; }

static Py_hash_t hash_of(PyObject *self) {
    PyObject *items = items_of(self);
    Py_hash_t hash = items == NULL ? -1 : PyObject_Hash(items);
    Py_XDECREF(items);
    return hash;
}

/* Compare with another record by their items. */
static PyObject *compare(PyObject *self, PyObject *other, int operator) {
    if (!has_fields(other)) Py_RETURN_NOTIMPLEMENTED;
    PyObject *one = items_of(self), *two = items_of(other);
    PyObject *outcome = one == NULL || two == NULL ? NULL : PyObject_RichCompare(one, two, operator);
    Py_XDECREF(one);
    Py_XDECREF(two);
    return outcome;
}

static struct PyModuleDef definition; /* the module's */

static PyObject *create(PyTypeObject *type, PyObject *arguments, PyObject *named) {
    static char *names[] = {"key", "value", "offset", "timestamp_ms", "headers", "source", NULL};
    PyObject *key, *value, *headers, *source;
    long long offset, timestamp;
    if (!PyArg_ParseTupleAndKeywords(arguments, named, "OOLLOO:Record", names, &key, &value, &offset, &timestamp, &headers,
                                     &source))
        return NULL;
    PyObject *module = PyType_GetModuleByDef(type, &definition);
    if (module == NULL) return NULL;
    State *state = PyModule_GetState(module);
    Common *common = new_common(state->common_type, (uint64_t)offset, (uint64_t)timestamp, headers, source);
    if (common == NULL) return NULL;
    RecordFields *empty = (RecordFields *)type->tp_alloc(type, 0); /* a user's subclass may be of any size */
    PyObject *made = filled(empty, common, key, value, (uint64_t)offset, (uint64_t)timestamp);
    Py_DECREF(common);
    return made;
}

static PyMemberDef fields_members[] = { /* faster than a function */
    {"key", T_OBJECT_EX, offsetof(RecordFields, key), READONLY, "The key."},
    {"value", T_OBJECT_EX, offsetof(RecordFields, value), READONLY, "The value; None in a tombstone."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef fields_attributes[] = {
    {"offset", attribute, NULL, "The offset in the partition.", (void *)OFFSET},
    {"timestamp_ms", attribute, NULL, "The time in milliseconds since 1970-01-01 UTC.", (void *)TIMESTAMP},
    {"headers", attribute, NULL, "The headers.", (void *)HEADERS},
    {"source", attribute, NULL, "The partition.", (void *)SOURCE},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot fields_slots[] = {
    {Py_tp_doc, "Record(key, value, offset, timestamp_ms, headers, source)\n--\n\nA record."},
    {Py_tp_new, create},
    {Py_tp_dealloc, free_fields},
    {Py_tp_hash, hash_of},
    {Py_tp_richcompare, compare},
    {Py_tp_members, fields_members},
    {Py_tp_getset, fields_attributes},
    {Py_tp_iter, iterator},
    {Py_sq_length, item_count},
    {Py_sq_item, item},
    {Py_mp_length, item_count},
    {Py_mp_subscript, item_or_slice},
    {0, NULL},
};

static PyType_Spec fields_spec = {
    .name = "kafka_replica.records.Record", /* it gets the methods of that class */
    .basicsize = sizeof(RecordFields),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = fields_slots,
};

static PyType_Slot common_slots[] = {{Py_tp_dealloc, free_common}, {0, NULL}};

static PyType_Spec common_spec = {
    .name = "kafka_replica.common._records.Common",
    .basicsize = sizeof(Common),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = common_slots,
};

/* Complete the module with its types. */
static int add_types(PyObject *module) {
    State *state = PyModule_GetState(module);
    state->common_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &common_spec, NULL);
    state->fields_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &fields_spec, NULL);
    if (state->common_type == NULL || state->fields_type == NULL) return -1;
    if (PyModule_AddObjectRef(module, "RecordFields", (PyObject *)state->fields_type) < 0) return -1;
    return add_interface(module);
}

static int visit_types(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT(state->common_type);
    Py_VISIT(state->fields_type);
    return 0;
}

static int clear_types(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->common_type);
    Py_CLEAR(state->fields_type);
    return 0;
}

static void free_types(void *module) { clear_types((PyObject *)module); }
