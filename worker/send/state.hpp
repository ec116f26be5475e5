// Send state: which lines of an input file are settled (accepted, or rejected for good), kept
// beside the file so that an interrupted run can go on.
//
// It holds a digest of the settled lines, so that a file that was replaced meanwhile is never
// taken for the old one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "core/json/document.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/result.hpp"
#include "worker/send/source.hpp"

namespace sluice::cli {

/// Where the records go. Another target is another run.
struct SendTarget {
    std::string url;  ///< Of the endpoint.
    std::string shop;
    std::string topic;  ///< As given; may be empty.
    friend bool operator==(const SendTarget&, const SendTarget&) = default;
};

class SendState {
public:
    /// Reads `path` if it is there. kConflict: it belongs to another target. kCorrupt.
    [[nodiscard]] static Result<SendState> load(const std::string& path, const SendTarget& target);

    /// Of this run, kept when it goes on: idempotency keys are made from it.
    [[nodiscard]] const std::string& run_id() const noexcept { return run_id_; }
    /// Nothing is settled yet.
    [[nodiscard]] bool is_new() const noexcept { return upto_ == 0 && beyond_.empty(); }
    /// Reads the settled lines of `file` from its start. kConflict: a settled line has changed.
    /// Call before the first visit(), with a source that nothing else reads.
    [[nodiscard]] Status verify(RecordSource& file) const;

    /// Every record passes here once, in order of lines.
    /// @return true if it is settled already.
    [[nodiscard]] bool visit(const SendRecord& record);
    /// A record that was visited is accepted, or rejected for good.
    void settle(std::uint64_t line);
    /// Durable when it returns.
    [[nodiscard]] Status save() const;
    void remove() const noexcept;

private:
    struct Visited {
        Digest256 digest{};
        bool settled = false;
    };
    /// Reads what save() wrote. Returns false if it is anything else.
    [[nodiscard]] bool read(simdjson::dom::element object);
    void advance();

    std::string path_;
    SendTarget target_;
    std::string run_id_;
    std::uint64_t upto_ = 0;                     ///< All lines up to this one are settled, and
    Digest256 chain_{};                          ///< this is their digest.
    std::map<std::uint64_t, Digest256> beyond_;  ///< Settled later, not visited by this run yet.
    std::map<std::uint64_t, Visited> visited_;   ///< Above upto_.
};

}  // namespace sluice::cli
