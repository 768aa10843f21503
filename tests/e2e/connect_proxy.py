"""A small HTTP proxy for tests: CONNECT to whatever name, which it takes for this host."""
import base64
import contextlib
import socket
import socketserver
import threading


class ConnectProxy(socketserver.ThreadingTCPServer):
    """Listens at once. heads: what it was asked, as it came. refuse: a status line to answer with
    instead of connecting; login: "user:password" that it wants to see."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, login=None, refuse=None):
        super().__init__(("127.0.0.1", 0), Tunnel)
        self.login = login
        self.refuse = refuse
        self.heads = []
        self.open = []
        self.thread = threading.Thread(target=self.serve_forever, args=(0.05,))
        self.thread.start()

    def url(self, login=""):
        return "http://%s127.0.0.1:%d" % (login and login + "@", self.server_address[1])

    def targets(self):
        return {head.split(" ")[1].rsplit(":", 1)[0] for head in self.heads}

    def cut(self):
        """Ends all tunnels where they are."""
        for s in list(self.open):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.shutdown()
        self.thread.join()
        self.cut()
        self.server_close()

    def handle_error(self, request, client_address):
        pass                            # a tunnel that was cut


class Tunnel(socketserver.BaseRequestHandler):
    def handle(self):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.request.recv(4096)
            if not piece:
                return
            head += piece
        proxy, text = self.server, head.decode("latin-1")
        proxy.heads.append(text)
        status = proxy.refuse
        if not text.startswith("CONNECT "):
            status = "405 Method Not Allowed"
        elif proxy.login and "Proxy-Authorization: Basic %s\r\n" % base64.b64encode(
                proxy.login.encode()).decode() not in text:
            status = "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=test"
        if status:
            self.request.sendall(b"HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n" % status.encode())
            return
        port = int(text.split(" ")[1].rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as other:
            proxy.open += [self.request, other]
            self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=self.carry, args=(other, self.request), daemon=True)
            back.start()
            self.carry(self.request, other)
            back.join()

    @staticmethod
    def carry(source, target):
        with contextlib.suppress(OSError):
            while piece := source.recv(65536):
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)
