"""Runs the real agent loop of Hermes once, on a scripted model, and shows what its tools did.

    VENV/bin/python agent_run.py --home HERMES_HOME [--out DIR]

VENV is the Python environment that Hermes is installed in. HERMES_HOME is a home in which the backend `e2b` is enabled and selected; E2B_API_KEY and the E2B
addresses come from the environment. No model account is needed: the model is scripted_model.py.
Exits with 0 only if every step's result could only have come from inside one sandbox.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import threading

import yaml

import scripted_model

HERMES = pathlib.Path(sys.executable).parent / "hermes"

WHO = """\
echo "sandbox   $E2B_SANDBOX_ID"
echo "user      $(id -un), uid $(id -u), home $HOME"
echo "host name $(hostname)"
echo "root      $(ls -m / | tr -d '\\n')\""""

STEPS = [
    ["terminal", {"command": WHO}],
    [
        "terminal",
        {
            "command": "mkdir -p ~/project && cd ~/project"
            " && echo 'made by the second command' > note.txt && pwd"
        },
    ],
    ["terminal", {"command": "pwd; cat note.txt; echo to-stderr >&2; exit 7"}],
    [
        "write_file",
        {"path": "/home/user/project/hello.py", "content": "print('hello from', __file__)\n"},
    ],
    ["read_file", {"path": "/home/user/project/hello.py"}],
    [
        "execute_code",
        {
            "code": "from hermes_tools import terminal\n"
            "print(terminal('hostname; python3 ~/project/hello.py')['output'])"
        },
    ],
    "All of that ran inside the sandbox.",
]


def model_settings(url):
    """The model of a home, in words of Hermes' own config."""
    return {
        "provider": "custom",
        "base_url": url,
        "default": "scripted",
        "api_key": "none",
        "context_length": 200000,
    }


def write_model(home, url):
    """Sets the model of a home and keeps the rest of its config."""
    path = pathlib.Path(home, "config.yaml")
    config = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    config["model"] = model_settings(url)
    path.write_text(yaml.safe_dump(config), encoding="utf-8")


def run_agent(home, steps, transcript, timeout=120):
    """One `hermes -z` on the steps; returns (exit code, its output, rows of the transcript)."""
    server, url = scripted_model.serve(steps, transcript)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    write_model(home, url)
    environment = {
        **os.environ,
        "HERMES_HOME": str(home),
        # Hermes would otherwise install optional packages and a scanner by itself.
        "HERMES_DISABLE_LAZY_INSTALLS": "1",
        "TIRITH_ENABLED": "false",
    }
    for name in [n for n in environment if n.startswith("TERMINAL_")]:
        del environment[name]
    try:
        done = subprocess.run(
            [HERMES, "-z", "Show that your tools work in a sandbox."],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    finally:
        server.shutdown()
    rows = []
    if os.path.exists(transcript):
        with open(transcript, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
    return done.returncode, done.stdout, rows


def result_of(row):
    """A tool's result as a mapping, whatever form Hermes sent it to the model in."""
    try:
        value = json.loads(row["result"])
    except (TypeError, ValueError):
        return {"output": str(row["result"])}
    return value if isinstance(value, dict) else {"output": str(value)}


def show(row):
    """One tool call and its result, as a person reads them."""
    arguments = row["arguments"]
    call = arguments.get("command") or arguments.get("code") or arguments.get("path") or ""
    print(f"\n  {row['tool']}")
    for line in call.splitlines():
        print(f"    > {line}")
    result = result_of(row)
    body = str(result.get("output") or result.get("content") or result.get("error") or "")
    for line in body.rstrip("\n").splitlines():
        print(f"      {line}")
    for key in ("exit_code", "cwd", "bytes_written"):
        if result.get(key) is not None:
            print(f"      [{key.replace('_', ' ')}: {result[key]}]")


def check(rows):
    """What must hold if the tools ran inside one sandbox; returns the list of what did not."""
    wrong = []

    def want(yes, text):
        if not yes:
            wrong.append(text)

    want(len(rows) == len(STEPS) - 1, f"{len(STEPS) - 1} tool calls, seen {len(rows)}")
    if wrong:
        return wrong
    outputs = [str(result_of(row).get("output", "")) for row in rows]
    names = [l.split()[-1] for l in outputs[0].splitlines() if l.startswith("host name")]
    want("sandbox   i" in outputs[0], "the sandbox's id in its environment")
    want("uid 1000, home /home/user" in outputs[0], "the user of the template")
    want(names and names[0] != platform.node(), "a host name that is not this machine's")
    want("/home/user/project" in outputs[1], "cd into a new directory")
    want(outputs[2].split("\n")[0].strip() == "/home/user/project", "cd holds in the next command")
    want("made by the second command" in outputs[2], "the earlier command's file")
    want("to-stderr" in outputs[2], "stderr in the output")
    want(result_of(rows[2]).get("exit_code") == 7, "the command's exit code 7")
    want("hello from" in str(rows[4]["result"]), "the file that write_file wrote")
    want(names and names[0] in str(rows[5]["result"]), "execute_code inside the same sandbox")
    want(
        "hello from /home/user/project/hello.py" in str(rows[5]["result"]),
        "execute_code that runs the file",
    )
    want(
        not os.path.exists("/home/user/project/note.txt"), "none of it on this machine's own disk"
    )
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home", required=True)
    parser.add_argument("--out", help="folder for the transcript (default: a temporary one)")
    options = parser.parse_args()
    out = options.out or tempfile.mkdtemp(prefix="agent-run-")
    transcript = os.path.join(out, "transcript.jsonl")
    if os.path.exists(transcript):
        os.unlink(transcript)
    code, output, rows = run_agent(options.home, STEPS, transcript)
    for row in rows:
        show(row)
    print(f"\n  {output.strip()}")
    wrong = check(rows)
    if code != 0:
        wrong.append(f"hermes to exit with 0, not {code}")
    for text in wrong:
        print(f"agent_run: expected {text}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
