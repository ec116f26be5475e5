// Cleared rows for a payout close, sorted: rows of the index of open amounts as they are stored.
#include <cstring>
#include <functional>
#include <utility>

#include "lmdb_store/ledger/reads.hpp"
#include "os/files/record_sorter.hpp"

namespace sluice::store {
namespace {

void throw_unless(const Status& status) {
    if (!status) {
        throw LedgerFailure(status.error());
    }
}

using KeySize = std::uint16_t;  ///< LMDB's keys end at 511 bytes.

class SortedRows final : public ClearedRows {
public:
    /// Reads a row from its stored key and value.
    using Decode =
        std::function<void(std::string_view key, std::string_view value, OpenAmount& row)>;

    SortedRows(const std::filesystem::path& folder, Decode decode)
        : sorter_(folder), decode_(std::move(decode)) {}

    void add(std::string_view sort_key, std::string_view key, std::string_view value) {
        const auto size = static_cast<KeySize>(key.size());
        bytes_.assign(reinterpret_cast<const char*>(&size), sizeof size);
        bytes_.append(key).append(value);
        throw_unless(sorter_.add(sort_key, bytes_));
    }

    void visit(const Visitor<OpenAmount>& visit) override {
        OpenAmount row;
        throw_unless(sorter_.visit([&](std::string_view bytes) {
            KeySize size = 0;
            std::memcpy(&size, bytes.data(), sizeof size);
            bytes.remove_prefix(sizeof size);
            decode_(bytes.substr(0, size), bytes.substr(size), row);
            return visit(row);
        }));
    }

private:
    RecordSorter sorter_;
    Decode decode_;
    std::string bytes_;
};

}  // namespace

std::unique_ptr<ClearedRows> Reads::cleared(AccountNumber account,
                                            std::span<const ClearedOf> programs) {
    auto sorted = std::make_unique<SortedRows>(
        rows_.folder(), [this](std::string_view key, std::string_view value, OpenAmount& row) {
            (void)decode_row(key, value, row);
        });
    scan_cleared(account, programs, [&](const std::string& sort_key, const OpenAmount& row) {
        CutTexts cut;
        const LedgerKey key = row_key(row, cut, node_.node);
        sorted->add(sort_key, key.view(), row_value_.encode(key.view(), cut, row));
    });
    return sorted;
}

}  // namespace sluice::store
