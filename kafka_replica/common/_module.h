/* What the optional compiled modules have in common; see compiled.py. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

#define INTERFACE 5 /* compiled.py accepts only this number */

static inline int add_interface(PyObject *module) { return PyModule_AddIntConstant(module, "INTERFACE", INTERFACE); }

#ifdef Py_mod_multiple_interpreters
#define INTERPRETERS {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#else
#define INTERPRETERS
#endif
#ifdef Py_GIL_DISABLED
#define WITHOUT_LOCK {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#else
#define WITHOUT_LOCK
#endif

/* Define a module with these functions, a function that completes it, and its state, as members of PyModuleDef. */
#define MODULE(name, doc, functions, complete, ...)                                                                        \
    static PyModuleDef_Slot slots[] = {{Py_mod_exec, complete}, INTERPRETERS WITHOUT_LOCK{0, NULL}};                       \
    static struct PyModuleDef definition = {                                                                               \
        PyModuleDef_HEAD_INIT, .m_name = #name, .m_doc = doc, .m_methods = functions, .m_slots = slots, __VA_ARGS__,       \
    };                                                                                                                     \
    PyMODINIT_FUNC PyInit_##name(void) { return PyModuleDef_Init(&definition); }
