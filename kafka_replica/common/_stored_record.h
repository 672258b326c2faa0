/* The encoding of records in a store on disk; the same as codec.py's, which is the definition.

   Big-endian: offset, timestamp in ms, index of the partition, size of the headers; then the headers and the value. */

enum { STORED_HEAD_BYTES = 8 + 8 + 4 + 4 };

/* The fields of a record in any form, as borrowed references, except for offset and timestamp. */
typedef struct {
    PyObject *value, *headers, *source; /* no source in a plain tuple: NULL */
    uint64_t offset, timestamp;
} Fields;

static int fields_of(PyObject *record, Fields *fields) {
    if (has_fields(record)) {
        const RecordFields *plain = (RecordFields *)record;
        *fields = (Fields){
            .value = plain->value,
            .headers = plain->common->headers,
            .source = plain->common->source,
            .offset = offset_of(plain),
            .timestamp = timestamp_of(plain),
        };
        return 0;
    }
    if (!PyTuple_Check(record) || PyTuple_GET_SIZE(record) < SOURCE) {
        PyErr_SetString(PyExc_TypeError, "a record has to be one of RecordFields, or a tuple of five or six items");
        return -1;
    }
    fields->value = PyTuple_GET_ITEM(record, VALUE);
    fields->headers = PyTuple_GET_ITEM(record, HEADERS);
    fields->source = PyTuple_GET_SIZE(record) > SOURCE ? PyTuple_GET_ITEM(record, SOURCE) : NULL;
    fields->offset = (uint64_t)PyLong_AsLongLong(PyTuple_GET_ITEM(record, OFFSET));
    if (PyErr_Occurred()) return -1;
    fields->timestamp = (uint64_t)PyLong_AsLongLong(PyTuple_GET_ITEM(record, TIMESTAMP));
    return PyErr_Occurred() ? -1 : 0;
}

static char *put_big_endian(char *at, uint64_t number, int size) {
    for (int byte = size - 1; byte >= 0; byte--) *at++ = (char)(number >> (8 * byte));
    return at;
}

/* Return two byte strings as one. */
static PyObject *joined(PyObject *first, PyObject *second) {
    PyObject *made = PyBytes_FromStringAndSize(NULL, PyBytes_GET_SIZE(first) + PyBytes_GET_SIZE(second));
    if (made == NULL) return NULL;
    memcpy(PyBytes_AS_STRING(made), PyBytes_AS_STRING(first), (size_t)PyBytes_GET_SIZE(first));
    memcpy(PyBytes_AS_STRING(made) + PyBytes_GET_SIZE(first), PyBytes_AS_STRING(second), (size_t)PyBytes_GET_SIZE(second));
    return made;
}

/* Encode a record that is not a tombstone. */
static PyObject *encoded(const Fields *fields, PyObject *value, uint32_t number, PyObject *headers) {
    Py_ssize_t header_bytes = PyBytes_GET_SIZE(headers), size = PyBytes_GET_SIZE(value);
    PyObject *made = PyBytes_FromStringAndSize(NULL, STORED_HEAD_BYTES + header_bytes + size);
    if (made == NULL) return NULL;
    char *at = put_big_endian(PyBytes_AS_STRING(made), fields->offset, 8);
    at = put_big_endian(at, fields->timestamp, 8);
    at = put_big_endian(at, number, 4);
    at = put_big_endian(at, (uint64_t)header_bytes, 4);
    memcpy(at, PyBytes_AS_STRING(headers), (size_t)header_bytes);
    memcpy(at + header_bytes, PyBytes_AS_STRING(value), (size_t)size);
    return made;
}

/* Where records are written to, and what the previous record had. */
typedef struct {
    PyObject *put, *remove, *prefix, *number_of, *pack_headers;
    PyObject *source, *headers, *packed; /* source and headers are those of number and packed */
    uint32_t number;
} Writer;

