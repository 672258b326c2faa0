/* The compiled parser of record batches; optional, see compiled.py.

   It creates the Record objects that readers get, in one pass over the bytes of a batch. Each length is checked before it is
   used. The source of the format is Kafka's documentation, "Message Format": record batches of magic 2. */

#include "_record_fields.h"
#include "_stored_record.h"


/* The offsets of the fields in a batch's head. */
enum { BASE_OFFSET = 0, ATTRIBUTES = 21, FIRST_TIMESTAMP = 27, MAX_TIMESTAMP = 35, RECORD_COUNT = 57, HEAD_BYTES = 61 };
#define LOG_APPEND_TIME 8

#define LEAST_RECORD_BYTES 7 /* each of a record's seven numbers takes at least a byte */

typedef struct {
    const uint8_t *at, *end; /* the bytes that are not parsed yet */
    uint64_t base_offset, first_timestamp, max_timestamp;
    int has_one_timestamp;
    PyTypeObject *common_type, *record_type;
    PyObject *source;
    /* The headers of the previous record, which are often the same, their bytes, and what that record refers to. */
    PyObject *headers;
    const uint8_t *headers_at;
    Py_ssize_t headers_bytes;
    Common *common;
} Batch;

typedef struct {
    const uint8_t *at;
    Py_ssize_t size; /* -1: null */
} Span;

static uint64_t big_endian(const uint8_t *at, int size) {
    uint64_t value = 0;
    while (size-- > 0) value = value << 8 | *at++;
    return value;
}

static int damaged(const char *reason) {
    PyErr_SetString(PyExc_ValueError, reason);
    return -1;
}

/* Read a zigzag varint of at most 64 bits. */
static inline int read_number(Batch *batch, int64_t *number) {
    const uint8_t *at = batch->at, *end = batch->end;
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        if (at == end) return damaged("a number ends beyond the end of the batch");
        uint8_t byte = *at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            batch->at = at;
            *number = (int64_t)(value >> 1 ^ (0 - (value & 1)));
            return 0;
        }
    }
    return damaged("a number has more than 64 bits");
}

/* Read a length, and skip as many bytes. */
static inline int read_span(Batch *batch, Span *span) {
    int64_t size;
    if (read_number(batch, &size) < 0) return -1;
    if (size > batch->end - batch->at) return damaged("a key, value or header ends beyond the end of the batch");
    span->at = batch->at;
    span->size = size < 0 ? -1 : (Py_ssize_t)size;
    if (size > 0) batch->at += size;
    return 0;
}

static inline PyObject *bytes_or_none(const Span *span) {
    if (span->size < 0) return Py_NewRef(Py_None);
    return PyBytes_FromStringAndSize((const char *)span->at, span->size);
}

/* Return a new tuple of two plain values; steals both references. */
static PyObject *pair(PyObject *first, PyObject *second) {
    PyObject *made = first == NULL || second == NULL ? NULL : PyTuple_New(2);
    if (made == NULL) {
        Py_XDECREF(first);
        Py_XDECREF(second);
        return NULL;
    }
    PyTuple_SET_ITEM(made, 0, first);
    PyTuple_SET_ITEM(made, 1, second);
    PyObject_GC_UnTrack(made);
    return made;
}

static PyObject *header(Batch *batch) {
    Span name, value;
    if (read_span(batch, &name) < 0) return NULL;
    if (name.size < 0) {
        damaged("a header has no name");
        return NULL;
    }
    if (read_span(batch, &value) < 0) return NULL;
    /* The protocol allows names that are not UTF-8, and brokers do not check them. */
    PyObject *text = PyUnicode_DecodeUTF8((const char *)name.at, name.size, "surrogateescape");
    return text == NULL ? NULL : pair(text, bytes_or_none(&value));
}

static PyObject *parse_headers(Batch *batch) {
    int64_t count;
    if (read_number(batch, &count) < 0) return NULL;
    if (count < 0 || count > (batch->end - batch->at) / 2) { /* each header takes at least two bytes */
        damaged("the number of headers is wrong");
        return NULL;
    }
    PyObject *headers = PyTuple_New((Py_ssize_t)count);
    if (headers == NULL || count == 0) return headers; /* the empty tuple is a singleton, which must stay as it is */
    for (Py_ssize_t at = 0; at < count; at++) {
        PyObject *one = header(batch);
        if (one == NULL) {
            Py_DECREF(headers);
            return NULL;
        }
        PyTuple_SET_ITEM(headers, at, one);
    }
    PyObject_GC_UnTrack(headers);
    return headers;
}

