"""A process of its own in which many commands run at once; what it costs is told as one line of JSON.

    flood_child.py stalled N    N commands print without end and nobody reads; others run beside them
    flood_child.py output N     one command prints N bytes, which are read
    flood_child.py threads N    N threads, each with a command of its own, all at once
    flood_child.py at-once N    N commands at once, started and read by one thread

The options of the session are the first line of standard input.
"""
import array
import fcntl
import json
import os
import select
import sys
import termios
import threading
import time

from hermes_e2b import _native

PIPE = 65536                            # what a pipe holds
FLOOD = b"exec cat /dev/zero"


def status(field):
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    raise KeyError(field)


def reset_peak():
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def wakeups():
    """How often the threads of this process gave up the processor of their own accord, but for this
    one."""
    total = 0
    for thread in os.listdir("/proc/self/task"):
        if int(thread) == threading.get_native_id():
            continue
        with open("/proc/self/task/%s/status" % thread) as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))
    return total


def finish(command):
    while not command.wait(1000):
        pass
    return command


def run(session, text):
    command = session.command(text)
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read()
    return output, finish(command).exit_code


def start(session, text, count):
    commands = [session.command(text) for _ in range(count)]
    return commands, [command.take_fd() for command in commands]


def waiting(fd):
    size = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, size)
    return size[0]


def read_all(fds):
    """The number of bytes of each, read by one thread as they come."""
    got = dict.fromkeys(fds, 0)
    poll = select.poll()
    for fd in fds:
        poll.register(fd, select.POLLIN)
    left = len(fds)
    while left:
        for fd, _ in poll.poll():
            piece = len(os.read(fd, PIPE))
            got[fd] += piece
            if not piece:
                poll.unregister(fd)
                os.close(fd)
                left -= 1
    return list(got.values())


def stalled(session, count):
    before = status("VmRSS")
    reset_peak()
    commands, fds = start(session, FLOOD, count)
    while min(map(waiting, fds)) < PIPE:
        select.select([], [], [], 0.01)
    beside = [run(session, b"echo beside") for _ in range(10)]
    peak = status("VmHWM")
    # an interval to measure in, not one to wait for something
    cpu, turns, began = time.process_time(), wakeups(), time.monotonic()
    select.select([], [], [], 2)
    answer = {"grown_kib": peak - before, "cpu_s": time.process_time() - cpu,
              "wakeups": wakeups() - turns, "seconds": time.monotonic() - began,
              "beside": beside == [(b"beside\n", 0)] * 10,
              "still": [waiting(fd) for fd in fds] == [PIPE] * count}
    # one goes on where it stood, and only that one
    wanted = 8 << 20
    got = 0
    while got < wanted:
        got += len(os.read(fds[0], PIPE))
    answer["others_still"] = [waiting(fd) for fd in fds[1:]] == [PIPE] * (count - 1)
    for command in commands:
        command.kill()
    for fd in fds:
        os.close(fd)
    answer["outcomes"] = sorted({finish(command).outcome == _native.KILLED for command in commands})
    return answer


def output(session, size):
    run(session, b"head -c 4194304 /dev/zero")
    before = status("VmRSS")
    reset_peak()
    cpu = time.process_time()
    command = session.command(b"head -c %d /dev/zero" % size)
    got = read_all([command.take_fd()])[0]
    finish(command)
    return {"bytes": got, "grown_kib": status("VmHWM") - before,
            "cpu_s": time.process_time() - cpu}


def threads(session, count):
    together = threading.Barrier(count)
    results = [None] * count

    def one(number):
        together.wait()
        results[number] = run(session, b"echo %d; exit %d" % (number, number % 100))

    everyone = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for thread in everyone:
        thread.start()
    for thread in everyone:
        thread.join()
    return {"right": results == [(b"%d\n" % i, i % 100) for i in range(count)]}


def at_once(session, count):
    """All of them are seen running before one may end."""
    run(session, b"mkdir /tmp/here")
    threads_before, before = status("Threads"), status("VmRSS")
    reset_peak()
    commands, fds = start(
        session, b": > /tmp/here/$$; until [ -e /tmp/go ]; do sleep 0.1; done; echo done", count)
    while int(run(session, b"ls /tmp/here | wc -l")[0]) < count:
        pass
    answer = {"grown_kib": status("VmHWM") - before,
              "threads": status("Threads") - threads_before}
    run(session, b": > /tmp/go")
    answer["bytes"] = sorted(set(read_all(fds)))
    answer["codes"] = sorted({finish(command).exit_code for command in commands})
    return answer


def main():
    session = _native.Session(json.loads(sys.stdin.readline()))
    run(session, b"true")
    do = {"stalled": stalled, "output": output, "threads": threads, "at-once": at_once}[sys.argv[1]]
    print(json.dumps(do(session, int(sys.argv[2]))), flush=True)
    closing = session.close()
    while not closing.wait(1000):
        pass


if __name__ == "__main__":
    main()
