#include "lmdb_store/rows/row_delta.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sluice::store {
namespace {

/// Shorter copies take as many bytes as they save.
constexpr std::size_t kCopyBytesMin = 8;

std::uint64_t word_at(const char* bytes) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    return word;
}

std::size_t slot_of(std::uint64_t word, std::size_t slots) noexcept {
    constexpr std::uint64_t kOdd = 0x9E37'79B9'7F4A'7C15;
    return static_cast<std::size_t>((word * kOdd) >> 32) & (slots - 1);
}

std::size_t equal_bytes(std::string_view a, std::string_view b) noexcept {
    const auto end = std::mismatch(
        a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
        b.begin());
    return static_cast<std::size_t>(end.first - a.begin());
}

}  // namespace

void DeltaWriter::index(std::string_view base) {
    places_.assign(std::bit_ceil(2 * base.size() + 1), 0);
    for (std::size_t at = base.size(); at-- > 0;) {
        if (base.size() - at >= kCopyBytesMin) {
            places_[slot_of(word_at(base.data() + at), places_.size())] =
                static_cast<std::uint32_t>(at + 1);
        }
    }
}

/// Finds a copy for the beginning of `rest`, of no bytes if there is none.
/// @param likely  The place in `base` after the last copy.
DeltaWriter::Piece DeltaWriter::longest(std::string_view base, std::string_view rest,
                                        std::size_t likely) {
    Piece best;
    const auto consider = [&](std::size_t from) {
        const std::size_t bytes = equal_bytes(base.substr(from), rest);
        if (bytes > best.bytes) {
            best.from = from;
            best.bytes = bytes;
        }
    };
    consider(std::min(likely, base.size()));
    if (rest.size() >= kCopyBytesMin) {
        if (const auto place = places_[slot_of(word_at(rest.data()), places_.size())]; place != 0) {
            consider(place - 1);
        }
    }
    return best.bytes >= kCopyBytesMin ? best : Piece{};
}

void DeltaWriter::write(FieldWriter& fields, std::string_view base, std::string_view next) {
    index(base);
    pieces_.clear();
    std::size_t begin = 0, likely = 0;
    for (std::size_t at = 0; at < next.size();) {
        Piece piece = longest(base, next.substr(at), likely);
        if (piece.bytes == 0) {
            ++at;
            ++likely;  // a byte was mostly replaced by another one
            continue;
        }
        piece.added = next.substr(begin, at - begin);
        at += piece.bytes;
        begin = at;
        likely = piece.from + piece.bytes;
        pieces_.push_back(piece);
    }
    if (begin < next.size()) {
        pieces_.push_back({next.substr(begin)});
    }
    fields.each(pieces_, [&](const Piece& piece) {
        fields.text(piece.added);
        fields.number(piece.from);
        fields.number(piece.bytes);
    });
}

bool read_delta(FieldReader& fields, std::string_view base, std::string& next) {
    next.clear();
    for (std::uint64_t pieces = fields.number(); pieces != 0 && fields.ok(); --pieces) {
        const std::string_view added = fields.text();
        const std::uint64_t from = fields.number();
        const std::uint64_t bytes = fields.number();
        if (from > base.size() || bytes > base.size() - from ||
            next.size() + added.size() + bytes > kDeltaOfBytesMax) {
            fields.fail();
            return false;
        }
        next.append(added).append(base.substr(from, bytes));
    }
    return fields.complete();
}

}  // namespace sluice::store
