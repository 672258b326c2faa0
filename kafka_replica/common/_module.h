/* What the optional compiled modules have in common; see compiled.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define INTERFACE 3 /* compiled.py accepts only this number */

/* Return whether objects of a type are laid out as tuples, so that their items can be set as those of a tuple. */
static inline int is_plain_tuple_type(PyTypeObject *type) {
    return PyType_IsSubtype(type, &PyTuple_Type) && type->tp_basicsize == PyTuple_Type.tp_basicsize &&
           type->tp_itemsize == PyTuple_Type.tp_itemsize && type->tp_dictoffset == 0;
}

static inline int execute(PyObject *module) { return PyModule_AddIntConstant(module, "INTERFACE", INTERFACE); }

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, execute},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

/* Define a module with these functions. */
#define MODULE(name, doc, functions)                                                                                       \
    static struct PyModuleDef definition = {                                                                               \
        PyModuleDef_HEAD_INIT, .m_name = #name, .m_doc = doc, .m_size = 0, .m_methods = functions, .m_slots = slots,       \
    };                                                                                                                     \
    PyMODINIT_FUNC PyInit_##name(void) { return PyModuleDef_Init(&definition); }
