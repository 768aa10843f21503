"""TLS before e2b-local: a certificate authority of its own, and nginx that ends TLS and passes on."""
import os
import shutil
import signal
import socket
import subprocess

import pytest
from local_server import DEADLINE, builddir, until

NAMES = "DNS:localhost,DNS:*.e2b.test,IP:127.0.0.1,IP:::1"


def find_nginx():
    """quickstart unpacks Debian's package beside the build: installed, it would start a server."""
    for path in (os.environ.get("HE2B_NGINX"), shutil.which("nginx"), "/usr/sbin/nginx",
                 builddir() / "nginx" / "usr" / "sbin" / "nginx"):
        if path and os.access(path, os.X_OK) and not subprocess.run(
                [path, "-v"], stderr=subprocess.DEVNULL).returncode:
            return str(path)
    return None


needs_nginx = pytest.mark.skipif(not find_nginx(), reason="no nginx: ./quickstart test fetches one")


def free_port():
    with socket.socket(socket.AF_INET6) as s:
        s.bind(("::", 0))               # of both families
        return s.getsockname()[1]


class Authority:
    """A CA in a folder; issue() gives the paths of a certificate and its key."""

    CONFIG = """
[ca]
default_ca = own
[own]
database = index
serial = serial
new_certs_dir = .
default_md = sha256
policy = any
copy_extensions = copy
certificate = ca.pem
private_key = ca.key
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
"""
    NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")

    def __init__(self, folder, name="test authority"):
        self.folder = folder
        folder.mkdir(parents=True)
        (folder / "config").write_text(self.CONFIG)
        (folder / "index").write_text("")
        (folder / "serial").write_text("01\n")
        self.openssl("req", "-x509", *self.NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem",
                     "-days", "3650", "-subj", "/CN=" + name, "-extensions", "authority",
                     "-config", "config")
        self.file = str(folder / "ca.pem")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def issue(self, name, names=NAMES, start="20200101000000Z", end="20391231000000Z"):
        self.openssl("req", *self.NEW_KEY, "-keyout", name + ".key", "-out", name + ".csr", "-subj",
                     "/CN=" + name, "-addext", "subjectAltName=" + names, "-config", "config")
        self.openssl("ca", "-batch", "-config", "config", "-in", name + ".csr", "-out",
                     name + ".pem", "-startdate", start, "-enddate", end)
        return str(self.folder / (name + ".pem")), str(self.folder / (name + ".key"))


class Front:
    """An nginx before a server, on 127.0.0.1 and ::1; http2: offered by ALPN beside http/1.1."""

    CONFIG = """
{user}
daemon off;
worker_processes 1;
pid {folder}/pid;
error_log {folder}/error.log info;
events {{ worker_connections 4096; }}
http {{
    log_format seen '$server_protocol $request_method $uri $status $connection';
    access_log {folder}/access.log seen;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 0;
    # as a balancer that passes streams on: nothing is kept back
    proxy_buffering off;
    proxy_request_buffering off;
    proxy_http_version 1.1;
    proxy_read_timeout 1h;
    proxy_send_timeout 1h;
    send_timeout 1h;
    server {{
        listen 127.0.0.1:{port} ssl {http2};
        listen [::1]:{port} ssl {http2};
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        location / {{
            proxy_pass {target};
            proxy_set_header Host $http_host;
            proxy_set_header Connection "";
        }}
    }}
}}
"""

    def __init__(self, folder, target, certificate, http2=True):
        self.folder = folder
        folder.mkdir(parents=True)
        self.port = free_port()
        config = folder / "nginx.conf"
        config.write_text(self.CONFIG.format(
            user="user root;" if os.geteuid() == 0 else "", folder=folder, port=self.port,
            http2="http2" if http2 else "", certificate=certificate[0], key=certificate[1],
            target=target))
        self.process = subprocess.Popen(
            [find_nginx(), "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(config)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(self.answers)

    def answers(self):
        assert self.process.poll() is None, self.errors()
        try:
            socket.create_connection(("127.0.0.1", self.port), DEADLINE).close()
        except ConnectionRefusedError:
            return False
        return True

    def url(self, host="localhost"):
        return "https://%s:%d" % (host, self.port)

    def errors(self):
        return (self.folder / "error.log").read_text(errors="replace")

    def seen(self):
        """What was asked, as (protocol, method, path, status), in the order of the ends."""
        log = (self.folder / "access.log").read_text(errors="replace")
        return [tuple(line.split(" ")[:4]) for line in log.splitlines()]

    def connections(self):
        """How many carried requests that have ended."""
        log = (self.folder / "access.log").read_text(errors="replace")
        return len({line.split(" ")[-1] for line in log.splitlines()})

    def workers(self):
        children = "/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)
        with open(children) as file:
            return [int(pid) for pid in file.read().split()]

    def cut(self):
        """Every connection ends in the middle of what it carries, without TLS' own goodbye; new
        ones are taken."""
        before = self.workers()
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        until(lambda: [pid for pid in self.workers() if pid not in before])

    def stop(self):
        self.process.terminate()
        self.process.wait(DEADLINE)

    close = stop


class Tls:
    """An authority and the fronts that it vouches for, ended together."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = Authority(folder / "authority")
        self.good = self.authority.issue("good")
        self.fronts = []

    def front(self, target, certificate=None, http2=True):
        folder = self.folder / ("front-%d" % len(self.fronts))
        self.fronts.append(Front(folder, target, certificate or self.good, http2))
        return self.fronts[-1]

    def stop(self):
        for front in self.fronts:
            front.stop()