static int find_number(Writer *writer, PyObject *source) {
    if (source == writer->source) return 0;
    PyObject *number = PyObject_CallOneArg(writer->number_of, source);
    if (number == NULL) return -1;
    writer->number = (uint32_t)PyLong_AsUnsignedLongMask(number);
    Py_DECREF(number);
    Py_XSETREF(writer->source, Py_NewRef(source));
    return PyErr_Occurred() ? -1 : 0;
}

static int find_headers(Writer *writer, PyObject *headers) {
    if (headers == writer->headers) return 0;
    PyObject *packed = PyObject_CallOneArg(writer->pack_headers, headers);
    if (packed == NULL) return -1;
    Py_XSETREF(writer->packed, packed);
    Py_XSETREF(writer->headers, Py_NewRef(headers));
    if (PyBytes_Check(packed)) return 0;
    PyErr_SetString(PyExc_TypeError, "packed headers have to be bytes");
    return -1;
}

static PyObject *encoded_value(Writer *writer, const Fields *fields, PyObject *default_source) {
    if (find_number(writer, fields->source == NULL ? default_source : fields->source) < 0) return NULL;
    if (find_headers(writer, fields->headers) < 0) return NULL;
    PyObject *value = PyBytes_Check(fields->value) ? Py_NewRef(fields->value) : PyBytes_FromObject(fields->value);
    PyObject *made = value == NULL ? NULL : encoded(fields, value, writer->number, writer->packed);
    Py_XDECREF(value);
    return made;
}

/* Write a record to a key of the store. */
static int write_one(Writer *writer, PyObject *key, PyObject *record, PyObject *default_source) {
    Fields fields;
    if (fields_of(record, &fields) < 0) return -1;
    if (!PyBytes_Check(key)) {
        PyErr_SetString(PyExc_TypeError, "a key of the store has to be bytes");
        return -1;
    }
    PyObject *name = joined(writer->prefix, key), *value = NULL, *done = NULL;
    if (name == NULL) return -1;
    if (fields.value == Py_None)
        done = PyObject_CallOneArg(writer->remove, name);
    else if ((value = encoded_value(writer, &fields, default_source)) != NULL)
        done = PyObject_CallFunctionObjArgs(writer->put, name, value, NULL);
    Py_DECREF(name);
    Py_XDECREF(value);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

PyDoc_STRVAR(write_doc,
             "write(changes, source, put, delete, prefix, number_of, pack_headers)\n--\n\n"
             "Write records to a store on disk.\n\n"
             "changes: a list of keys of the store with their records; source: the partition of records that have none;\n"
             "put, delete: the functions of a batch; prefix: what precedes each key; number_of: returns the index of a\n"
             "partition; pack_headers: encodes headers.");

static PyObject *write_records(PyObject *module, PyObject *arguments) {
    PyObject *changes, *source;
    Writer writer = {.source = NULL};
    if (!PyArg_ParseTuple(arguments, "O!OOOSOO", &PyList_Type, &changes, &source, &writer.put, &writer.remove,
                          &writer.prefix, &writer.number_of, &writer.pack_headers))
        return NULL;
    int failed = 0;
    for (Py_ssize_t at = 0; !failed && at < PyList_GET_SIZE(changes); at++) {
        PyObject *pair = Py_NewRef(PyList_GET_ITEM(changes, at)); /* put may run other code */
        if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) != 2) {
            PyErr_SetString(PyExc_TypeError, "the changes have to be pairs of a key and a record");
            failed = 1;
        } else {
            failed = write_one(&writer, PyTuple_GET_ITEM(pair, 0), PyTuple_GET_ITEM(pair, 1), source) < 0;
        }
        Py_DECREF(pair);
    }
    Py_XDECREF(writer.source);
    Py_XDECREF(writer.headers);
    Py_XDECREF(writer.packed);
    if (failed) return NULL;
    Py_RETURN_NONE;
}
