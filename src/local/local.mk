# local: e2b-local, the loopback server. Its three parts list their files apart.
if HAVE_LOCAL
include src/local/plane.mk
include src/local/launch.mk
include src/local/daemon.mk
endif
