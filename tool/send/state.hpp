// Send state: which lines of an input file are settled (accepted, or finally rejected), kept in a
// file next to it so that an interrupted run can resume.
//
// It holds a digest of the settled lines, so that a replaced file is never mistaken for the old
// one.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "core/json/document.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/result.hpp"
#include "tool/send/source.hpp"

namespace sluice::cli {

/// Where the records go. Another target is another run.
struct SendTarget {
    std::string url;  ///< URL of the endpoint.
    std::string shop;
    std::string topic;  ///< As given; may be empty.
    friend bool operator==(const SendTarget&, const SendTarget&) = default;
};

class SendState {
public:
    /// Reads `path` if it exists. Returns kConflict if it belongs to another target, or kCorrupt.
    [[nodiscard]] static Result<SendState> load(const std::string& path, const SendTarget& target);

    /// Returns the id of this run, which survives an interruption. Idempotency keys derive from it.
    [[nodiscard]] const std::string& run_id() const noexcept { return run_id_; }
    /// Returns true if nothing is settled yet.
    [[nodiscard]] bool is_new() const noexcept { return upto_ == 0 && beyond_.empty(); }
    /// Reads the settled lines of `file` from its start. Returns kConflict if one has changed. Call
    /// before the first visit(), with a source that nothing else reads.
    [[nodiscard]] Status verify(RecordFile& file) const;

    /// Call for every record once, in order of lines.
    /// @return true if it is settled already.
    [[nodiscard]] bool visit(const SendRecord& record);
    /// Notes that a visited record is accepted, or finally rejected.
    void settle(std::uint64_t line);
    /// Makes the state durable.
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
