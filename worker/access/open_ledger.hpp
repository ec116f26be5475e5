// OpenLedger: a ledger that a process reads for long. It is opened again once it is no longer the
// store's: a restore or a rebuild replaced its files, or the store has another ledger since
// (`ledger copy --switch`, a worker with another `--ledger`). So no answer is an old one in place
// of a new one.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "core/ledger/ledger.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {

class OpenLedger {
public:
    /// @param open  Of ledger_for_reading(), which looks up the store's ledger each time.
    OpenLedger(worker::LedgerOpener open, const store::StorePaths& paths)
        : open_(std::move(open)), url_file_(ledger_url_file(paths)) {}

    /// Opens the ledger unless it is open, and the store's. Returns true if it opened it. Throws
    /// LedgerFailure.
    bool refresh();
    /// Requires: refresh().
    [[nodiscard]] Ledger& operator*() const noexcept { return *ledger_; }
    [[nodiscard]] Ledger* operator->() const noexcept { return ledger_.get(); }
    [[nodiscard]] bool is_open() const noexcept { return ledger_ != nullptr; }
    [[nodiscard]] bool is_embedded() const noexcept;
    void close() noexcept { ledger_.reset(); }

private:
    /// Device, number and time of the file that names the store's ledger; zeros without one.
    using Mark = std::array<std::int64_t, 4>;

    [[nodiscard]] Mark mark() const noexcept;

    worker::LedgerOpener open_;
    std::string url_file_;
    std::unique_ptr<Ledger> ledger_;
    Mark mark_{};
};

}  // namespace sluice::cli
