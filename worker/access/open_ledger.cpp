#include "worker/access/open_ledger.hpp"

#include <sys/stat.h>

#include <utility>

#include "lmdb_store/ledger/ledger.hpp"

namespace sluice::cli {
namespace {

const store::EmbeddedLedger* embedded(const Ledger* ledger) noexcept {
    return dynamic_cast<const store::EmbeddedLedger*>(ledger);
}

}  // namespace

OpenLedger::Mark OpenLedger::mark() const noexcept {
    struct stat info {};
    if (::stat(url_file_.c_str(), &info) != 0) {
        return {};
    }
    return {static_cast<std::int64_t>(info.st_dev), static_cast<std::int64_t>(info.st_ino),
            info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

bool OpenLedger::refresh() {
    const Mark now = mark();  // before it is opened: a switch in between is seen the next time
    const auto* const own = embedded(ledger_.get());
    if (mark_ != now || (own != nullptr && !own->still_in_place())) {
        ledger_.reset();
    }
    if (ledger_) {
        return false;
    }
    mark_ = now;
    if (const Status opened = assign(ledger_, open_()); !opened.ok()) {
        throw LedgerFailure(opened.error());
    }
    return true;
}

bool OpenLedger::is_embedded() const noexcept {
    return embedded(ledger_.get()) != nullptr;
}

}  // namespace sluice::cli
