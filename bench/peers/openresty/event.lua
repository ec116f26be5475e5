-- Peer: nginx + Lua + Redis. Verifies, limits, validates, then XADD with appendfsync always.
local ffi = require "ffi"
local cjson = require "cjson.safe"

ffi.cdef [[
const void *EVP_sha256(void);
unsigned char *HMAC(const void *md, const void *key, int key_len, const unsigned char *d, size_t n,
                    unsigned char *out, unsigned int *out_len);
]]
local crypto = ffi.load("crypto")
local sha256 = crypto.EVP_sha256()
local out = ffi.new("unsigned char[32]")
local out_len = ffi.new("unsigned int[1]")

local M = { shops = {} }
local limit, length = 200000000, 60

local function hmac_hex(key, text)
    crypto.HMAC(sha256, key, #key, text, #text, out, out_len)
    local hex = {}
    for i = 0, 31 do
        hex[i + 1] = string.format("%02x", out[i])
    end
    return table.concat(hex)
end

-- Compares every byte, whatever the first difference is.
local function equal(a, b)
    if #a ~= #b then
        return false
    end
    local difference = 0
    for i = 1, #a do
        difference = bit.bor(difference, bit.bxor(a:byte(i), b:byte(i)))
    end
    return difference == 0
end

local function decimal(value)
    return type(value) == "string" and ngx.re.find(value, [[^[0-9]{1,15}(\.[0-9]{1,6})?$]], "jo") ~= nil
end

local function text(value)
    return type(value) == "string" and value ~= ""
end

local function valid(order)
    if type(order) ~= "table" or not text(order.platform_order_id) or not text(order.platform_ordered_at)
        or not decimal(order.amount) or not decimal(order.tax) or not decimal(order.shipping)
        or not text(order.currency_code) or type(order.line_items) ~= "table" or #order.line_items == 0 then
        return false
    end
    for _, line in ipairs(order.line_items) do
        if not text(line.line_item_id) or not text(line.sku) or not decimal(line.amount)
            or not decimal(line.tax) or not text(line.quantity) then
            return false
        end
    end
    return true
end

-- XADD over a kept-alive connection to Redis's unix socket.
local function store(shop, body)
    local socket = ngx.socket.tcp()
    if not socket:connect("unix:" .. M.redis) then
        return false
    end
    local command = "*7\r\n$4\r\nXADD\r\n$6\r\nevents\r\n$1\r\n*\r\n$4\r\nshop\r\n$" .. #shop .. "\r\n" .. shop
        .. "\r\n$4\r\nbody\r\n$" .. #body .. "\r\n" .. body .. "\r\n"
    if not socket:send(command) then
        return false
    end
    local kind = socket:receive("*l")
    if not kind or kind:sub(1, 1) ~= "$" then
        return false
    end
    if not socket:receive("*l") then
        return false
    end
    socket:setkeepalive(60000, 128)
    return true
end

function M.handle()
    ngx.req.read_body()
    local body = ngx.req.get_body_data() or ""
    local shop = ngx.var.http_x_svc_shop_id or ""
    local secret = M.shops[shop]
    if not secret or not equal(ngx.var.http_x_signature or "", hmac_hex(secret, body)) then
        ngx.status = 401
        ngx.header["Content-Length"] = 0
        return
    end
    local now = ngx.time()
    local start = now - now % length
    local used = ngx.shared.windows:incr(shop .. ":" .. start, 1, 0, length * 2)
    ngx.header["X-RateLimit-Limit"] = limit
    ngx.header["X-RateLimit-Remaining"] = math.max(limit - used, 0)
    ngx.header["X-RateLimit-Reset"] = start + length
    if used > limit then
        ngx.status = 429
        return
    end
    if not valid(cjson.decode(body)) then
        ngx.status = 400
        return
    end
    if not store(shop, body) then
        ngx.status = 503
        return
    end
    ngx.header["Content-Type"] = "text/plain"
    ngx.header["Content-Length"] = 7
    ngx.print("success")
end

return M
