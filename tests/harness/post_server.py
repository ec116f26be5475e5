"""An HTTP server on a thread, for programs that send POST requests."""

import http.server
import ssl
import threading


class PostServer:
    """Calls `respond(path, headers, body, connection)` for each request, on a thread of its connection. It returns status,
    headers and text, or None if it wrote to the connection itself, which then ends."""

    def __init__(self, respond, address="127.0.0.1", certificate=None):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = respond(self.path, self.headers, body, self.connection)
                if answer is None:
                    self.close_connection = True
                    return
                status, headers, text = answer
                data = text.encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(data)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):  # clients that are killed or refuse the certificate
                pass

        self.server = Server((address, 0), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
