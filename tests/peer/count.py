"""What passed: connections, bytes, requests and turns."""
import time

# Most requests that are kept, and most of one body: a script is a test, not a log.
MAX_REQUESTS = 10000
MAX_BODY = 64 << 10


class Request:
    """One request as it came, and what became of it."""

    def __init__(self, counts, head, connection, turn):
        self.counts = counts
        self.method, self.target = head.method, head.target
        self.headers = {name.lower(): value for name, value in head.headers}
        self.connection = connection    # counts from 1
        self.turn = turn                # counts from 1; 0: in none
        self.at = time.monotonic()
        self.body = b""
        self.status = 0                 # of the answer that was delivered; 0: none
        self.end = None                 # "answered", "cut", "gone" (the client left); None: not yet

    def more_body(self, data):
        self.body += data[:MAX_BODY - len(self.body)]

    def heard(self, status=0):
        """The client has the head of the answer, or the loss in its place."""
        self.status = status
        self.counts.heard_turn = max(self.counts.heard_turn, self.turn)

    def as_dict(self):
        return {"method": self.method, "path": self.target, "headers": self.headers,
                "body": self.body.decode("utf-8", "backslashreplace"), "turn": self.turn,
                "connection": self.connection, "at": self.at, "status": self.status,
                "end": self.end}


class Counts:
    def __init__(self):
        self.connections = 0
        self.bytes_up = 0
        self.bytes_down = 0
        self.turns = 0
        self.heard_turn = 0             # the highest turn of which the client has heard
        self.requests = []

    def arrived(self, head, connection, beside):
        """A request: its turn is one more than the last turn that its sender had heard of.

        Therefore requests that are in flight together share one, whatever their connections. What
        goes beside is in none, and nothing that follows it waited for it."""
        if len(self.requests) == MAX_REQUESTS:
            raise RuntimeError("more than %d requests" % MAX_REQUESTS)
        request = Request(self, head, connection, 0 if beside else self.heard_turn + 1)
        self.turns = max(self.turns, request.turn)
        self.requests.append(request)
        return request

    def matching(self, pattern):
        return sum(pattern.matches(r.method, r.target) for r in self.requests)

    def as_dict(self):
        routes = {}
        for request in self.requests:
            route = "%s %s" % (request.method, request.target.partition("?")[0])
            routes[route] = routes.get(route, 0) + 1
        return {"connections": self.connections, "requests": len(self.requests),
                "turns": self.turns, "bytes_up": self.bytes_up, "bytes_down": self.bytes_down,
                "routes": routes}
