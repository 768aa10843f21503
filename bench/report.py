"""What bench/run prints of what it measured."""
import os
import pathlib
import platform
import re
import statistics
import subprocess
import time



def p95(values):
    return sorted(values)[max(0, -(-len(values) * 95 // 100) - 1)]


def per(total, count, form="%.2f"):
    return form % (total / count) if count else "-"


def table(title, columns, rows):
    print("\n" + title)
    rows = [columns] + rows
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns))]
    for row in rows:
        print("  " + "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                               for i, (cell, width) in enumerate(zip(row, widths))).rstrip())


def print_commands(stages):
    rows, ratios = [], []
    for stage, result in stages.items():
        for name, figures in result.items():
            count = len(figures["ms"])
            counts = figures.get("counts")
            rows.append([stage, name, str(count), "%.2f" % statistics.median(figures["ms"]),
                         "%.2f" % p95(figures["ms"]),
                         per(figures["cpu_s"] * 1e3, count) if "cpu_s" in figures else "-"] +
                        [per(counts[field], count) if counts else "-"
                         for field in ("turns", "requests", "connections")])
        median = {name: statistics.median(figures["ms"]) for name, figures in result.items()}
        cpu = result["library"]["cpu_s"] / max(result["sdk"]["cpu_s"], 1e-9)
        line = "  %s: library / SDK: time %.2f, CPU %.2f" % (
            stage, median["library"] / median["sdk"], cpu)
        if "curl" in median:
            line += "; above curl: library %+.2f ms, SDK %+.2f ms" % (
                median["library"] - median["curl"], median["sdk"] - median["curl"])
        ratios.append(line)
    table("A command on a ready sandbox (ms; the client's CPU, turns, requests and connections are "
          "for each command)",
          ["round trip", "side", "n", "median", "p95", "CPU ms", "turns", "requests",
           "connections"], rows)
    print("\n".join(ratios))


def print_input(stages):
    rows = []
    for stage, result in stages.items():
        for name, figures in result.items():
            count, counts = len(figures["ms"]), figures["counts"]
            rows.append([stage, name, str(count), "%.2f" % statistics.median(figures["ms"]),
                         "%.2f" % p95(figures["ms"]), per(figures["cpu_s"] * 1e3, count)] +
                        [per(counts[field], count) if counts else "-"
                         for field in ("turns", "requests", "connections")])
    table("A command with standard input (as above)",
          ["round trip", "side", "n", "median", "p95", "CPU ms", "turns", "requests",
           "connections"], rows)


def print_many(stages):
    """Memory is the largest growth of one process, its first turn included: that is the one which
    opens connections."""
    rows, ratios = [], []
    for stage, numbers in stages.items():
        for at_once, result in numbers.items():
            least = {}
            for name, samples in result.items():
                counted = [s for s in samples if not s.get("first")]
                if not counted:
                    continue
                times = [s["ms"] for s in counted]
                least[name] = min(times)
                memory = max((s["peak_kib"] for s in samples if "peak_kib" in s), default=0) - min(
                    (s["rss_kib"] for s in samples if "rss_kib" in s), default=0)
                rows.append([stage, name, str(at_once), "%.0f" % min(times),
                             "%.0f" % statistics.median(times),
                             per(sum(s.get("cpu_s", 0) for s in counted) * 1e3,
                                 len(counted) * at_once) if "cpu_s" in counted[0] else "-",
                             "%.0f" % (memory / int(at_once)) if memory else "-",
                             "%d" % max(s["threads"] for s in samples) if "threads" in samples[0]
                             else "-"])
            line = "  %s, %s at once: library / SDK: time %.2f" % (
                stage, at_once, least["library"] / least["sdk"])
            if "local loop" in least:
                trip = float(stage.split(" ")[0]) if stage != "direct" else 0.0
                line += "; library without a round trip / local loop: %.2f" % (
                    (least["library"] - trip) / least["local loop"])
            ratios.append(line)
    table("Commands at once, on connections that are open (ms until the last has ended; CPU ms and "
          "KiB for each; threads that were added)",
          ["round trip", "side", "at once", "least", "median", "CPU ms", "KiB", "threads"], rows)
    print("\n".join(ratios))


def print_large(it):
    print("  library, %.4g MiB: %.2f s, CPU %.2f s, growth %.1f MiB" % (
        it["bytes"] / (1 << 20), it["ms"] / 1e3, it["cpu_s"],
        (it["peak_kib"] - it["rss_kib"]) / 1024))


def print_import(result):
    rows = []
    for name, samples in result.items():
        rows.append([name, str(len(samples)), "%.1f" % min(s["ms"] for s in samples),
                     "%.1f" % statistics.median(s["ms"] for s in samples)] +
                    ["%.1f" % (max(s[field] for s in samples) / 1024)
                     for field in ("rss_kib", "dirty_kib", "private_kib")])
    table("Import (the library's extension alone; the SDK's package), in a fresh interpreter",
          ["side", "n", "least ms", "median ms", "RSS MiB", "written MiB", "private MiB"], rows)


def print_create(stages):
    rows, ratios = [], []
    for stage, result in stages.items():
        for name, figures in result.items():
            count = len(figures["ms"])
            counts = figures["counts"]
            rows.append([stage, name, str(count), "%.1f" % figures["cold_ms"],
                         "%.1f" % statistics.median(figures["ms"]), "%.1f" % max(figures["ms"]),
                         per(figures["cpu_s"] * 1e3, count)] +
                        [per(counts[field], count) if counts else "-"
                         for field in ("turns", "requests", "connections")])
        ratios.append("  %s: library / SDK: %.2f" % (
            stage, statistics.median(result["library"]["ms"]) /
            statistics.median(result["sdk"]["ms"])))
    table("New sandbox up to the first output (ms; \"first\" is the first one of a process; the "
          "counts are for each sandbox, with its kill)",
          ["round trip", "side", "n", "first", "median", "max", "CPU ms", "turns", "requests",
           "connections"], rows)
    print("\n".join(ratios))


def print_output(result, size):
    rows, median = [], {}
    for name, samples in result.items():
        median[name] = {field: statistics.median(s[field] for s in samples)
                        for field in ("ms", "cpu_s")}
        growth = [s["peak_kib"] - s["rss_kib"] for s in samples if "rss_kib" in s]
        rows.append(["direct", name, str(len(samples)), "%.3f" % (median[name]["ms"] / 1e3),
                     "%.3f" % median[name]["cpu_s"],
                     "%.1f" % (max(growth) / 1024) if growth else "-",
                     "%.1f" % (max(s["peak_kib"] for s in samples) / 1024)])
    table("%.4g MiB of output (growth is the peak above what the process had before; curl's CPU "
          "and peak are those of a whole process)" % (size / (1 << 20)),
          ["round trip", "side", "n", "time s", "CPU s", "growth MiB", "peak MiB"], rows)
    for other in [name for name in result if name != "library"]:
        print("  library / %s: time %.2f, CPU %.2f" % (
            other, median["library"]["ms"] / median[other]["ms"],
            median["library"]["cpu_s"] / max(median[other]["cpu_s"], 1e-9)))


def print_idle(result):
    table("idle sessions of persistent scopes in one process of the library, each with a command "
          "behind it",
          ["sessions", "KiB for each beyond the first", "idle s", "wake-ups"],
          [["%d" % result["sessions"],
            "%.0f" % (result["beyond_first_kib"] / (result["sessions"] - 1)),
            "%d" % result["seconds"], "%d" % result["wakeups"]]])


def first_line(command):
    try:
        return subprocess.run(command, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.split("\n")[0]
    except OSError:
        return None


def facts(server):
    """What somebody needs to know of the machine to judge the figures."""
    release = pathlib.Path("/etc/os-release")
    system = re.search(r'^PRETTY_NAME="?([^"\n]*)', release.read_text(), re.M) \
        if release.exists() else None
    cpu = re.search(r"^model name\s*: (.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cores": len(os.sched_getaffinity(0)),
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "kernel": platform.release(),
        "system": system.group(1) if system else platform.system(),
        "load_before": os.getloadavg()[0],
        "libcurl": first_line(["pkg-config", "--modversion", "libcurl"]),
        "curl": first_line(["curl", "--version"]),
        "server": server,
    }


def print_facts(it, sides):
    sdk = sides["sdk"]
    print("%s, %d cores (%s), Linux %s; load %.2f before" % (
        it["system"], it["cores"], it["cpu"], it["kernel"], it["load_before"]))
    print("hermes-e2b %s (libcurl %s); e2b %s (%s, Python %s, import %.0f ms); %s" % (
        sides["library"]["version"], it["libcurl"], sdk["version"], ", ".join(sdk["transport"]),
        sdk["python"], sdk["import_ms"], " ".join((it["curl"] or "no curl").split()[:2])))
    print("server: %s; %s" % (it["server"], it["date"]))
