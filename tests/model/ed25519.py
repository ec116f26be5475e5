"""Ed25519, written from RFC 8032, section 5.1: slow, and without any other library."""

import hashlib

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)  # of -1


def add(a, b):
    """Points are (X, Y, Z, T) with x = X/Z, y = Y/Z and x*y = T/Z."""
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, point):
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = add(result, point)
        point, number = add(point, point), number >> 1
    return result


def x_of(y, sign):
    """None: there is no point with this y."""
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * ROOT % P
    if (x * x - square) % P or y >= P or (x == 0 and sign):
        return None
    return P - x if x & 1 != sign else x


def packed(point):
    inverse = pow(point[2], -1, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def unpacked(data):
    number = int.from_bytes(data, "little")
    y, sign = number & (2**255 - 1), number >> 255
    x = x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % P)


Y = 4 * pow(5, -1, P) % P
BASE = (x_of(Y, 0), Y, 1, x_of(Y, 0) * Y % P)


def hashed(*parts):
    return int.from_bytes(hashlib.sha512(b"".join(parts)).digest(), "little")


def expanded(secret):
    digest = hashlib.sha512(secret).digest()
    number = int.from_bytes(digest[:32], "little") & ~7 & (2**254 - 1) | 2**254
    return number, digest[32:]


def public_key(secret):
    return packed(times(expanded(secret)[0], BASE))


def sign(secret, message):
    number, prefix = expanded(secret)
    own = packed(times(number, BASE))
    nonce = hashed(prefix, message) % ORDER
    first = packed(times(nonce, BASE))
    second = (nonce + hashed(first, own, message) * number) % ORDER
    return first + second.to_bytes(32, "little")


def is_signed(public, message, signature):
    key, first = unpacked(public), unpacked(signature[:32])
    second = int.from_bytes(signature[32:], "little")
    if key is None or first is None or second >= ORDER or len(signature) != 64:
        return False
    wanted = add(first, times(hashed(signature[:32], public, message), key))
    found = times(second, BASE)
    return not ((found[0] * wanted[2] - wanted[0] * found[2]) % P or (found[1] * wanted[2] - wanted[1] * found[2]) % P)
