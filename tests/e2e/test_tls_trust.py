"""Servers whose certificate is not to be trusted: the error says what to set, and no secret is sent
(B-49, B-101)."""
import os
import socket
import threading

import pytest
from hermes_e2b import _native
from tls_front import Authority, needs_nginx

pytestmark = needs_nginx
UNSET = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

# what is wrong with the server's certificate; what of it the error must say
WRONG = {
    "authority": ("unable to get local issuer certificate", "set SSL_CERT_FILE"),
    "expired": ("certificate has expired", "clock"),
    "not yet": ("certificate is not yet valid", "clock"),
    "name": ("'localhost'", "another host's"),
}


@pytest.fixture(scope="module")
def fronts(server, tls):
    stranger = Authority(tls.folder / "stranger", "a stranger")
    certificates = {
        "authority": stranger.issue("stranger"),
        "expired": tls.authority.issue("expired", end="20210101000000Z"),
        "not yet": tls.authority.issue("later", start="20380101000000Z"),
        "name": tls.authority.issue("other", names="DNS:other.e2b.test"),
    }
    fronts = {name: tls.front(server.url, pair) for name, pair in certificates.items()}
    fronts["good"] = tls.front(server.url)
    fronts["stranger"] = stranger.file
    return fronts


@pytest.fixture
def variables(monkeypatch, tls):
    """Sets the CA variables, and only those that are given."""
    def set_them(**values):
        for name in UNSET:
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    set_them(SSL_CERT_FILE=tls.authority.file)
    return set_them


def attempt(server, api, data, **options):
    """A first command: its output, and its failure as a dict."""
    session = _native.Session({"api_key": server.key, "api_url": api, "sandbox_url": data,
                               **options})
    command = session.command(b"echo ran")
    with os.fdopen(command.take_fd(), "rb") as pipe:
        output = pipe.read()
    while not command.wait(1000):
        pass
    failure = command.failure
    closing = session.close()
    while not closing.wait(1000):
        pass
    return output, failure


@pytest.mark.parametrize("wrong", WRONG)
def test_the_control_plane_is_not_trusted(server, fronts, variables, wrong):
    before = server.log_text().count("POST /sandboxes")
    url = fronts[wrong].url()
    output, failure = attempt(server, url, url)
    assert (output, failure["code"]) == (b"", "HE2B_ERR_TLS")
    cause, hint = WRONG[wrong]
    assert cause in failure["cause"] and hint in failure["hint"]
    assert fronts[wrong].seen() == []   # not one request, so no key
    assert server.log_text().count("POST /sandboxes") == before


@pytest.mark.parametrize("wrong", WRONG)
def test_the_sandboxes_are_not_trusted(server, fronts, variables, wrong):
    output, failure = attempt(server, fronts["good"].url(), fronts[wrong].url())
    assert (output, failure["code"]) == (b"", "HE2B_ERR_TLS")
    cause, hint = WRONG[wrong]
    assert cause in failure["cause"] and hint in failure["hint"]
    assert fronts[wrong].seen() == []


def test_the_wrong_host_names_the_setting_of_its_plane(server, fronts, variables):
    good, wrong = fronts["good"].url(), fronts["name"].url()
    assert "E2B_API_URL" in attempt(server, wrong, good)[1]["hint"]
    assert "E2B_SANDBOX_URL" in attempt(server, good, wrong)[1]["hint"]


@pytest.mark.parametrize("content", [None, "no certificate\n"], ids=["missing", "no PEM"])
def test_a_ca_file_that_cannot_be_used(server, fronts, variables, tmp_path, content):
    file = tmp_path / "ca.pem"
    if content:
        file.write_text(content)
    variables(SSL_CERT_FILE=str(file))
    before = fronts["good"].seen()
    failure = attempt(server, fronts["good"].url(), fronts["good"].url())[1]
    assert failure["code"] == "HE2B_ERR_TLS"
    assert str(file) in failure["cause"] and "set SSL_CERT_FILE" in failure["hint"]
    assert fronts["good"].seen() == before


@pytest.mark.parametrize("name", UNSET)
def test_each_variable_names_the_ca_file(server, fronts, variables, tls, name):
    variables(**{name: tls.authority.file})
    assert attempt(server, fronts["good"].url(), fronts["good"].url()) == (b"ran\n", None)


def test_the_first_variable_counts_alone(server, fronts, variables, tls):
    url = fronts["good"].url()
    variables(SSL_CERT_FILE=fronts["stranger"], CURL_CA_BUNDLE=tls.authority.file)
    failure = attempt(server, url, url)[1]
    assert fronts["stranger"] in failure["hint"]
    variables(REQUESTS_CA_BUNDLE=tls.authority.file, CURL_CA_BUNDLE=fronts["stranger"])
    assert attempt(server, url, url)[0] == b"ran\n"


def test_the_option_comes_before_the_variables(server, fronts, variables, tls):
    url = fronts["good"].url()
    variables(SSL_CERT_FILE=fronts["stranger"])
    assert attempt(server, url, url, ca_file=tls.authority.file)[0] == b"ran\n"


def test_the_system_does_not_trust_it_by_itself(server, fronts, variables):
    variables()
    failure = attempt(server, fronts["good"].url(), fronts["good"].url())[1]
    assert failure["code"] == "HE2B_ERR_TLS" and "SSL_CERT_FILE" in failure["hint"]


def test_clear_text_where_tls_is_expected_gets_no_key(server, variables):
    """What listens there hears a TLS greeting and nothing else."""
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve():
            s, _ = listener.accept()
            with s:
                s.settimeout(10)
                heard.append(s.recv(65536))
                s.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
                try:
                    while piece := s.recv(65536):
                        heard.append(piece)
                except ConnectionError:
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        url = "https://127.0.0.1:%d" % listener.getsockname()[1]
        failure = attempt(server, url, url)[1]
        thread.join()
    assert failure["code"] == "HE2B_ERR_TLS" and "is it https" in failure["hint"]
    assert heard[0][0] == 0x16 and server.key.encode() not in b"".join(heard)
