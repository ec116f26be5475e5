// Click record: the clicks of one request as the queue keeps them. docs/record-format.md has the
// JSON.
//
// A device is known by the digest of its id alone, so that no stored input has the id.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/protocol/signature.hpp"
#include "core/values/ids.hpp"
#include "core/values/name_table.hpp"
#include "core/values/parsed.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// How a click came in. Values are part of the ledger's format.
enum class ClickSource : std::uint8_t {
    kLink = 1,    ///< nginx served a link.
    kPost = 2,    ///< A server signed it.
    kImport = 3,  ///< `sluice click import`
};
template <>
inline constexpr NameTable<ClickSource, 3> kNamesOf<ClickSource>{{
    {ClickSource::kLink, "link"},
    {ClickSource::kPost, "post"},
    {ClickSource::kImport, "import"},
}};

inline constexpr std::size_t kClicksMax = 1000;  ///< In one record.

struct RecordedClick {
    Digest256 device{};  ///< As anon_digest() returns it; a pseudonym once the person is forgotten.
    Timestamp occurred_at;
    LinkId link{};  ///< May be empty, except of kLink.
    // The link has them: empty with kLink.
    ProgramId program;
    CreatorId creator;
};

struct ClickRecord {
    ClickSource source = ClickSource::kPost;  ///< Not kImport, which is a command.
    std::vector<RecordedClick> rows;          ///< 1 to kClicksMax.
};

[[nodiscard]] std::string encode_clicks(const ClickRecord& record);
/// Returns nothing if `body` is not what encode_clicks() writes. nginx can write any body, so each
/// value is checked.
[[nodiscard]] Parsed<ClickRecord> decode_clicks(std::string_view body);

}  // namespace sluice
