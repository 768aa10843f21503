# the explorer: the charts of several sessions in a model of the world (README.md)
check_PROGRAMS += tests/explore/explore
tests_explore_explore_SOURCES = \
	tests/explore/control.c \
	tests/explore/late.c \
	tests/explore/lifecycle_actions.c \
	tests/explore/look.c \
	tests/explore/main.c \
	tests/explore/moves.c tests/explore/moves.h \
	tests/explore/outside.c \
	tests/explore/parts.h \
	tests/explore/rules.c tests/explore/rules.h \
	tests/explore/scenarios.c tests/explore/scenarios.h \
	tests/explore/search.c tests/explore/search.h \
	tests/explore/session.c tests/explore/session.h \
	tests/explore/step.c \
	tests/explore/teardown_actions.c \
	tests/explore/user.c \
	tests/explore/world.c tests/explore/world.h \
	tests/explore/writer_actions.c
tests_explore_explore_LDADD = machines/libmachines.la

TESTS += tests/explore/explore
dist_check_SCRIPTS += tests/explore/mutants.sh
TESTS += tests/explore/mutants.sh

EXTRA_DIST += tests/explore/README.md \
	tests/explore/mutants/admits-early.sed \
	tests/explore/mutants/clear-before-stamp.sed \
	tests/explore/mutants/creation-lock-kept.sed \
	tests/explore/mutants/dirty-admits.sed \
	tests/explore/mutants/failed-sync-unmarked.sed \
	tests/explore/mutants/kills-never.sed \
	tests/explore/mutants/kills-persistent.sed \
	tests/explore/mutants/kills-twice.sed \
	tests/explore/mutants/kills-unpulled.sed \
	tests/explore/mutants/lease-kept.sed \
	tests/explore/mutants/made-without-push.sed \
	tests/explore/mutants/no-mark.sed \
	tests/explore/mutants/own-push-ignored.sed \
	tests/explore/mutants/own-pushed-over.sed \
	tests/explore/mutants/own-step-kept.sed \
	tests/explore/mutants/own-sync-ignored.sed \
	tests/explore/mutants/promote-without-push.sed \
	tests/explore/mutants/push-before-recovery.sed \
	tests/explore/mutants/reader-unstamps.sed \
	tests/explore/mutants/reader-writes.sed \
	tests/explore/mutants/rebuilt-unmarked.sed \
	tests/explore/mutants/release-before-pull.sed \
	tests/explore/mutants/role-kept.sed \
	tests/explore/mutants/silent-failure.sed \
	tests/explore/mutants/stamp-alone-admits.sed
