# bench: this library and the official SDK side by side; docs/performance.md. Nothing is installed.
EXTRA_DIST += bench/delayproxy.py
