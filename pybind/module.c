/* The module: multi-phase, its types in its state, so that copies and reloads stay apart. */
#include "native.h"

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

    if (type && PyModule_AddType(module, (PyTypeObject *)type) != 0)
        Py_CLEAR(type);
    return (PyTypeObject *)type;
}

static int module_exec(PyObject *module)
{
    struct native_state *state = PyModule_GetState(module);

    state->session_type = add_type(module, &native_session_spec);
    state->waiter_type = add_type(module, &native_waiter_spec);
    state->command_type = add_type(module, &native_command_spec);
    state->step_type = add_type(module, &native_step_spec);
    state->transfer_type = add_type(module, &native_transfer_spec);
    if (!state->session_type || !state->waiter_type || !state->command_type || !state->step_type ||
        !state->transfer_type)
        return -1;
    if (PyModule_AddStringConstant(module, "version", he2b_version()) != 0 ||
        PyModule_AddIntConstant(module, "ENDED", HE2B_ENDED) != 0 ||
        PyModule_AddIntConstant(module, "TIMED_OUT", HE2B_TIMED_OUT) != 0 ||
        PyModule_AddIntConstant(module, "KILLED", HE2B_KILLED) != 0 ||
        PyModule_AddIntConstant(module, "NOT_STARTED", HE2B_NOT_STARTED) != 0 ||
        PyModule_AddIntConstant(module, "UNKNOWN", HE2B_UNKNOWN) != 0 ||
        PyModule_AddIntConstant(module, "INCOMPLETE", HE2B_INCOMPLETE) != 0 ||
        PyModule_AddIntConstant(module, "FILE_CREDENTIAL", HE2B_FILE_CREDENTIAL) != 0 ||
        PyModule_AddIntConstant(module, "FILE_SKILL", HE2B_FILE_SKILL) != 0 ||
        PyModule_AddIntConstant(module, "FILE_OTHER", HE2B_FILE_OTHER) != 0)
        return -1;
    return 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    struct native_state *state = PyModule_GetState(module);

    if (state) {
        Py_VISIT(state->session_type);
        Py_VISIT(state->waiter_type);
        Py_VISIT(state->command_type);
        Py_VISIT(state->step_type);
        Py_VISIT(state->transfer_type);
    }
    return 0;
}

static int module_clear(PyObject *module)
{
    struct native_state *state = PyModule_GetState(module);

    if (state) {
        Py_CLEAR(state->session_type);
        Py_CLEAR(state->waiter_type);
        Py_CLEAR(state->command_type);
        Py_CLEAR(state->step_type);
        Py_CLEAR(state->transfer_type);
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "The library behind the plugin: sessions and commands on one loop thread.",
    .m_size = sizeof(struct native_state),
    .m_slots = slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit__native(void);
PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
