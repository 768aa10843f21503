"""A real Hermes as a child process, asked over a pipe.

Run as a program it is the child: it loads Hermes with the plugins of HERMES_HOME and answers one JSON
request per line. Imported it is the other side: `Host` starts such a child and asks it.

A request is {"tool": name, "arguments": {...}} through the agent loop's own dispatch function, several at
once as {"parallel": [...]}, or {"do": name, ...} for one of the actions below.
"""

import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

CONFIG = """\
plugins:
  enabled: [e2b]
  entries: {{e2b: {{settings: {settings}}}}}
terminal: {{backend: e2b, timeout: 60, container_persistent: {persistent}{terminal}}}
"""
DEADLINE = 120


class Host:
    """The child; a context manager that ends it as a plain Python host ends."""

    def __init__(self, home, environment, settings="{}", plugin_folder=None, persistent="false",
                 terminal=""):
        """terminal: more settings of config.yaml's terminal, from a comma on."""
        self.home = pathlib.Path(home)
        (self.home / "plugins").mkdir(parents=True, exist_ok=True)
        (self.home / "config.yaml").write_text(CONFIG.format(
            settings=settings, persistent=persistent, terminal=terminal))
        if plugin_folder and not (self.home / "plugins" / "e2b").exists():
            (self.home / "plugins" / "e2b").symlink_to(plugin_folder)
        self.environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("E2B_", "TERMINAL_"))
        }
        self.environment.update(
            environment,
            HERMES_HOME=str(self.home),
            HERMES_DISABLE_LAZY_INSTALLS="1",
            TIRITH_ENABLED="false",
        )
        self.log = open(self.home / "host.log", "w+b")
        self.process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=self.environment,
            text=True,
            start_new_session=True,
        )
        self.plugin = json.loads(self.process.stdout.readline() or "{}")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.end()

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, self.log_text()
        answer = json.loads(line)
        assert "raised" not in answer, answer["raised"]
        return answer["result"]

    def tool(self, tool, **arguments):
        return self.ask(tool=tool, arguments=arguments)

    def terminal(self, command, **arguments):
        return self.tool("terminal", command=command, **arguments)

    def end(self):
        """Closes its input: it returns from main, and Hermes' exit handlers run."""
        if self.process.poll() is None:
            self.process.stdin.close()
        code = self.process.wait(DEADLINE)
        self.process.stdout.close()
        return code

    def interrupt(self):
        os.kill(self.process.pid, signal.SIGINT)

    def kill(self):
        self.process.kill()
        self.process.wait(DEADLINE)

    def log_text(self):
        self.log.flush()
        return (self.home / "host.log").read_text(errors="replace")


# ---- the child ----


def call_tool(request):
    import model_tools

    answer = model_tools.handle_function_call(
        request["tool"], request["arguments"], task_id="host-task"
    )
    return json.loads(answer) if isinstance(answer, str) else answer


def do_cleanup(request):
    from tools.terminal_tool import cleanup_all_environments

    cleanup_all_environments()


def do_environments(request):
    from tools.terminal_tool import _active_environments

    return {key: type(value).__name__ for key, value in _active_environments.items()}


def do_probe(request):
    """What Hermes does once per process for its prompt (B-13)."""
    from agent.terminal_env_registry import get_provider

    environment = get_provider("e2b").create_environment(
        cwd="/root", timeout=60, task_id="prompt-backend-probe", container_config={}
    )
    result = environment.execute("uname -s", timeout=4)
    environment.cleanup(force_remove=True)
    return result


def do_provider(request):
    from agent.terminal_env_registry import get_provider

    provider = get_provider("e2b")
    return {
        "available": provider.is_available(),
        "probe": provider.probe(),
        "doctor": provider.doctor_checks(),
        "guards": provider.skip_container_guards,
    }


def do_interrupted_call(request):
    """Runs a tool call and interrupts it, as /stop does, when the file says that it runs."""
    from tools.interrupt import set_interrupt

    def run():
        return call_tool(request["call"])

    def stop(thread):
        while not call_tool(request["started"])["output"].strip():
            pass
        set_interrupt(True, thread.ident)

    box = []
    thread = threading.Thread(target=lambda: box.append(run()))
    thread.start()
    stop(thread)
    thread.join()
    # The next thread may get the same number.
    set_interrupt(False, thread.ident)
    return box[0]


def do_fork(request):
    """The tool in a forked child, which must refuse in words; then its exit status."""
    pid = os.fork()
    if pid == 0:
        try:
            answer = call_tool({"tool": "terminal", "arguments": {"command": "echo ran"}})
            print("forked child answered", answer, file=sys.stderr, flush=True)
            os._exit(0 if "forked" in str(answer) else 7)
        except BaseException:
            os._exit(8)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def answer(request):
    if "parallel" in request:
        with concurrent.futures.ThreadPoolExecutor(len(request["parallel"])) as pool:
            return list(pool.map(call_tool, request["parallel"]))
    if "do" in request:
        return globals()["do_" + request["do"]](request)
    return call_tool(request)


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what Hermes prints is no answer
    from hermes_cli.plugins import discover_plugins, get_plugin_manager

    discover_plugins()
    import model_tools  # noqa: F401 - loads the tools

    rows = [p for p in get_plugin_manager().list_plugins() if p.get("name") == "e2b"]
    row = {k: str(rows[0].get(k)) for k in ("source", "enabled", "error")} if rows else {}
    print(json.dumps(row), file=out, flush=True)
    for line in sys.stdin:
        try:
            reply = {"result": answer(json.loads(line))}
        except Exception as error:
            reply = {"raised": repr(error)}
        print(json.dumps(reply), file=out, flush=True)


if __name__ == "__main__":
    main()