/* Return the headers, which are the rest of a record; the previous record's headers if their bytes are equal. */
static PyObject *headers_up_to(Batch *batch, const uint8_t *record_end) {
    const uint8_t *begin = batch->at;
    Py_ssize_t size = record_end - begin;
    if (batch->headers != NULL && size == batch->headers_bytes && memcmp(begin, batch->headers_at, (size_t)size) == 0) {
        batch->at = record_end;
        return Py_NewRef(batch->headers);
    }
    PyObject *headers = parse_headers(batch);
    if (headers == NULL) return NULL;
    if (batch->at != record_end) {
        Py_DECREF(headers);
        damaged("the length of a record is wrong");
        return NULL;
    }
    Py_XSETREF(batch->headers, Py_NewRef(headers));
    batch->headers_at = begin;
    batch->headers_bytes = size;
    return headers;
}

/* Return a new record; steals all references. Return NULL if one is NULL. */
static PyObject *record_of(Batch *batch, PyObject *key, PyObject *value, PyObject *headers, uint64_t offset,
                           uint64_t timestamp) {
    PyObject *record = NULL;
    if (key != NULL && value != NULL && headers != NULL) {
        if (batch->common == NULL || !is_common_to(batch->common, offset, timestamp, headers))
            Py_XSETREF(batch->common, new_common(batch->common_type, offset, timestamp, headers, batch->source));
        if (batch->common != NULL)
            record = filled(PyObject_New(RecordFields, batch->record_type), batch->common, key, value, offset, timestamp);
    }
    Py_XDECREF(key);
    Py_XDECREF(value);
    Py_XDECREF(headers);
    return record;
}

/* Parse a record; return a new record, None if its offset is lower than from_offset, or NULL if it is damaged. */
static PyObject *parse_record(Batch *batch, int64_t from_offset) {
    int64_t size, attributes, timestamp_delta, offset_delta;
    Span key, value;
    if (read_number(batch, &size) < 0) return NULL;
    if (size < 0 || size > batch->end - batch->at) {
        damaged("the length of a record is wrong");
        return NULL;
    }
    const uint8_t *record_end = batch->at + size;
    if (read_number(batch, &attributes) < 0 || read_number(batch, &timestamp_delta) < 0 ||
        read_number(batch, &offset_delta) < 0 || read_span(batch, &key) < 0 || read_span(batch, &value) < 0)
        return NULL;
    if (batch->at > record_end) {
        damaged("the length of a record is wrong");
        return NULL;
    }
    uint64_t offset = batch->base_offset + (uint64_t)offset_delta;
    uint64_t timestamp =
        batch->has_one_timestamp ? batch->max_timestamp : batch->first_timestamp + (uint64_t)timestamp_delta;
    int is_wanted = (int64_t)offset >= from_offset;
    PyObject *key_bytes = NULL, *value_bytes = NULL;
    if (is_wanted) { /* copied before the headers are parsed, so that memory is read in order */
        key_bytes = bytes_or_none(&key);
        value_bytes = bytes_or_none(&value);
    }
    PyObject *headers = headers_up_to(batch, record_end);
    if (is_wanted || headers == NULL) return record_of(batch, key_bytes, value_bytes, headers, offset, timestamp);
    Py_DECREF(headers);
    return Py_NewRef(Py_None);
}

static PyObject *parse_all(Batch *batch, int64_t count, int64_t from_offset) {
    if (count > (batch->end - batch->at) / LEAST_RECORD_BYTES) {
        damaged("it has fewer records than it says");
        return NULL;
    }
    PyObject *records = PyList_New(0);
    for (; records != NULL && count > 0; count--) {
        PyObject *record = parse_record(batch, from_offset);
        if (record == NULL || (record != Py_None && PyList_Append(records, record) < 0)) Py_CLEAR(records);
        Py_XDECREF(record);
    }
    if (records != NULL && batch->at != batch->end) {
        damaged("it has more bytes than its records");
        Py_CLEAR(records);
    }
    return records;
}

/* Skip a number of records, each by its length. */
static int skip_records(Batch *batch, long long count) {
    Span record;
    for (; count > 0; count--)
        if (read_span(batch, &record) < 0) return -1;
    return 0;
}

PyDoc_STRVAR(record_ends_doc,
             "record_ends(data, counts, separator)\n--\n\n"
             "Return where the records of each batch end, in the joined content of batches.\n\n"
             "counts: the number of records of each batch; separator: the bytes that follow the records of each batch.");

