// The values of every table but the orders'. Inner header of the room.
//
// encode(): valid until the next call. decode(): false means damaged; what the key holds (numbers,
// ids that it did not cut) must already be in the row, and a cut id that differs from the row's
// is damage too.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "lmdb_store/ledger/value.hpp"

namespace sluice::store {

/// A head and the ledger's own number of its queue.
struct NodeHead {
    std::uint32_t node = 0;
    LedgerHead head;
};

/// A journal group and the number of the queue whose input made it.
struct StoredGroup {
    std::uint32_t node = 0;
    JournalGroup group;
};

/// Reusable; keeps its buffers. One per transaction.
class RowValue {
public:
    [[nodiscard]] std::string_view encode_event(const OrderKey& order, const EventTrace& event);
    [[nodiscard]] std::string_view encode(const JournalGroup& group, std::uint32_t node);
    [[nodiscard]] std::string_view encode(const RefundOwner& owner);
    [[nodiscard]] std::string_view encode(const Anomaly& anomaly);
    [[nodiscard]] std::string_view encode(const Balance& balance);
    /// Empty unless the key had to cut the id.
    [[nodiscard]] std::string_view encode(const OpenAmount& open);
    [[nodiscard]] std::string_view encode(const CodeRow& code);
    [[nodiscard]] std::string_view encode(const Membership& membership);
    [[nodiscard]] std::string_view encode(const Touch& touch);
    /// Empty unless the key had to cut the id.
    [[nodiscard]] std::string_view encode(const WaitingOrder& waiting);
    [[nodiscard]] std::string_view encode_variant(const ProductId& product);
    [[nodiscard]] std::string_view encode(const ProgramRow& row);
    [[nodiscard]] std::string_view encode(const CatalogRecord& record);
    [[nodiscard]] std::string_view encode(const ShopRow& row);
    [[nodiscard]] std::string_view encode(const Payout& payout);
    [[nodiscard]] std::string_view encode(const CommandRow& row);
    [[nodiscard]] std::string_view encode(const DeadLetter& letter);
    [[nodiscard]] std::string_view encode(const Work& work);
    [[nodiscard]] std::string_view encode(const ChainHead& chain);
    [[nodiscard]] std::string_view encode(const NodeHead& head);

    [[nodiscard]] bool decode_event(std::string_view value, OrderKey& order, EventTrace& event);
    [[nodiscard]] bool decode(std::string_view value, StoredGroup& stored);
    [[nodiscard]] bool decode(std::string_view value, RefundOwner& owner);
    [[nodiscard]] bool decode(std::string_view value, Anomaly& anomaly);
    [[nodiscard]] bool decode(std::string_view value, Balance& balance);
    /// Creator and amount are the order's.
    [[nodiscard]] bool decode(std::string_view value, OpenAmount& open);
    [[nodiscard]] bool decode(std::string_view value, CodeRow& code);
    [[nodiscard]] bool decode(std::string_view value, Membership& membership);
    [[nodiscard]] bool decode(std::string_view value, Touch& touch);
    [[nodiscard]] bool decode(std::string_view value, WaitingOrder& waiting);
    [[nodiscard]] bool decode_variant(std::string_view value, ProductId& product);
    [[nodiscard]] bool decode(std::string_view value, ProgramRow& row);
    [[nodiscard]] bool decode(std::string_view value, CatalogRecord& record);
    [[nodiscard]] bool decode(std::string_view value, ShopRow& row);
    [[nodiscard]] bool decode(std::string_view value, Payout& payout);
    [[nodiscard]] bool decode(std::string_view value, CommandRow& row);
    [[nodiscard]] bool decode(std::string_view value, DeadLetter& letter);
    [[nodiscard]] bool decode(std::string_view value, Work& work);
    [[nodiscard]] bool decode(std::string_view value, ChainHead& chain);
    [[nodiscard]] bool decode(std::string_view value, NodeHead& head);

private:
    template <class Table>
    std::string_view finish(flatbuffers::Offset<Table> root) {
        builder_.Finish(root);
        return finished(builder_);
    }
    flatbuffers::Offset<flatbuffers::String> text(std::string_view text) {
        return builder_.CreateString(text.data(), text.size());
    }
    flatbuffers::Offset<flatbuffers::String> cut_id(std::string_view id, std::size_t whole_max);
    flatbuffers::Offset<fbs::Rate> rate(const Rate& rate);

    flatbuffers::FlatBufferBuilder builder_{1024};
    WideDecimals wides_;
    std::vector<std::uint8_t> text_;
    std::vector<fbs::JournalLine> lines_;
    AlignedCopy copy_;
};

}  // namespace sluice::store
