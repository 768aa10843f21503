# net: the only folder that knows libevent and libcurl.
noinst_LTLIBRARIES += src/net/libnet.la
src_net_libnet_la_SOURCES = \
	src/net/ask.c \
	src/net/http.c src/net/http.h \
	src/net/loop.c src/net/loop.h \
	src/net/outlet.c \
	src/net/pool.c src/net/pool.h \
	src/net/rpc.c src/net/rpc.h \
	src/net/sigpipe.c src/net/sigpipe.h \
	src/net/target.c src/net/target.h
src_net_libnet_la_LIBADD = $(EVENT_LIBS) $(CURL_LIBS)
