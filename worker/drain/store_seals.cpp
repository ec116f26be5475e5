#include "worker/drain/store_seals.hpp"

#include "core/ledger/failure.hpp"
#include "lmdb_store/store/command_key.hpp"

namespace sluice::worker {

using Verdict = CommandKeys::Verdict;

Status StoreSeals::load() {
    const auto held = store::HeldCommandKeys::load(file_);
    if (!held) {
        return held.error();
    }
    keys_ = held->keys();
    return {};
}

std::optional<std::string> StoreSeals::fault(const RecordMeta& meta, const Digest256& body_sha256,
                                             std::string_view queue_uuid, SequenceNumber seq) {
    Verdict verdict = keys_.verify(meta, body_sha256, queue_uuid, seq);
    // The keys may have been replaced since they were read.
    if (verdict == Verdict::kUnknownKey || verdict == Verdict::kValid) {
        if (Status loaded = load(); !loaded) {
            throw LedgerFailure(loaded.error());
        }
        verdict = keys_.verify(meta, body_sha256, queue_uuid, seq);
    }
    return verdict == Verdict::kValid ? std::nullopt : std::optional(seal_fault(verdict));
}

Status ArchiveSeals::add(const std::filesystem::path& file, const std::string& queue_uuid) {
    const auto held = store::HeldCommandKeys::load(file);
    if (!held) {
        return held.error();
    }
    keys_.append(held->keys());
    queue_uuid_ = queue_uuid.empty() ? queue_uuid_ : queue_uuid;
    return {};
}

std::optional<std::string> ArchiveSeals::fault(const RecordMeta& meta, const Digest256& body_sha256,
                                               std::string_view queue_uuid, SequenceNumber seq) {
    const Verdict verdict = keys_.verify(meta, body_sha256, queue_uuid, seq);
    if (verdict == Verdict::kUnknownKey && queue_uuid != queue_uuid_) {
        unknown_queues_.emplace(queue_uuid);
        return std::nullopt;
    }
    return verdict == Verdict::kValid ? std::nullopt : std::optional(seal_fault(verdict));
}

}  // namespace sluice::worker
