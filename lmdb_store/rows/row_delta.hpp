// Row delta: the bytes of a value, told as copies from an earlier value of the same row, and what
// is new between them. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lmdb_store/rows/field_reader.hpp"
#include "lmdb_store/rows/field_writer.hpp"

namespace sluice::store {

/// A longer value has no delta, so that the memory of one has a bound.
inline constexpr std::size_t kDeltaOfBytesMax = std::size_t{64} << 10;

/// Reusable; keeps its buffers. One thread at a time.
class DeltaWriter {
public:
    /// Writes the fields that make `next` of `base`. Any two values have a delta; it is short if
    /// they share long pieces. Requires: both have at most kDeltaOfBytesMax bytes.
    void write(FieldWriter& fields, std::string_view base, std::string_view next);

private:
    struct Piece {
        std::string_view added;  ///< Comes before the copy.
        std::size_t from = 0, bytes = 0;
    };

    void index(std::string_view base);
    [[nodiscard]] Piece longest(std::string_view base, std::string_view rest, std::size_t likely);

    std::vector<std::uint32_t> places_;  ///< By hash of the bytes there; counted from 1.
    std::vector<Piece> pieces_;
};

/// Reads what DeltaWriter wrote, and makes the value. Returns false if the fields make none.
[[nodiscard]] bool read_delta(FieldReader& fields, std::string_view base, std::string& next);

}  // namespace sluice::store
