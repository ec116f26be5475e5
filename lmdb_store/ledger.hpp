// The embedded ledger: core/ledger.hpp on LMDB.
//
// One writer (whoever holds the worker's lock), any number of readers in other processes, which
// never wait. Every commit is durable (two syncs). The map grows by itself; a full disk is
// kNoSpace, and the same transaction succeeds once there is room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/ledger.hpp"
#include "core/result.hpp"
#include "core/signature.hpp"

namespace sluice::store {

struct LedgerFill {
    std::uint64_t bytes_used = 0;  ///< Of the file; pages that are free again count.
    std::uint64_t bytes_map = 0;
};

class EmbeddedLedger : public Ledger {
public:
    enum class Mode : std::uint8_t { kReadOnly, kReadWrite };

    /// kNotFound, kPermission, kCorrupt (missing, empty or short files; names the path),
    /// kUnsupported.
    /// @param map_bytes_first  Where the map begins to grow from; it doubles. Sparse.
    [[nodiscard]] static Result<std::unique_ptr<EmbeddedLedger>> open(
        const std::filesystem::path& folder, Mode mode,
        std::uint64_t map_bytes_first = std::uint64_t{1} << 30);
    /// Makes an empty ledger in an existing, empty folder (`sluice ledger rebuild`).
    [[nodiscard]] static Status create(const std::filesystem::path& folder);

    [[nodiscard]] virtual LedgerFill fill() const = 0;
    /// Frees the slots of readers that died. Returns how many.
    virtual int clear_stale_readers() noexcept = 0;
    /// False once the files below the path are no longer the ones that were opened.
    [[nodiscard]] virtual bool still_in_place() const noexcept = 0;

    /// Every row of every table, in the order of table names and keys: the canonical dump. Equal
    /// ledgers give equal rows. Streams; false ends it. Throws LedgerFailure.
    using RowVisitor =
        std::function<bool(std::string_view table, std::string_view key, std::string_view value)>;
    virtual void dump(const RowVisitor& visit) = 0;
};

/// SHA-256 over the canonical dump.
[[nodiscard]] Digest256 ledger_digest(EmbeddedLedger& ledger);

}  // namespace sluice::store
