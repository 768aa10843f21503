dnl HE2B_FUZZERS: --enable-fuzzers builds the targets in fuzz/ with libFuzzer (clang). Without it the
dnl same targets are linked with fuzz/driver.c, which replays the corpus in "make check".
AC_DEFUN([HE2B_FUZZERS], [
  AC_ARG_ENABLE([fuzzers],
    [AS_HELP_STRING([--enable-fuzzers], [build the fuzz targets with libFuzzer (needs clang)])],
    [], [enable_fuzzers=no])
  FUZZ_CFLAGS= FUZZ_LDFLAGS= he2b_fuzzers_summary="replay of the corpus"
  AS_IF([test "x$enable_fuzzers" = xyes], [
    FUZZ_CFLAGS="-fsanitize=fuzzer-no-link"
    FUZZ_LDFLAGS="-fsanitize=fuzzer"
    he2b_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $FUZZ_LDFLAGS"
    AC_MSG_CHECKING([whether libFuzzer links])
    AC_LINK_IFELSE([AC_LANG_SOURCE([[
      #include <stddef.h>
      #include <stdint.h>
      int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n);
      int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return d && n > 1000000; }
      ]])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no]); AC_MSG_ERROR([libFuzzer needs clang and its runtime: set CC=clang])])
    CFLAGS=$he2b_save_CFLAGS
    he2b_fuzzers_summary="libFuzzer"])
  AC_SUBST([FUZZ_CFLAGS])
  AC_SUBST([FUZZ_LDFLAGS])
  AM_CONDITIONAL([WITH_FUZZERS], [test "x$enable_fuzzers" = xyes])
])
