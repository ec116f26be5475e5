"""A strict JSON reader that keeps repeated names: objects become lists of pairs (class Members).

Strict as the contract is: UTF-8 without BOM, no lone surrogates, integers within 64 bits, finite
numbers, at most 64 levels.
"""

import re

LEVELS = 64
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", re.ASCII)
_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Members(list):
    """The (name, value) pairs of an object, in order."""

    def all(self, name):
        return [value for key, value in self if key == name]


class Invalid(ValueError):
    pass


def parse(data):
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(str(error)) from None
    reader = _Reader(text)
    value = reader.value(1)
    reader.space()
    if reader.at != len(text):
        raise Invalid("something follows the document")
    return value


class _Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def space(self):
        self.at = _SPACE.match(self.text, self.at).end()

    def peek(self):
        return self.text[self.at : self.at + 1]

    def take(self, word):
        if not self.text.startswith(word, self.at):
            raise Invalid(f"{word!r} expected at {self.at}")
        self.at += len(word)

    def value(self, level):
        self.space()
        first = self.peek()
        if first == "{":
            return self.members(level)
        if first == "[":
            return self.array(level)
        if first == '"':
            return self.string()
        for word, value in (("true", True), ("false", False), ("null", None)):
            if first == word[0]:
                self.take(word)
                return value
        return self.number()

    def deeper(self, level):
        if level > LEVELS:
            raise Invalid("too deep")
        self.at += 1
        self.space()

    def members(self, level):
        self.deeper(level)
        found = Members()
        if self.peek() == "}":
            self.at += 1
            return found
        while True:
            self.space()
            name = self.string()
            self.space()
            self.take(":")
            found.append((name, self.value(level + 1)))
            self.space()
            if self.peek() == "}":
                self.at += 1
                return found
            self.take(",")

    def array(self, level):
        self.deeper(level)
        found = []
        if self.peek() == "]":
            self.at += 1
            return found
        while True:
            found.append(self.value(level + 1))
            self.space()
            if self.peek() == "]":
                self.at += 1
                return found
            self.take(",")

    def string(self):
        self.take('"')
        out = []
        while True:
            plain = _PLAIN.match(self.text, self.at)
            out.append(plain.group())
            self.at = plain.end()
            mark = self.peek()
            self.at += 1
            if mark == '"':
                return "".join(out)
            if mark != "\\":
                raise Invalid("bad character in a string")
            out.append(self.escape())

    def escape(self):
        mark = self.peek()
        self.at += 1
        if mark in _ESCAPES and mark:
            return _ESCAPES[mark]
        if mark != "u":
            raise Invalid("bad escape")
        unit = self.unit()
        if 0xDC00 <= unit < 0xE000:
            raise Invalid("lone surrogate")
        if 0xD800 <= unit < 0xDC00:
            self.take("\\u")
            low = self.unit()
            if not 0xDC00 <= low < 0xE000:
                raise Invalid("lone surrogate")
            unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00)
        return chr(unit)

    def unit(self):
        found = re.compile(r"[0-9a-fA-F]{4}", re.ASCII).match(self.text, self.at)
        if not found:
            raise Invalid("bad unicode escape")
        self.at += 4
        return int(found.group(), 16)

    def number(self):
        found = _NUMBER.match(self.text, self.at)
        if not found:
            raise Invalid(f"no value at {self.at}")
        self.at = found.end()
        if found.group(1) or found.group(2):
            value = float(found.group())
            if value in (float("inf"), float("-inf")):
                raise Invalid("number too large")
            return value
        value = int(found.group())
        if not -(2**63) <= value < 2**64:
            raise Invalid("integer over 64 bits")
        return value