static PyObject *record_ends(PyObject *module, PyObject *arguments) {
    Py_buffer data, separator;
    PyObject *counts;
    if (!PyArg_ParseTuple(arguments, "y*O!y*", &data, &PyList_Type, &counts, &separator)) return NULL;
    const uint8_t *begin = data.buf;
    Batch batch = {.at = begin, .end = begin + data.len};
    PyObject *ends = PyList_New(0);
    for (Py_ssize_t at = 0; ends != NULL && at < PyList_GET_SIZE(counts); at++) {
        long long count = PyLong_AsLongLong(PyList_GET_ITEM(counts, at));
        PyObject *end = NULL;
        if (!(count == -1 && PyErr_Occurred()) && skip_records(&batch, count) == 0) {
            if (batch.end - batch.at < separator.len || memcmp(batch.at, separator.buf, (size_t)separator.len) != 0)
                damaged("it has another number of records than it says");
            else
                end = PyLong_FromSsize_t(batch.at - begin);
            batch.at += separator.len;
        }
        if (end == NULL || PyList_Append(ends, end) < 0) Py_CLEAR(ends);
        Py_XDECREF(end);
    }
    if (ends != NULL && batch.at != batch.end) {
        damaged("it has more bytes than its records");
        Py_CLEAR(ends);
    }
    PyBuffer_Release(&data);
    PyBuffer_Release(&separator);
    return ends;
}

PyDoc_STRVAR(parse_doc,
             "parse(batch, decompressed, from_offset, record_type, source)\n--\n\n"
             "Return the records of a batch, from an offset on.\n\n"
             "decompressed: the batch without its head, decompressed; None if the batch is not compressed.");

static PyObject *parse(PyObject *module, PyObject *arguments) {
    Py_buffer whole, decompressed;
    long long from_offset;
    PyTypeObject *type;
    PyObject *source, *records = NULL;
    if (!PyArg_ParseTuple(arguments, "y*z*LO!O", &whole, &decompressed, &from_offset, &PyType_Type, &type, &source))
        return NULL;
    const uint8_t *head = whole.buf;
    State *state = PyModule_GetState(module);
    if (type != state->fields_type) /* a subclass has a head for the garbage collector */
        PyErr_SetString(PyExc_TypeError, "the type of the records has to be RecordFields");
    else if (whole.len < HEAD_BYTES)
        damaged("it is shorter than the head of a batch");
    else {
        int is_compressed = decompressed.obj != NULL;
        const uint8_t *begin = is_compressed ? decompressed.buf : head + HEAD_BYTES;
        Py_ssize_t size = is_compressed ? decompressed.len : whole.len - HEAD_BYTES;
        Batch batch = {
            .at = begin,
            .end = begin + size,
            .base_offset = big_endian(head + BASE_OFFSET, 8),
            .first_timestamp = big_endian(head + FIRST_TIMESTAMP, 8),
            .max_timestamp = big_endian(head + MAX_TIMESTAMP, 8),
            .common_type = state->common_type,
            .record_type = type,
            .source = source,
        };
        batch.has_one_timestamp = head[ATTRIBUTES + 1] & LOG_APPEND_TIME;
        records = parse_all(&batch, (int32_t)big_endian(head + RECORD_COUNT, 4), from_offset);
        Py_XDECREF(batch.headers);
        Py_XDECREF(batch.common);
    }
    PyBuffer_Release(&whole);
    if (decompressed.obj != NULL) PyBuffer_Release(&decompressed);
    return records;
}

/* Return key and value of a record in either form, as borrowed references; return -1 for another object. */
static inline int key_and_value(PyObject *record, PyObject **key, PyObject **value) {
    if (has_fields(record)) {
        *key = ((RecordFields *)record)->key;
        *value = ((RecordFields *)record)->value;
        return 0;
    }
    if (PyTuple_Check(record) && PyTuple_GET_SIZE(record) > VALUE) {
        *key = PyTuple_GET_ITEM(record, KEY);
        *value = PyTuple_GET_ITEM(record, VALUE);
        return 0;
    }
    PyErr_SetString(PyExc_TypeError, "a record has to be one of RecordFields, or a tuple of key, value and more");
    return -1;
}

PyDoc_STRVAR(add_doc,
             "add(changes, records)\n--\n\n"
             "Put records into a dict by their keys; return how many have no value.");

static PyObject *add(PyObject *module, PyObject *arguments) {
    PyObject *changes, *given;
    if (!PyArg_ParseTuple(arguments, "O!O", &PyDict_Type, &changes, &given)) return NULL;
    PyObject *records = PySequence_Fast(given, "the records have to be a sequence");
    if (records == NULL) return NULL;
    PyObject *key, *value;
    Py_ssize_t nulls = 0;
    int failed = 0;
    for (Py_ssize_t at = 0; !failed && at < PySequence_Fast_GET_SIZE(records); at++) {
        PyObject *record = PySequence_Fast_GET_ITEM(records, at);
        failed = key_and_value(record, &key, &value) < 0 || PyDict_SetItem(changes, key, record) < 0;
        nulls += !failed && value == Py_None;
    }
    Py_DECREF(records);
    return failed ? NULL : PyLong_FromSsize_t(nulls);
}

