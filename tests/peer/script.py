"""The script: what to expect and what to do then. README.md has the language."""
import json
import pathlib
import re


# The scripts that have a name.
SCRIPTS = pathlib.Path(__file__).parent / "scripts"


class ScriptError(Exception):
    """A line that makes no sense; the text names file and line."""


class Pattern:
    """METHOD PATH of a request; * stands for anything. The query counts only if the pattern has one."""

    def __init__(self, method, path):
        self.text = "%s %s" % (method, path)
        self.with_query = "?" in path
        self.regex = re.compile(re.escape(self.text).replace(r"\*", ".*"))

    def matches(self, method, target):
        path = target if self.with_query else target.partition("?")[0]
        return self.regex.fullmatch("%s %s" % (method, path)) is not None


class Position:
    """A place in the payload of an answer: after N bytes, or N bytes into the K-th Connect frame.

    at is its offset, None until it is known; see() is shown the payload as it comes."""

    def __init__(self, n, frame=None):
        self.n = n
        self.frames = None if frame is None else frame - 1   # to go by before the one that is meant
        self.at = n if frame is None else None
        self.start = 0
        self.rest = b""
        if self.frames == 0:
            self.at = n

    def see(self, data):
        if self.at is not None:
            return
        self.rest += data
        while len(self.rest) >= 5:
            size = 5 + int.from_bytes(self.rest[1:5], "big")
            if len(self.rest) < size:
                return
            self.rest = self.rest[size:]
            self.start += size
            self.frames -= 1
            if not self.frames:
                self.at = self.start + self.n
                return


class Mark:
    """What happens at a position: a barrier is waited for, or the connection ends."""

    def __init__(self, line, make_position, barrier=None, reset=False):
        self.line = line
        self.make_position = make_position      # positions have a state: one for each answer
        self.barrier = barrier
        self.reset = reset


class Rule:
    """One `expect` with its `do` lines."""

    def __init__(self, where, pattern):
        self.where = where
        self.pattern = pattern
        self.times = 1                  # None: always
        self.seen = 0
        self.answer = None              # (status, content type, body): not asked of the upstream
        self.lose = None                # "close", "reset": no answer, nothing sent on;
        #                                 "lose": sent on, the answer dropped
        self.raw = None                 # bytes in place of the answer
        self.status = None              # in place of the answer's own
        self.stall = None               # barrier before the request is sent on
        self.delay_answer = None        # barrier before the answer's head
        self.headers = []
        self.body = None
        self.coalesce = False           # the whole answer in one piece
        self.cut_head = None            # (bytes, reset)
        self.marks = []
        self.trickle = False

    def takes(self, method, target):
        spent = self.times and self.seen >= self.times
        return not spent and self.pattern.matches(method, target)

    def unmet(self):
        """A sentence if it was not met, else None."""
        if self.times is None:
            wrong, wanted = not self.seen, "any number, at least 1"
        else:
            wrong, wanted = self.seen != self.times, self.times
        if wrong:
            return "%s: expect %s: came %d times, wanted %s" % (
                self.where, self.pattern.text, self.seen, wanted)
        return None


class Trigger:
    """`when [answered] METHOD PATH release NAME`"""

    def __init__(self, pattern, answered, barrier):
        self.pattern = pattern
        self.answered = answered
        self.barrier = barrier


