dnl HE2B_STATIC: STATIC_LDFLAGS makes a program static where libc.a is installed (and no sanitizer
dnl is asked for: they need the dynamic linker), else it is empty.
AC_DEFUN([HE2B_STATIC], [
  AC_CACHE_CHECK([whether a static program links], [he2b_cv_static], [
    he2b_save_CFLAGS=$CFLAGS
    he2b_save_LDFLAGS=$LDFLAGS
    CFLAGS="$CFLAGS $SAN_CFLAGS"
    LDFLAGS="$LDFLAGS $SAN_LDFLAGS -static"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <unistd.h>]], [[return getpid() == 0;]])],
      [he2b_cv_static=yes], [he2b_cv_static=no])
    CFLAGS=$he2b_save_CFLAGS
    LDFLAGS=$he2b_save_LDFLAGS])
  STATIC_LDFLAGS=
  AS_IF([test "x$he2b_cv_static" = xyes], [STATIC_LDFLAGS=-all-static])
  AC_SUBST([STATIC_LDFLAGS])
])
