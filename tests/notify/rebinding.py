"""A name that changes its address, in a network of its own: `unshare --net --mount rebinding.py FOLDER STORE`.

The name has a public and a private address of this network. Prints as JSON the outcome of each request, and the number of packets to
the private address.
"""

import itertools
import json
import pathlib
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import paths  # noqa: E402
from harness.cli import Sluice  # noqa: E402
from harness.webhooks import Receiver  # noqa: E402

PUBLIC, PRIVATE, NAME = "93.184.216.34", "10.0.0.5", "hook.test"
A, IN = 1, 1


class Resolver:
    """Answers each question for the name's IPv4 addresses with the next list of them."""

    def __init__(self, lists):
        self.lists, self.asked = iter(lists), 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            question, asker = self.socket.recvfrom(4096)
            end = question.index(b"\0", 12) + 5
            (kind,) = struct.unpack("!H", question[end - 4:end - 2])
            addresses = next(self.lists) if kind == A else []
            self.asked += kind == A
            answers = b"".join(b"\xc0\x0c" + struct.pack("!HHIH", A, IN, 0, 4) + socket.inet_aton(one) for one in addresses)
            self.socket.sendto(question[:2] + struct.pack("!HHHHH", 0x8180, 1, len(addresses), 0, 0) + question[12:end] + answers,
                               asker)


class Sniffer:
    """Counts the packets to the private address."""

    def __init__(self):
        self.seen = 0
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.ntohs(0x0800))
        self.socket.bind(("lo", 0x0800))
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            self.seen += self.socket.recv(65536)[16:20] == socket.inet_aton(PRIVATE)


def set_up(folder):
    for command in ("ip link set lo up", f"ip address add {PUBLIC}/32 dev lo", f"ip address add {PRIVATE}/32 dev lo"):
        subprocess.run(command.split(), check=True)
    (folder / "resolv.conf").write_text("nameserver 127.0.0.1\noptions timeout:2 attempts:2\n")
    (folder / "nsswitch.conf").write_text("hosts: files dns\npasswd: files\ngroup: files\n")
    for name in ("resolv.conf", "nsswitch.conf"):
        subprocess.run(["mount", "--bind", folder / name, pathlib.Path("/etc", name).resolve()], check=True)


def main(folder, store):
    set_up(folder)
    sniffer, sluice = Sniffer(), Sluice(store)
    resolver = Resolver(itertools.cycle([[PUBLIC], [PRIVATE], [PRIVATE, PUBLIC]]))
    with Receiver(folder, address=PUBLIC) as receiver, socket.create_server((PRIVATE, receiver.port)) as inner:
        sluice("notify", "add", "erp", "--account", "acme", "--url", f"https://{NAME}:{receiver.port}/hook")
        asked_by_add = resolver.asked
        outcomes = []
        for _ in range(6):
            run = sluice.run("notify", "test", "erp", "--ca-file", receiver.certificate)
            outcomes.append([run.returncode, run.stdout + run.stderr])
        before = sniffer.seen
        socket.create_connection((PRIVATE, receiver.port)).close()  # the sniffer does see packets
        paths.wait_until(lambda: sniffer.seen > before, "a packet of the test's own")
        inner.settimeout(0.5)
        connected = 0
        while True:
            try:
                inner.accept()
                connected += 1
            except TimeoutError:
                break
        time.sleep(0.2)
        print(json.dumps({"asked_by_add": asked_by_add, "asked": resolver.asked, "outcomes": outcomes, "packets": before,
                          "connected": connected - 1, "received": len(receiver.requests)}))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:]))
