// Paths of a creator's page below /c/ACCOUNT/v1/: the table from which requests are routed and
// parameters checked. Each takes a CreatorLedger, so no read of staff fits here.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/creators/creator_ledger.hpp"
#include "serve/read/http.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {

/// Answers to "Where is my order?" by cause. Any thread may count.
class FoundCounts {
public:
    void add(std::string_view cause);
    [[nodiscard]] std::map<std::string, std::uint64_t> all() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, std::uint64_t> counts_;
};

/// A checked request.
struct PageRequest {
    const Arguments& arguments;
    Timestamp now;
    bool is_behind;  ///< Inputs of this node wait.
    FoundCounts& found;
    std::string path;   ///< As it was sent, from the `/` on.
    std::string query;  ///< Name of the path, creator and parameters: what a cursor belongs to.
};

struct CreatorPath {
    std::string_view path;
    std::vector<Parameter> parameters;
    Answer (*read)(CreatorLedger&, const PageRequest&);
};

[[nodiscard]] const std::vector<CreatorPath>& creator_paths();
/// Returns nullptr if there is no such path.
[[nodiscard]] const CreatorPath* find_creator_path(std::string_view path);

/// Returns the answer of a path for the creator of `scope`. Throws ForeignRow, LedgerFailure.
/// @param request  Without its query.
[[nodiscard]] Answer answer_path(const CreatorPath& path, LedgerReader& ledger,
                                 const CreatorScope& scope, PageRequest request);

}  // namespace sluice::serve
