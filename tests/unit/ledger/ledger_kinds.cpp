// The kinds of ledger that the rules are held against.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "lmdb_store/ledger.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/memory_ledger.hpp"

namespace sluice::test {
namespace {

/// In memory where the machine has such a place: these tests are about rules, not about disks.
std::filesystem::path new_folder() {
    static std::atomic<unsigned> count{0};
    const std::filesystem::path memory("/dev/shm");
    const std::filesystem::path folder =
        (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
        ("sluice-ledger-" + std::to_string(::getpid()) + "-" + std::to_string(++count));
    std::filesystem::create_directory(folder);
    return folder;
}

/// The embedded ledger in a folder of its own, which goes with it.
class TemporaryLedger final : public Ledger {
public:
    TemporaryLedger() : folder_(new_folder()) {
        if (Status created = store::EmbeddedLedger::create(folder_); !created) {
            throw std::runtime_error(created.error().message);
        }
        auto opened = store::EmbeddedLedger::open(folder_, store::EmbeddedLedger::Mode::kReadWrite);
        if (!opened) {
            throw std::runtime_error(opened.error().message);
        }
        ledger_ = std::move(*opened);
    }
    ~TemporaryLedger() override {
        ledger_.reset();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    TemporaryLedger(const TemporaryLedger&) = delete;
    TemporaryLedger& operator=(const TemporaryLedger&) = delete;

    std::unique_ptr<LedgerTxn> begin(std::string_view node) override {
        return ledger_->begin(node);
    }
    std::unique_ptr<LedgerReader> snapshot(std::string_view node) override {
        return ledger_->snapshot(node);
    }

private:
    std::filesystem::path folder_;
    std::unique_ptr<store::EmbeddedLedger> ledger_;
};

}  // namespace

const std::vector<LedgerKind>& ledger_kinds() {
    static const std::vector<LedgerKind> kinds{
        {"Memory", [] { return std::make_unique<MemoryLedger>(); }},
        {"Embedded", [] { return std::make_unique<TemporaryLedger>(); }},
    };
    return kinds;
}

}  // namespace sluice::test
