# session: one environment; drives the charts.
noinst_LTLIBRARIES += src/session/libsession.la
src_session_libsession_la_SOURCES =
