#!/usr/bin/env bash
# pugixml 1.13 (Debian 12: libpugixml-dev 1.13-0.2), parsing with default options.
#
# Input: two documents one after the other, each with an XML declaration, and words between them.
# Behaviour: XML allows one root element, and no text beside it. pugixml reports success, keeps both
# elements as children of the document, and drops the words. So a parse that succeeds does not mean
# one document: who calls document_element() reads the first and never learns of the second. A file
# that is cut between the two is well-formed for it as well.
# Seen: ok=1 roots=2 text=0
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq libpugixml-dev=1.13-0.2 libpugixml1v5=1.13-0.2 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > probe.cc <<'CPP'
#include <cstdio>
#include <pugixml.hpp>
int main() {
    pugi::xml_document document;
    const bool ok = document.load_string("<?xml version='1.0'?><a/> words <?xml version='1.0'?><b/>");
    int roots = 0, texts = 0;
    for (const pugi::xml_node node : document.children()) {
        roots += node.type() == pugi::node_element;
        texts += node.type() == pugi::node_pcdata;
    }
    std::printf("ok=%d roots=%d text=%d\n", ok, roots, texts);
}
CPP
library=$(find root -name 'libpugixml.so.1.13')
g++ -I root/usr/include probe.cc "$library" -o probe
found=$(LD_LIBRARY_PATH=$(dirname "$library") ./probe)
if [ "$found" != 'ok=1 roots=2 text=0' ]; then
    echo "changed: $found"
    exit 1
fi
echo "as seen"