/* Put a record into a dict by its key; return 1 if it was put there, 0 if it has no key or the key is there, -1 if it fails. */
static int add_if_new(PyObject *changes, PyObject *record, Py_ssize_t *nulls) {
    PyObject *key, *value;
    if (key_and_value(record, &key, &value) < 0) return -1;
    if (key == Py_None) return 0;
    Py_ssize_t before = PyDict_Size(changes);
    if (PyDict_SetDefault(changes, key, record) == NULL) return -1;
    if (PyDict_Size(changes) == before) return 0;
    *nulls += value == Py_None;
    return 1;
}

/* Remove the first of the records of batches from a dict. */
static int remove_first(PyObject *changes, PyObject *batches, Py_ssize_t count) {
    PyObject *key, *value;
    for (Py_ssize_t batch = 0; count > 0; batch++) {
        PyObject *records = PyList_GET_ITEM(batches, batch);
        for (Py_ssize_t at = 0; at < PyList_GET_SIZE(records) && count > 0; at++, count--)
            if (key_and_value(PyList_GET_ITEM(records, at), &key, &value) < 0 || PyDict_DelItem(changes, key) < 0)
                return -1;
    }
    return 0;
}

PyDoc_STRVAR(add_new_doc,
             "add_new(changes, batches)\n--\n\n"
             "Put the records of batches into a dict by their keys, if all have keys that are not there yet.\n\n"
             "batches: a list of lists of records. Return how many records there are, and how many have no value; None if\n"
             "nothing was put into the dict.");

static PyObject *add_new(PyObject *module, PyObject *arguments) {
    PyObject *changes, *batches;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyDict_Type, &changes, &PyList_Type, &batches)) return NULL;
    Py_ssize_t nulls = 0, added = 0;
    for (Py_ssize_t batch = 0; batch < PyList_GET_SIZE(batches); batch++) {
        PyObject *records = PyList_GET_ITEM(batches, batch);
        if (!PyList_CheckExact(records)) return PyErr_Format(PyExc_TypeError, "the records of a batch have to be a list");
        for (Py_ssize_t at = 0; at < PyList_GET_SIZE(records); at++) {
            int is_added = add_if_new(changes, PyList_GET_ITEM(records, at), &nulls);
            if (is_added < 0) return NULL;
            if (!is_added) {
                if (remove_first(changes, batches, added) < 0) return NULL;
                Py_RETURN_NONE;
            }
            added++;
        }
    }
    return Py_BuildValue("nn", added, nulls);
}

PyDoc_STRVAR(size_doc, "size_bytes(records)\n--\n\nReturn the size of the keys and values of records, in bytes.");

static PyObject *size_bytes(PyObject *module, PyObject *given) {
    PyObject *records = PySequence_Fast(given, "the records have to be a sequence");
    if (records == NULL) return NULL;
    PyObject *parts[2]; /* key and value */
    Py_ssize_t size = 0;
    int failed = 0;
    for (Py_ssize_t at = 0; !failed && at < PySequence_Fast_GET_SIZE(records); at++) {
        failed = key_and_value(PySequence_Fast_GET_ITEM(records, at), &parts[0], &parts[1]) < 0;
        for (int part = 0; !failed && part < 2; part++) {
            Py_ssize_t of_part = parts[part] == Py_None ? 0 : PyObject_Size(parts[part]);
            failed = of_part < 0;
            size += of_part;
        }
    }
    Py_DECREF(records);
    return failed ? NULL : PyLong_FromSsize_t(size);
}

PyDoc_STRVAR(untrack_doc,
             "untrack(records)\n--\n\n"
             "Hide a dict of plain records from the garbage collector, until something is put into it.");

static PyObject *untrack(PyObject *module, PyObject *records) {
    if (!PyDict_CheckExact(records)) return PyErr_Format(PyExc_TypeError, "a dict is needed");
    PyObject_GC_UnTrack(records);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"parse", parse, METH_VARARGS, parse_doc},
    {"record_ends", record_ends, METH_VARARGS, record_ends_doc},
    {"add", add, METH_VARARGS, add_doc},
    {"add_new", add_new, METH_VARARGS, add_new_doc},
    {"size_bytes", size_bytes, METH_O, size_doc},
    {"write", write_records, METH_VARARGS, write_doc},
    {"untrack", untrack, METH_O, untrack_doc},
    {NULL, NULL, 0, NULL},
};

MODULE(_records, "The compiled parser of record batches; see compiled.py.", functions, add_types, .m_size = sizeof(State),
       .m_traverse = visit_types, .m_clear = clear_types, .m_free = free_types)
