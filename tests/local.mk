# tests: unit/ (cmocka, one file per source file), chart/ (pairs and paths), explore/ (charts as a
# system), e2e/ (pytest).
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_top_srcdir)'; export srcdir; \
	builddir='$(abs_top_builddir)'; export builddir; \
	CC='$(CC)'; export CC; \
	RAGEL='$(RAGEL)'; export RAGEL;

include tests/unit/local.mk
include tests/chart/local.mk
include tests/explore/local.mk
include tests/e2e/local.mk
