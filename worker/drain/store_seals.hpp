// Store seals: judges commands by the keys of stores (controls K5).
#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "core/commands/seal.hpp"
#include "core/values/result.hpp"

namespace sluice::worker {

/// The keys of the store whose queue is drained. A rotation is noticed by the first command that
/// the new key seals. Not thread-safe.
class StoreSeals final : public SealCheck {
public:
    explicit StoreSeals(std::filesystem::path file) : file_(std::move(file)) {}
    [[nodiscard]] Status load();

    std::optional<std::string> fault(const RecordMeta& meta, const Digest256& body_sha256,
                                     std::string_view queue_uuid, SequenceNumber seq) override;

private:
    std::filesystem::path file_;
    CommandKeys keys_;
};

/// The keys of several stores, for a replay of their archives. A command of a queue whose keys are
/// not among them keeps the verdict of its own worker, which is archived.
class ArchiveSeals final : public SealCheck {
public:
    /// Adds the keys of a file. @param queue_uuid  The queue whose keys they are, if it is known:
    /// then its commands need one of them.
    [[nodiscard]] Status add(const std::filesystem::path& file, const std::string& queue_uuid);
    /// Returns the queues with commands that could not be judged.
    [[nodiscard]] const std::set<std::string>& unknown_queues() const noexcept {
        return unknown_queues_;
    }

    [[nodiscard]] const CommandKeys& keys() const noexcept { return keys_; }

    std::optional<std::string> fault(const RecordMeta& meta, const Digest256& body_sha256,
                                     std::string_view queue_uuid, SequenceNumber seq) override;

private:
    CommandKeys keys_;
    std::string queue_uuid_;
    std::set<std::string> unknown_queues_;
};

}  // namespace sluice::worker
