dnl HE2B_WARNINGS: WARN_CFLAGS holds each strict flag that the compiler knows; --enable-werror makes
dnl every warning an error. Generated files get GEN_WARN_CFLAGS, which is the same set.
AC_DEFUN([HE2B_TRY_CFLAG], [
  AC_CACHE_CHECK([whether $CC accepts $1], [AS_TR_SH([he2b_cv_flag_$1])], [
    he2b_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $1"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
      [AS_TR_SH([he2b_cv_flag_$1])=yes], [AS_TR_SH([he2b_cv_flag_$1])=no])
    CFLAGS=$he2b_save_CFLAGS])
  AS_IF([test "x$AS_TR_SH([he2b_cv_flag_$1])" = xyes], [$2="$$2 $1"])
])
AC_DEFUN([HE2B_WARNINGS], [
  AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [treat compiler warnings as errors (developers, CI)])],
    [], [enable_werror=no])
  WARN_CFLAGS=
  m4_foreach_w([he2b_flag], [-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wpointer-arith -Wundef
    -Wwrite-strings -Wcast-qual -Wformat=2 -Wimplicit-fallthrough -Wvla -Wnull-dereference
    -Wunused-const-variable -Wdouble-promotion -Wlogical-op -Wduplicated-cond
    -Wduplicated-branches -Walloca], [HE2B_TRY_CFLAG(he2b_flag, [WARN_CFLAGS])])
  AS_IF([test "x$enable_werror" = xyes],
    [WARN_CFLAGS="$WARN_CFLAGS -Werror"; he2b_warnings_summary="strict, errors"],
    [he2b_warnings_summary="strict"])
  AC_SUBST([WARN_CFLAGS])
  VIS_CFLAGS=
  HE2B_TRY_CFLAG([-fvisibility=hidden], [VIS_CFLAGS])
  AC_SUBST([VIS_CFLAGS])
])
