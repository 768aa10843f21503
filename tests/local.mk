# tests: unit/ (cmocka, one file per source file), chart/ (pairs and paths), explore/ (charts as a
# system), e2e/ (pytest), peer/ (the scripted peer, which makes the faults for the others).
AM_TESTS_ENVIRONMENT = \
	srcdir='$(abs_top_srcdir)'; export srcdir; \
	builddir='$(abs_top_builddir)'; export builddir; \
	CC='$(CC)'; export CC; \
	RAGEL='$(RAGEL)'; export RAGEL; \
	PYTHON='$(PYTHON)'; export PYTHON;

# The longest tests first, so that a parallel make does not wait for them at the end.
include tests/explore/local.mk
include tests/peer/local.mk
include tests/unit/local.mk
include tests/chart/local.mk
include tests/e2e/local.mk
