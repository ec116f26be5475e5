"""Several threads at once, and one that asks again and again."""

import threading
import time

from harness import http1


def at_once(count, run):
    """Runs `run(index)` on so many threads and waits for all of them."""
    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class PlainProbe(threading.Thread):
    """Asks `/which`, a location of nginx alone, on new connections. Notes the longest time without an answer."""

    def __init__(self, edge):
        super().__init__(daemon=True)
        self.edge, self.ends = edge, threading.Event()
        self.answers, self.failures, self.gap = 0, [], 0.0

    def run(self):
        last = time.monotonic()
        while not self.ends.is_set():
            try:
                with http1.Connection(self.edge.port, 30) as connection:
                    assert connection.request("GET", "/which", []).status == 204
                self.answers += 1
                self.gap = max(self.gap, time.monotonic() - last)
                last = time.monotonic()
            except (OSError, AssertionError) as error:
                self.failures.append(repr(error))
            time.sleep(0.01)

    def end(self):
        self.ends.set()
        self.join()
        return {"plain_answers": self.answers, "failures": len(self.failures), "longest_gap_s": round(self.gap, 3)}
