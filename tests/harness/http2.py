"""HTTP/2 over cleartext with prior knowledge, many streams on one connection."""

import socket

import h2.config
import h2.connection
import h2.events

from harness import http1, paths


class Connection(http1.OwnsSocket):
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=paths.DEADLINE)
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
        self.h2.initiate_connection()
        self.answers = {}
        self.ended = set()
        self.reset = set()
        self.closed = False
        self._flush()

    def _flush(self):
        data = self.h2.data_to_send()
        if data:
            self.socket.sendall(data)

    def _receive(self):
        data = self.socket.recv(65536)
        if not data:
            self.closed = True
            return
        for event in self.h2.receive_data(data):
            stream = getattr(event, "stream_id", None)
            if isinstance(event, h2.events.ResponseReceived):
                headers = list(event.headers)
                status = int(dict(headers)[":status"])
                rest = [(name, value) for name, value in headers if not name.startswith(":")]
                self.answers[stream] = http1.Answer(status, rest, b"")
            elif isinstance(event, h2.events.DataReceived):
                self.answers[stream].body += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, stream)
            elif isinstance(event, h2.events.StreamEnded):
                self.ended.add(stream)
            elif isinstance(event, h2.events.StreamReset):
                self.reset.add(stream)
        self._flush()

    def open(self, method, target, headers, end=False):
        """Sends the head of a request: the stream's number."""
        stream = self.h2.get_next_available_stream_id()
        pseudo = [
            (":method", method),
            (":path", target),
            (":scheme", "http"),
            (":authority", "127.0.0.1"),
        ]
        lowered = [(name.lower(), value) for name, value in headers]
        self.h2.send_headers(stream, pseudo + lowered, end_stream=end)
        self._flush()
        return stream

    def send_body(self, stream, body, end=True):
        while body:
            room = min(
                self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size, len(body)
            )
            if room == 0:
                self._receive()
                if self.closed or stream in self.ended or stream in self.reset:
                    return
                continue
            self.h2.send_data(stream, body[:room], end_stream=end and room == len(body))
            body = body[room:]
            self._flush()

    def cancel(self, stream):
        self.h2.reset_stream(stream, error_code=8)
        self._flush()

    def read(self, stream):
        while stream not in self.ended:
            if self.closed or stream in self.reset:
                raise http1.Closed(f"stream {stream} ended without an answer")
            self._receive()
        return self.answers[stream]

    def request(self, method, target, headers, body=b""):
        stream = self.open(method, target, headers, end=not body)
        self.send_body(stream, body)
        return self.read(stream)
