#include "worker/copy/place.hpp"

#include <unistd.h>

#include <system_error>

namespace sluice::worker {

namespace fs = std::filesystem;

bool LedgerPlace::is(const LedgerPlace& other) const {
    if (url || other.url) {
        return url && other.url && url->shown() == other.url->shown();
    }
    std::error_code unknown;
    return folder == other.folder || fs::equivalent(folder, other.folder, unknown);
}

std::optional<store::StorePaths> LedgerPlace::store() const {
    if (url) {
        return std::nullopt;
    }
    const store::StorePaths paths(folder.parent_path());
    const bool is_store = ::access(paths.format.c_str(), F_OK) == 0;
    return is_store && paths.ledger.filename() == folder.filename()
               ? std::optional<store::StorePaths>(paths)
               : std::nullopt;
}

Result<LedgerPlace> parse_place(std::string_view text) {
    LedgerPlace place;
    if (pg::Url::is_one(text)) {
        auto url = pg::Url::parse(text);
        if (!url.ok()) {
            return url.error();
        }
        place.url = std::move(url).value();
        return place;
    }
    std::error_code failure;
    const fs::path whole = fs::absolute(fs::path(text), failure).lexically_normal();
    if (text.empty() || failure) {
        return Error{ErrorCode::kInvalid, "expected a folder, or postgres://..."};
    }
    place.folder = whole.has_filename() ? whole : whole.parent_path();
    return place;
}

}  // namespace sluice::worker
