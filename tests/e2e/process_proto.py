"""The process service's messages in binary protobuf, from and to their JSON, by hand from the table of
wire C.7: nothing of what is tested is used for the bytes."""
import base64

SIZE = {1: ("cols", "uint"), 2: ("rows", "uint")}
PTY = {1: ("size", SIZE)}
CONFIG = {1: ("cmd", "text"), 2: ("args", "texts"), 3: ("envs", "map"), 4: ("cwd", "text")}
SELECTOR = {1: ("pid", "uint"), 2: ("tag", "text")}
INPUT = {1: ("stdin", "bytes"), 2: ("pty", "bytes")}
ENTRY = {1: ("key", "text"), 2: ("value", "text")}
EVENT = {
    1: ("start", {1: ("pid", "uint")}),
    2: ("data", {1: ("stdout", "bytes"), 2: ("stderr", "bytes"), 3: ("pty", "bytes")}),
    3: ("end", {1: ("exitCode", "sint"), 2: ("exited", "bool"), 3: ("status", "text"), 4: ("error", "text")}),
    4: ("keepalive", {}),
}
SELECT = {1: ("process", SELECTOR)}
REQUESTS = {
    "Start": {1: ("process", CONFIG), 2: ("pty", PTY), 3: ("tag", "text"), 4: ("stdin", "bool")},
    "Connect": SELECT,
    "List": {},
    "SendInput": {1: ("process", SELECTOR), 2: ("input", INPUT)},
    "CloseStdin": SELECT,
    "SendSignal": {1: ("process", SELECTOR), 2: ("signal", "signal")},
    "Update": {1: ("process", SELECTOR), 2: ("pty", PTY)},
}
STREAM = {1: ("event", EVENT)}
ANSWERS = {"Start": STREAM, "Connect": STREAM,
           "List": {1: ("processes", [{1: ("config", CONFIG), 2: ("pid", "uint"), 3: ("tag", "text")}])}}
SIGNALS = {"SIGNAL_UNSPECIFIED": 0, "SIGNAL_SIGKILL": 9, "SIGNAL_SIGTERM": 15}


def varint(number):
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def part(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def write_value(number, kind, value):
    if isinstance(kind, dict):
        return part(number, write(kind, value))
    if kind == "texts":
        return b"".join(part(number, text.encode()) for text in value)
    if kind == "map":
        return b"".join(part(number, write(ENTRY, {"key": key, "value": text})) for key, text in value.items())
    if kind == "text":
        return part(number, value.encode())
    if kind == "bytes":
        return part(number, base64.b64decode(value))
    return varint(number << 3) + varint(SIGNALS.get(value, value) if kind == "signal" else int(value))


def write(fields, message):
    names = {name: (number, kind) for number, (name, kind) in fields.items()}
    return b"".join(write_value(*names[name], value) for name, value in message.items() if name in names)


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def add(message, name, kind, value):
    if isinstance(kind, list):
        message.setdefault(name, []).append(read(kind[0], value))
    elif isinstance(kind, dict):
        message[name] = read(kind, value)
    elif kind == "texts":
        message.setdefault(name, []).append(value.decode())
    elif kind == "map":
        entry = read(ENTRY, value)
        message.setdefault(name, {})[entry["key"]] = entry["value"]
    elif kind == "text":
        message[name] = value.decode()
    elif kind == "bytes":
        message[name] = base64.b64encode(value).decode()
    else:
        message[name] = {"bool": bool(value), "sint": value >> 1 ^ -(value & 1)}.get(kind, value)


def read(fields, data):
    message, at = {}, 0
    while at < len(data):
        tag, at = read_varint(data, at)
        value, at = read_varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
            assert at <= len(data)
        else:
            assert tag & 7 == 0
        add(message, *fields[tag >> 3], value)
    return message


def request(method, message):
    return write(REQUESTS[method], message)


def answer(method, data):
    return read(ANSWERS.get(method, {}), data)
