"""Exact values: decimals as fractions, instants as nanoseconds, currencies and their digits."""

import datetime
import re
from fractions import Fraction

DAY = 86400 * 10**9
_MINOR = {
    **dict.fromkeys(
        "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split(), 0
    ),
    **dict.fromkeys("BHD IQD JOD KWD LYD OMR TND".split(), 3),
    **dict.fromkeys("CLF UYW".split(), 4),
}
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)?", re.ASCII
)


def digits(currency):
    return _MINOR.get(currency, 2)


def scale(text):
    return len(text.partition(".")[2])


def half_even(value, places):
    """The fraction rounded to `places` digits after the point."""
    shifted = value * 10**places
    whole, rest = divmod(shifted.numerator, shifted.denominator)
    twice = 2 * rest
    if twice > shifted.denominator or (twice == shifted.denominator and whole % 2):
        whole += 1
    return Fraction(whole, 10**places)


def text(value, places):
    """A fraction that has at most `places` digits, written with exactly so many."""
    shifted = value * 10**places
    assert shifted.denominator == 1, value
    sign = "-" if shifted < 0 else ""
    number = str(abs(shifted.numerator)).rjust(places + 1, "0")
    return sign + (f"{number[:-places]}.{number[-places:]}" if places else number)


def instant(given):
    """Nanoseconds since the epoch of an RFC 3339 time; ValueError if it is none."""
    found = _TIME.fullmatch(given)
    if not found:
        raise ValueError(given)
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction, zone = found.group(7) or "", found.group(8) or "Z"
    if hour > 23 or minute > 59 or second > 60:
        raise ValueError(given)
    offset = 0
    if zone not in "Zz":
        if int(zone[1:3]) > 23 or int(zone[4:6]) > 59:
            raise ValueError(given)
        offset = (int(zone[1:3]) * 60 + int(zone[4:6])) * (-1 if zone[0] == "-" else 1)
    days = datetime.date(year, month, day).toordinal() - _EPOCH
    seconds = days * 86400 + hour * 3600 + minute * 60 + second - offset * 60
    if second == 60 and seconds % 86400 != 0:
        raise ValueError(given)
    return seconds * 10**9 + int(fraction.ljust(9, "0"))


def time_text(nanoseconds):
    """YYYY-MM-DDTHH:MM:SS[.fraction]Z without trailing zeros in the fraction."""
    seconds, fraction = divmod(nanoseconds, 10**9)
    days, rest = divmod(seconds, 86400)
    date = datetime.date.fromordinal(days + _EPOCH).isoformat()
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    tail = f".{fraction:09}".rstrip("0") if fraction else ""
    return f"{date}T{clock}{tail}Z"
