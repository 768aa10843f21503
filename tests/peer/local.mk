# peer: the scripted peer, a Python program (README.md), and the helper that C tests start it with.
EXTRA_DIST += tests/peer/README.md \
	tests/peer/peer.py tests/peer/count.py tests/peer/exchange.py tests/peer/link.py \
	tests/peer/script.py tests/peer/wire.py \
	tests/peer/scripts
check_LTLIBRARIES += tests/peer/libpeerchild.la
tests_peer_libpeerchild_la_SOURCES = tests/peer/peer_child.c tests/peer/peer_child.h
