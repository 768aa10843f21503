# One list per layer, so that each names its tests beside each other.
if HAVE_CMOCKA
include tests/unit/core.mk
include tests/unit/host.mk
include tests/unit/net.mk
include tests/unit/e2b.mk
include tests/unit/session.mk
include tests/unit/api.mk
include tests/unit/local_server.mk
endif
