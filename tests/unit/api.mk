# tests of what is public, and of who may include whom; they need no cmocka
API_TESTS = tests/unit/api/exports.sh tests/unit/api/header.sh tests/unit/api/layers.sh
TESTS += $(API_TESTS)
EXTRA_DIST += $(API_TESTS)
