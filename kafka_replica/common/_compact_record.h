/* The form in which the compiled parser creates records: 48 bytes instead of the 128 of a Record and its offset.

   A CompactRecord has the items and attributes of a Record, and is equal to it. What it has in common with its neighbours
   is stored once for all of them: the headers, the partition, and the base of offsets and timestamps. Both types contain
   only plain values and cannot be part of a cycle, so they are not tracked by Python's garbage collector. They never
   change. */

#include "_module.h"
#include <structmember.h>

/* The fields of a Record. */
enum { KEY, VALUE, OFFSET, TIMESTAMP, HEADERS, SOURCE, FIELDS };

typedef struct {
    PyObject_HEAD
    uint64_t offset, timestamp; /* the base; sums and differences are modulo 2 ** 64 */
    PyObject *headers, *source;
    PyTypeObject *record_type;
} Common;

typedef struct {
    PyObject_HEAD
    PyObject *key, *value; /* bytes or None */
    Common *common;
    int32_t offset_delta, timestamp_delta;
} CompactRecord;

typedef struct {
    PyTypeObject *common_type, *compact_type;
} State;

static void free_common(PyObject *self) {
    Common *common = (Common *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(common->headers);
    Py_DECREF(common->source);
    Py_DECREF(common->record_type);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Return what records with these fields have in common. */
static Common *new_common(const State *state, uint64_t offset, uint64_t timestamp, PyObject *headers, PyObject *source,
                          PyTypeObject *record_type) {
    Common *common = PyObject_New(Common, state->common_type);
    if (common == NULL) return NULL;
    common->offset = offset;
    common->timestamp = timestamp;
    common->headers = Py_NewRef(headers);
    common->source = Py_NewRef(source);
    common->record_type = (PyTypeObject *)Py_NewRef(record_type);
    return common;
}

static inline int fits(uint64_t difference) { return (int64_t)difference == (int32_t)(uint32_t)difference; }

/* Return whether a record can refer to this object. */
static inline int is_common_to(const Common *common, uint64_t offset, uint64_t timestamp, const PyObject *headers) {
    return common->headers == headers && fits(offset - common->offset) && fits(timestamp - common->timestamp);
}

/* Return a new CompactRecord; steals the references to key and value, even if it fails. */
static PyObject *new_compact(const State *state, Common *common, PyObject *key, PyObject *value, uint64_t offset,
                             uint64_t timestamp) {
    CompactRecord *made = PyObject_New(CompactRecord, state->compact_type);
    if (made == NULL) {
        Py_DECREF(key);
        Py_DECREF(value);
        return NULL;
    }
    made->key = key;
    made->value = value;
    made->common = (Common *)Py_NewRef(common);
    made->offset_delta = (int32_t)(uint32_t)(offset - common->offset);
    made->timestamp_delta = (int32_t)(uint32_t)(timestamp - common->timestamp);
    return (PyObject *)made;
}

static void free_compact(PyObject *self) {
    CompactRecord *record = (CompactRecord *)self;
    PyTypeObject *type = Py_TYPE(self);
    Py_DECREF(record->key);
    Py_DECREF(record->value);
    Py_DECREF(record->common);
    PyObject_Free(self);
    Py_DECREF(type);
}

static inline int is_compact(PyObject *object) { return Py_TYPE(object)->tp_dealloc == free_compact; }

static PyObject *sum_of(uint64_t base, int32_t delta) {
    return PyLong_FromLongLong((int64_t)(base + (uint64_t)(int64_t)delta));
}

static PyObject *field(const CompactRecord *record, Py_ssize_t at) {
    switch (at) {
    case KEY: return Py_NewRef(record->key);
    case VALUE: return Py_NewRef(record->value);
    case OFFSET: return sum_of(record->common->offset, record->offset_delta);
    case TIMESTAMP: return sum_of(record->common->timestamp, record->timestamp_delta);
    case HEADERS: return Py_NewRef(record->common->headers);
    case SOURCE: return Py_NewRef(record->common->source);
    default: PyErr_SetString(PyExc_IndexError, "a record has six fields"); return NULL;
    }
}

static PyObject *item(PyObject *self, Py_ssize_t at) { return field((CompactRecord *)self, at); }

static PyObject *attribute(PyObject *self, void *at) { return field((CompactRecord *)self, (Py_ssize_t)at); }

static Py_ssize_t item_count(PyObject *Py_UNUSED(self)) { return FIELDS; }

/* Return an equal Record, which is not tracked by the garbage collector either. */
static PyObject *record_of(PyObject *self, PyObject *Py_UNUSED(unused)) {
    const CompactRecord *compact = (CompactRecord *)self;
    PyObject *offset = field(compact, OFFSET), *timestamp = field(compact, TIMESTAMP);
    PyTupleObject *record = NULL;
    if (offset != NULL && timestamp != NULL)
        record = PyObject_GC_NewVar(PyTupleObject, compact->common->record_type, FIELDS);
    if (record == NULL) {
        Py_XDECREF(offset);
        Py_XDECREF(timestamp);
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030E0000
    record->ob_hash = -1; /* not known yet */
#endif
    PyTuple_SET_ITEM(record, KEY, Py_NewRef(compact->key));
    PyTuple_SET_ITEM(record, VALUE, Py_NewRef(compact->value));
    PyTuple_SET_ITEM(record, OFFSET, offset);
    PyTuple_SET_ITEM(record, TIMESTAMP, timestamp);
    PyTuple_SET_ITEM(record, HEADERS, Py_NewRef(compact->common->headers));
    PyTuple_SET_ITEM(record, SOURCE, Py_NewRef(compact->common->source));
    return (PyObject *)record;
}

/* Return an item by its index, which may be negative, or a tuple of items. */
static PyObject *item_or_slice(PyObject *self, PyObject *index) {
    if (PyIndex_Check(index)) {
        Py_ssize_t at = PyNumber_AsSsize_t(index, PyExc_IndexError);
        if (at == -1 && PyErr_Occurred()) return NULL;
        return item(self, at < 0 ? at + FIELDS : at);
    }
    PyObject *record = record_of(self, NULL);
    PyObject *found = record == NULL ? NULL : PyObject_GetItem(record, index);
    Py_XDECREF(record);
    return found;
}

static PyObject *iterator(PyObject *self) {
    PyObject *record = record_of(self, NULL);
    PyObject *made = record == NULL ? NULL : PyObject_GetIter(record);
    Py_XDECREF(record);
    return made;
}

/* Return an attribute of the Record; methods of the result are those of that Record. */
static PyObject *attribute_of_record(PyObject *self, void *name) {
    PyObject *record = record_of(self, NULL);
    PyObject *found = record == NULL ? NULL : PyObject_GetAttrString(record, name);
    Py_XDECREF(record);
    return found;
}

static PyObject *is_tombstone(PyObject *self, void *Py_UNUSED(unused)) {
    return PyBool_FromLong(((CompactRecord *)self)->value == Py_None);
}

static PyObject *representation(PyObject *self) {
    PyObject *record = record_of(self, NULL);
    PyObject *text = record == NULL ? NULL : PyObject_Repr(record);
    Py_XDECREF(record);
    return text;
}

static Py_hash_t hash_of(PyObject *self) {
    PyObject *record = record_of(self, NULL);
    Py_hash_t hash = record == NULL ? -1 : PyObject_Hash(record);
    Py_XDECREF(record);
    return hash;
}

/* Compare like the Record; the other one may have either form. */
static PyObject *compare(PyObject *self, PyObject *other, int operator) {
    if (!is_compact(other) && !PyTuple_Check(other)) Py_RETURN_NOTIMPLEMENTED;
    PyObject *one = record_of(self, NULL);
    PyObject *two = is_compact(other) ? record_of(other, NULL) : Py_NewRef(other);
    PyObject *outcome = one == NULL || two == NULL ? NULL : PyObject_RichCompare(one, two, operator);
    Py_XDECREF(one);
    Py_XDECREF(two);
    return outcome;
}

/* Return a Record with other values of some fields. */
static PyObject *replace(PyObject *self, PyObject *arguments, PyObject *fields) {
    PyObject *method = attribute_of_record(self, "_replace");
    PyObject *made = method == NULL ? NULL : PyObject_Call(method, arguments, fields);
    Py_XDECREF(method);
    return made;
}

/* Pickle as a Record. */
static PyObject *reduce(PyObject *self, PyObject *Py_UNUSED(unused)) {
    PyObject *fields = PySequence_Tuple(self);
    return fields == NULL ? NULL : Py_BuildValue("ON", ((CompactRecord *)self)->common->record_type, fields);
}

static PyMethodDef compact_methods[] = {
    {"_replace", (PyCFunction)(void (*)(void))replace, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__replace__", (PyCFunction)(void (*)(void))replace, METH_VARARGS | METH_KEYWORDS, NULL},
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef compact_members[] = { /* faster than a function */
    {"key", T_OBJECT_EX, offsetof(CompactRecord, key), READONLY, NULL},
    {"value", T_OBJECT_EX, offsetof(CompactRecord, value), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef compact_attributes[] = {
    {"offset", attribute, NULL, NULL, (void *)OFFSET},
    {"timestamp_ms", attribute, NULL, NULL, (void *)TIMESTAMP},
    {"headers", attribute, NULL, NULL, (void *)HEADERS},
    {"source", attribute, NULL, NULL, (void *)SOURCE},
    {"is_tombstone", is_tombstone, NULL, NULL, NULL},
    {"topic", attribute_of_record, NULL, NULL, "topic"},
    {"partition", attribute_of_record, NULL, NULL, "partition"},
    {"header", attribute_of_record, NULL, NULL, "header"},
    {"count", attribute_of_record, NULL, NULL, "count"},
    {"index", attribute_of_record, NULL, NULL, "index"},
    {"_fields", attribute_of_record, NULL, NULL, "_fields"},
    {"_asdict", attribute_of_record, NULL, NULL, "_asdict"},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot compact_slots[] = {
    {Py_tp_doc, "A record in the form of the compiled parser; see records.py."},
    {Py_tp_dealloc, free_compact},
    {Py_tp_repr, representation},
    {Py_tp_hash, hash_of},
    {Py_tp_richcompare, compare},
    {Py_tp_methods, compact_methods},
    {Py_tp_members, compact_members},
    {Py_tp_getset, compact_attributes},
    {Py_tp_iter, iterator},
    {Py_sq_length, item_count},
    {Py_sq_item, item},
    {Py_mp_length, item_count},
    {Py_mp_subscript, item_or_slice},
    {0, NULL},
};

#define TYPE_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE)

static PyType_Spec compact_spec = {
    .name = "kafka_replica.common._records.CompactRecord",
    .basicsize = sizeof(CompactRecord),
    .flags = TYPE_FLAGS | Py_TPFLAGS_SEQUENCE,
    .slots = compact_slots,
};

static PyType_Slot common_slots[] = {{Py_tp_dealloc, free_common}, {0, NULL}};

static PyType_Spec common_spec = {
    .name = "kafka_replica.common._records.Common",
    .basicsize = sizeof(Common),
    .flags = TYPE_FLAGS,
    .slots = common_slots,
};

/* Complete the module with its types. */
static int add_types(PyObject *module) {
    State *state = PyModule_GetState(module);
    state->common_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &common_spec, NULL);
    state->compact_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &compact_spec, NULL);
    if (state->common_type == NULL || state->compact_type == NULL) return -1;
    if (PyModule_AddObjectRef(module, "CompactRecord", (PyObject *)state->compact_type) < 0) return -1;
    return add_interface(module);
}

static int visit_types(PyObject *module, visitproc visit, void *arg) {
    State *state = PyModule_GetState(module);
    Py_VISIT(state->common_type);
    Py_VISIT(state->compact_type);
    return 0;
}

static int clear_types(PyObject *module) {
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->common_type);
    Py_CLEAR(state->compact_type);
    return 0;
}

static void free_types(void *module) { clear_types((PyObject *)module); }