class Script:
    """What all script texts together say."""

    def __init__(self):
        self.rules = []
        self.triggers = []
        self.besides = []               # patterns of what is in no turn
        self.barriers = set()
        self.rtt = 0.0                  # seconds
        self.rule = None
        self.where = ""
        self.folder = "."               # where @FILE is looked for

    def add(self, text, name, folder="."):
        self.rule = None
        self.folder = folder
        for number, line in enumerate(text.splitlines(), 1):
            self.where = "%s:%d" % (name, number)
            line = line.strip()
            if line and not line.startswith("#"):
                self.statement(line)

    def add_file(self, path):
        path = pathlib.Path(path)
        self.add(path.read_text(encoding="utf-8"), path.name, path.parent)

    def rule_for(self, method, target):
        """The first rule that still wants this request, or None."""
        for rule in self.rules:
            if rule.takes(method, target):
                rule.seen += 1
                return rule
        return None

    def is_beside(self, method, target):
        return any(pattern.matches(method, target) for pattern in self.besides)

    # ---- reading ----

    def error(self, text):
        return ScriptError("%s: %s" % (self.where, text))

    def statement(self, line):
        word, _, rest = line.partition(" ")
        read = getattr(self, "read_" + word, None)
        if read is None:
            raise self.error("no such statement: %s" % word)
        if word in ("do", "times", "always") and self.rule is None:
            raise self.error("%s comes after an expect" % word)
        try:
            read(rest.strip())
        except (ValueError, IndexError, OSError) as error:
            raise self.error("%s: %s" % (line, error)) from None

    def barrier(self, name):
        if name not in self.barriers:
            raise self.error("no such barrier: %r" % name)
        return name

    def read_barrier(self, name):
        if not re.fullmatch(r"[\w-]+", name):
            raise ValueError("not a name")
        self.barriers.add(name)

    def read_when(self, rest):
        words = rest.split()
        answered = words[:1] == ["answered"]
        method, path, release, name = words[answered:]
        if release != "release":
            raise ValueError("not: when [answered] METHOD PATH release NAME")
        self.triggers.append(Trigger(Pattern(method, path), answered, self.barrier(name)))

    def read_beside(self, rest):
        method, path = rest.split()
        self.besides.append(Pattern(method, path))

    def read_expect(self, rest):
        method, path = rest.split()
        self.rule = Rule(self.where, Pattern(method, path))
        self.rules.append(self.rule)

    def read_include(self, name):
        before = self.where, self.folder
        self.add_file(SCRIPTS / (name + ".script"))
        self.where, self.folder = before
        self.rule = None

    def read_rtt(self, rest):
        self.rtt = float(rest) / 1000

    def read_times(self, rest):
        self.rule.times = int(rest)

    def read_always(self, rest):
        if rest:
            raise ValueError("takes no argument")
        self.rule.times = None

    def read_do(self, rest):
        word, _, rest = rest.partition(" ")
        read = getattr(self, "do_" + word.replace("-", "_"), None)      # the faults, below
        if read is None:
            raise self.error("no such fault: %s" % word)
        read(rest.strip())

    def text(self, rest):
        """A body: "..." with JSON's escapes, @FILE beside the script, or the text as it stands."""
        if rest.startswith('"'):
            return json.loads(rest).encode()
        if rest.startswith("@"):
            return pathlib.Path(self.folder, rest[1:]).read_bytes()
        return rest.encode()

    # ---- the faults: a new one begins here ----

    def do_pass(self, rest):
        if rest:
            raise ValueError("takes no argument")

    def do_answer(self, rest):
        words = rest.split(None, 2)
        self.rule.answer = (int(words[0]), words[1] if words[1:] else None,
                            self.text(words[2]) if words[2:] else b"")

    def do_frame(self, rest):
        """Adds a Connect frame to the answer's body; a leading number gives the flags."""
        flags, _, payload = rest.partition(" ") if rest[:1].isdigit() else ("0", "", rest)
        data = self.text(payload)
        if self.rule.answer is None:
            raise ValueError("comes after an answer")
        status, kind, body = self.rule.answer
        frame = bytes([int(flags)]) + len(data).to_bytes(4, "big") + data
        self.rule.answer = (status, kind, body + frame)

    def do_reset(self, rest):
        self.do_pass(rest)
        self.rule.lose = "reset"

    def do_close(self, rest):
        self.do_pass(rest)
        self.rule.lose = "close"

    def do_lose_before_head(self, rest):
        self.do_pass(rest)
        self.rule.lose = "lose"

    def do_stall_until(self, rest):
        self.rule.stall = self.barrier(rest)

    def do_delay_answer_until(self, rest):
        self.rule.delay_answer = self.barrier(rest)

    def do_header(self, rest):
        name, colon, value = rest.partition(":")
        if not colon:
            raise ValueError("not NAME: VALUE")
        self.rule.headers.append((name.strip(), value.strip()))

    def do_raw(self, rest):
        self.rule.raw = self.text(rest)

    def do_replace_status(self, rest):
        self.rule.status = int(rest)

    def do_replace_body(self, rest):
        self.rule.body = self.text(rest)

    def do_trickle(self, rest):
        self.do_pass(rest)
        self.rule.trickle = True

    def do_coalesce(self, rest):
        self.do_pass(rest)
        self.rule.coalesce = True

    def do_cut_head_after(self, rest):
        words = rest.split()
        self.rule.cut_head = (int(words[0]), self.reset_word(words[1:]))

    def do_cut_after(self, rest):
        words = rest.split()
        n = int(words[0])
        self.mark(lambda: Position(n), reset=self.reset_word(words[1:]))

    def do_cut_in_frame(self, rest):
        words = rest.split()
        frame, n = self.frame_words(words[:2])
        self.mark(lambda: Position(n, frame), reset=self.reset_word(words[2:]))

    def do_stall_after(self, rest):
        n, name = rest.split()
        n = int(n)
        self.mark(lambda: Position(n), barrier=self.barrier(name))

    def do_stall_in_frame(self, rest):
        words = rest.split()
        frame, n = self.frame_words(words[:2])
        (name,) = words[2:]
        self.mark(lambda: Position(n, frame), barrier=self.barrier(name))

    def mark(self, make_position, **what):
        self.rule.marks.append(Mark(self.where, make_position, **what))

    @staticmethod
    def frame_words(words):
        frame, n = (int(word) for word in words)
        if frame < 1:
            raise ValueError("frames count from 1")
        return frame, n

    @staticmethod
    def reset_word(words):
        if words not in ([], ["reset"]):
            raise ValueError("only the word reset may follow")
        return bool(words)
