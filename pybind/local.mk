# pybind: the Python package. pip builds it (setup.py); here it is only put into the tarball.
EXTRA_DIST += pyproject.toml setup.py \
	pybind/command.c pybind/loop.c pybind/module.c pybind/native.h pybind/session.c \
	pybind/shared.c pybind/step.c pybind/transfer.c pybind/waiter.c \
	pybind/hermes_e2b/__init__.py pybind/hermes_e2b/archive.py pybind/hermes_e2b/directories.py \
	pybind/hermes_e2b/environment.py pybind/hermes_e2b/handle.py pybind/hermes_e2b/native.py \
	pybind/hermes_e2b/plugin.yaml pybind/hermes_e2b/provider.py pybind/hermes_e2b/pull.py \
	pybind/hermes_e2b/settings.py pybind/hermes_e2b/state.py
