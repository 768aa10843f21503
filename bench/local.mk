# bench: this library and the official SDK side by side; docs/performance.md. Nothing is installed.
# he2b-bench is the library's side; "make bench" and "make check" build it.
check_PROGRAMS += bench/he2b-bench
bench_he2b_bench_SOURCES = bench/he2b-bench.c
bench_he2b_bench_LDADD = libhermes-e2b.la -lpthread
EXTRA_DIST += bench/run bench/sides.py bench/report.py bench/delayproxy.py bench/sdk_bench.py \
	bench/import_cost.py

.PHONY: bench
bench: bench/he2b-bench$(EXEEXT)
