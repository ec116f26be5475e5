"""Nodes with network namespaces of their own, behind one bridge.

A namespace lives as long as the process that holds it: when a test is killed, all of it goes.
"""

import os
import subprocess

from harness import paths

BRIDGE_ADDRESS = "10.99.0.1"
SUBNET = "10.99.0.0/24"


def missing():
    """Why there can be no namespaces here; None if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "nsenter", "unshare", "setpriv", "iptables"):
        if subprocess.run(["which", tool], capture_output=True, check=False).returncode != 0:
            return f"no {tool}: scripts/install-deps more installs iproute2, iptables and util-linux"
    try:
        Network([]).close()
    except (AssertionError, OSError) as why:
        return f"the kernel gives no network namespaces or bridges here: {why}"
    return None


class Network:
    """@param names  Of the nodes; node number n has the address 10.99.0.(10 + n)."""

    def __init__(self, names):
        self.holders, self.numbers = {}, {name: 10 + number for number, name in enumerate(names)}
        try:
            self._hold("hub")
            self._ip("hub", "link", "set", "lo", "up")
            self._ip("hub", "link", "add", "br0", "type", "bridge", "forward_delay", "0")
            self._ip("hub", "address", "add", f"{BRIDGE_ADDRESS}/24", "dev", "br0")
            self._ip("hub", "link", "set", "br0", "up")
            for number, name in enumerate(names):
                self._attach(name, number)
        except BaseException:
            self.close()
            raise

    def _hold(self, name):
        self.holders[name] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", "infinity"]
        )
        own = os.readlink("/proc/self/ns/net")
        path = f"/proc/{self.holders[name].pid}/ns/net"
        paths.wait_until(lambda: os.readlink(path) != own, "a network namespace")

    def _attach(self, name, number):
        self._hold(name)
        pid = str(self.holders[name].pid)
        self._ip("hub", "link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", pid)
        self._ip("hub", "link", "set", name, "master", "br0", "up")
        self._ip(name, "link", "set", "lo", "up")
        self._ip(name, "address", "add", f"10.99.0.{10 + number}/24", "dev", "eth0")
        self._ip(name, "link", "set", "eth0", "up")

    def address(self, name):
        return f"10.99.0.{self.numbers[name]}"

    def inside(self, name):
        """Words in front of a command that run it in a namespace; the pid stays the command's."""
        return ["nsenter", f"--net=/proc/{self.holders[name].pid}/ns/net"]

    def _ip(self, name, *words):
        self._run(name, "ip", *words)

    def _run(self, name, *words):
        done = subprocess.run(
            [*self.inside(name), *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}: {done.stderr.strip()}"

    def cut(self, name):
        """From now on what the node sends and what is sent to it is lost."""
        self._ip("hub", "link", "set", name, "down")

    def heal(self, name):
        self._ip("hub", "link", "set", name, "up")

    def drop(self, name):
        """The node is silent from now on: what reaches it, and what it sends, is dropped."""
        for chain in ("INPUT", "OUTPUT"):
            self._run(name, "iptables", "-I", chain, "-i" if chain == "INPUT" else "-o", "eth0",
                      "-j", "DROP")

    def drop_between(self, name, other):
        """These two hear nothing of each other any more."""
        for chain, flag in (("INPUT", "-s"), ("OUTPUT", "-d")):
            self._run(name, "iptables", "-I", chain, flag, self.address(other), "-j", "DROP")

    def heal_drop(self, name):
        self._run(name, "iptables", "-F")

    def close(self):
        for holder in self.holders.values():
            holder.kill()
            holder.wait()
        self.holders = {}
