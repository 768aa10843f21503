#!/usr/bin/env python3
"""What an import takes: milliseconds, and resident and private memory in KiB, as one line of JSON.

    import_cost.py module NAME      import NAME
    import_cost.py extension NAME   the file of the extension NAME alone, without the package around it
"""
import importlib
import importlib.machinery
import importlib.util
import json
import sys
import time


def memory():
    """Resident; private and written to; all private, with pages of files that nobody else maps."""
    with open("/proc/self/smaps_rollup") as file:
        sizes = {words[0]: int(words[1]) for words in map(str.split, file) if words[-1] == "kB"}
    return sizes["Rss:"], sizes["Private_Dirty:"], sizes["Private_Dirty:"] + sizes["Private_Clean:"]


def load_file(name):
    package = importlib.util.find_spec(name.rpartition(".")[0])
    path = importlib.machinery.PathFinder.find_spec(name, package.submodule_search_locations).origin
    loader = importlib.machinery.ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    return lambda: loader.exec_module(importlib.util.module_from_spec(spec))


def main():
    how, name = sys.argv[1:]
    load = load_file(name) if how == "extension" else lambda: importlib.import_module(name)
    memory()                            # what the measuring itself takes is there
    before, began = memory(), time.perf_counter()
    load()
    took = time.perf_counter() - began
    rss, dirty, private = (after - was for after, was in zip(memory(), before))
    print(json.dumps({"ms": took * 1e3, "rss_kib": rss, "dirty_kib": dirty, "private_kib": private}))


if __name__ == "__main__":
    main()
