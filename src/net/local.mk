# net: the only folder that knows libevent and libcurl.
noinst_LTLIBRARIES += src/net/libnet.la
src_net_libnet_la_SOURCES =
src_net_libnet_la_LIBADD = $(EVENT_LIBS) $(CURL_LIBS)
