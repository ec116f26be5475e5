#!/usr/bin/env bash
# lua-cjson 2.1.0 (Debian 12: 2.1.0+dfsg-2.2), lua-dkjson 2.6-2 and lua-json 1.3.4-2, with Lua 5.1.5-9.
#
# Input: parts of an order as JSON, decoded and encoded again, as a handler in nginx or a proxy does.
# Behaviour: all three write fourteen digits of a number, so an id of sixteen digits, which floating point
# holds and JavaScript keeps, becomes another one with an exponent. lua-cjson makes an object of an empty
# list, and lua-dkjson leaves out what is null. Amounts as texts stay. So pass on the text that came.
# Seen: the lines of $expected.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get download -qq lua5.1=5.1.5-9 liblua5.1-0=5.1.5-9 lua-cjson=2.1.0+dfsg-2.2 lua-dkjson=2.6-2 lua-json=1.3.4-2 lua-lpeg=1.0.2-2 >&2
for package in ./*.deb; do dpkg-deb -x "$package" root; done
cat > run.lua <<'LUA'
for _, name in ipairs({'cjson', 'dkjson', 'json'}) do
    local library = require(name)
    local copies = {}
    for _, order in ipairs({'{"id":1234567890123456}', '{"refunds":[]}', '{"cancelled_at":null}', '{"amount":"19.90"}'}) do
        copies[#copies + 1] = library.encode((library.decode(order)))
    end
    print(name .. ': ' .. table.concat(copies, ' '))
end
LUA
expected='cjson: {"id":1.2345678901235e+15} {"refunds":{}} {"cancelled_at":null} {"amount":"19.90"}
dkjson: {"id":1.2345678901235e+15} {"refunds":[]} {} {"amount":"19.90"}
json: {"id":1.2345678901235e+15} {"refunds":[]} {"cancelled_at":null} {"amount":"19.90"}'
export LD_LIBRARY_PATH=root/usr/lib/x86_64-linux-gnu
export LUA_CPATH='root/usr/lib/x86_64-linux-gnu/lua/5.1/?.so' LUA_PATH='root/usr/share/lua/5.1/?.lua;root/usr/share/lua/5.1/?/init.lua'
found=$(timeout 60 root/usr/bin/lua5.1 run.lua)
printf '%s\n' "$found"
if [ "$found" != "$expected" ]; then
    echo "changed"
    exit 1
fi
echo "as seen"
