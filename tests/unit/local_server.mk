# tests of local_server
if HAVE_LOCAL
include tests/unit/local_server/daemon.mk
include tests/unit/local_server/launch.mk
include tests/unit/local_server/plane.mk
endif
