dnl HE2B_SANITIZERS: --with-sanitizers[=address,undefined] for compile and link of everything.
AC_DEFUN([HE2B_SANITIZERS], [
  AC_ARG_WITH([sanitizers],
    [AS_HELP_STRING([--with-sanitizers@<:@=LIST@:>@], [build with -fsanitize=LIST (address,undefined)])],
    [], [with_sanitizers=no])
  SAN_CFLAGS= SAN_LDFLAGS= he2b_sanitizers_summary=no
  AS_IF([test "x$with_sanitizers" = xyes], [with_sanitizers=address,undefined])
  AS_IF([test "x$with_sanitizers" != xno], [
    SAN_CFLAGS="-fsanitize=$with_sanitizers -fno-sanitize-recover=all -fno-omit-frame-pointer"
    SAN_LDFLAGS="-fsanitize=$with_sanitizers"
    he2b_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $SAN_CFLAGS"
    AC_MSG_CHECKING([whether -fsanitize=$with_sanitizers links])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AC_MSG_RESULT([yes])],
      [AC_MSG_RESULT([no]); AC_MSG_ERROR([the compiler cannot link -fsanitize=$with_sanitizers])])
    CFLAGS=$he2b_save_CFLAGS
    he2b_sanitizers_summary=$with_sanitizers])
  AC_SUBST([SAN_CFLAGS])
  AC_SUBST([SAN_LDFLAGS])
  AM_CONDITIONAL([WITH_SANITIZERS], [test "x$with_sanitizers" != xno])
])
