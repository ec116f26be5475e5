// The embedded ledger: core/ledger/ledger.hpp on LMDB.
//
// One writer (the holder of the worker lock), and any number of readers in other processes, which
// never wait. Every commit is durable (two syncs). The map grows by itself. A full disk is
// kNoSpace, and the same transaction succeeds once there is space.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/copy/row_sink.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/ledger/dump.hpp"

namespace sluice::store {

struct LedgerSize {
    std::uint64_t bytes_to_last_page = 0;  ///< Pages up to the last one, free ones included.
    std::uint64_t bytes_map = 0;
};

/// One state, read in two ways.
struct WholeState {
    std::unique_ptr<WholeReader> reader;
    std::unique_ptr<LedgerRows> rows;
};

class EmbeddedLedger : public Ledger {
public:
    /// kTemporary: commits are not durable. For a ledger that is thrown away.
    /// kUnfinished: they are not before finish(). For a ledger with the mark of create().
    enum class Mode : std::uint8_t { kReadOnly, kReadWrite, kTemporary, kUnfinished };

    /// Opens a ledger. Returns kNotFound, kPermission, kCorrupt (missing, empty or short files;
    /// names the path) or kUnsupported.
    /// @param map_bytes_first  The map's first size, from which it doubles. Sparse.
    [[nodiscard]] static Result<std::unique_ptr<EmbeddedLedger>> open(
        const std::filesystem::path& folder, Mode mode,
        std::uint64_t map_bytes_first = std::uint64_t{1} << 30);
    /// Creates an empty ledger in an existing, empty folder (`sluice ledger rebuild`).
    /// @param unfinished  The archives of a rebuild, as a mark: open() refuses the ledger until
    /// finish(), because the loss of power before may damage it. Empty for none.
    [[nodiscard]] static Status create(const std::filesystem::path& folder,
                                       std::string_view unfinished = {});
    /// Makes what was committed durable, and removes the mark. Commits are durable from then on.
    /// Throws LedgerFailure.
    virtual void finish() = 0;

    [[nodiscard]] virtual LedgerSize size() const = 0;
    /// Frees the slots of readers that died, and returns how many.
    virtual int clear_stale_readers() noexcept = 0;
    /// Returns false once the files at the path are no longer the ones that were opened.
    [[nodiscard]] virtual bool still_in_place() const noexcept = 0;

    /// Returns a reader of all nodes.
    [[nodiscard]] virtual std::unique_ptr<WholeReader> whole_snapshot() = 0;
    [[nodiscard]] virtual std::unique_ptr<LedgerRows> rows(std::string_view node) = 0;
    [[nodiscard]] virtual WholeState whole_state() = 0;
    /// Reads every row and checks the invariants: no row is damaged, and every index leads to all
    /// of its rows. Returns a sentence for each fault, at most `problems_max`. Throws LedgerFailure
    /// if the ledger cannot be read.
    [[nodiscard]] virtual std::vector<std::string> verify(std::string_view node,
                                                          std::size_t problems_max) = 0;
};

}  // namespace sluice::store
