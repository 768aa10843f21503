"""A scripted model: an OpenAI-compatible endpoint on loopback that needs no account.

Turn k of a conversation is answered with step k of the script: a tool call or the final text.
It lets the real agent loop of Hermes run with nothing real behind it but the tools.

    scripted_model.py SCRIPT.json TRANSCRIPT.jsonl      prints its base URL, then serves

SCRIPT.json is a list: ["tool", {arguments}] for a tool call, a text for the end. Each result that
comes back is appended to the transcript as {"tool", "arguments", "result"}.
"""

import http.server
import json
import sys
import threading


class Script:
    """The steps, and the transcript of what their tool calls answered."""

    def __init__(self, steps, transcript_path):
        self.steps = steps
        self.transcript_path = transcript_path
        self.written = 0
        self.lock = threading.Lock()

    def answer(self, messages):
        """The step that follows these messages; notes each tool result once."""
        results = [m for m in messages if m.get("role") == "tool"]
        calls = [
            call
            for m in messages
            if m.get("role") == "assistant"
            for call in m.get("tool_calls") or []
        ]
        with self.lock:
            for call, result in list(zip(calls, results))[self.written :]:
                self.note(call["function"], result)
        return self.steps[min(len(calls), len(self.steps) - 1)]

    def note(self, function, result):
        row = {
            "tool": function["name"],
            "arguments": json.loads(function["arguments"]),
            "result": result.get("content"),
        }
        with open(self.transcript_path, "a", encoding="utf-8") as transcript:
            transcript.write(json.dumps(row) + "\n")
        self.written += 1


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, *args):
        pass

    def send_json(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def send_events(self, values):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for value in values:
            self.wfile.write(b"data: " + json.dumps(value).encode() + b"\n\n")
        self.wfile.write(b"data: [DONE]\n\n")
        self.close_connection = True

    def do_GET(self):
        model = {"id": "scripted", "object": "model", "context_length": 200000}
        self.send_json({"object": "list", "data": [model]})

    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        request = json.loads(self.rfile.read(length))
        messages = request.get("messages", [])
        # Hermes asks without tools for a title of the conversation; that is no turn of the script.
        step = self.script.answer(messages) if request.get("tools") else "scripted run"
        text = step if isinstance(step, str) else None
        message = {"role": "assistant", "content": text}
        if text is None:
            name, arguments = step
            message["tool_calls"] = [
                {
                    "index": 0,
                    "id": f"call_{len(messages)}",
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
            ]
        finish = "tool_calls" if text is None else "stop"
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        base = {"id": "scripted", "created": 0, "model": "scripted"}
        if request.get("stream"):
            delta = {"index": 0, "delta": message, "finish_reason": None}
            last = {"index": 0, "delta": {}, "finish_reason": finish}
            chunk = {**base, "object": "chat.completion.chunk"}
            self.send_events([{**chunk, "choices": [delta]}, {**chunk, "choices": [last], "usage": usage}])
        else:
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self.send_json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})


def serve(steps, transcript_path):
    """Starts serving on a free port; returns the server and its base URL."""
    handler = type("ScriptedHandler", (Handler,), {"script": Script(steps, transcript_path)})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    return server, f"http://127.0.0.1:{server.server_address[1]}/v1"


def main():
    with open(sys.argv[1], encoding="utf-8") as script:
        server, url = serve(json.load(script), sys.argv[2])
    print(url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
