#include "worker/drain/ledger_opener.hpp"

#include <utility>

#include "lmdb_store/ledger/ledger.hpp"

namespace sluice::worker {

LedgerOpener embedded_ledger(const store::StorePaths& paths) {
    return [folder = paths.ledger]() -> Result<std::unique_ptr<Ledger>> {
        auto opened = store::EmbeddedLedger::open(folder, store::EmbeddedLedger::Mode::kReadWrite);
        if (!opened) {
            return opened.error();
        }
        return std::unique_ptr<Ledger>(std::move(*opened));
    };
}

}  // namespace sluice::worker
