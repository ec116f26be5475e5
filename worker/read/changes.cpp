// The change feed.
#include "core/reports/changes.hpp"

#include "worker/read/cursor.hpp"
#include "worker/read/lists.hpp"
#include "worker/read/masks.hpp"

namespace sluice::serve {

Answer list_changes(Read& read) {
    constexpr std::size_t kBytes = kAnswerBytesMax / 2;  // sizes of JSON are estimates
    const reports::Changes found = reports::changes_after(
        read.ledger, read.grant.account,
        read.after ? feed_place(*read.after) : reports::FeedPlace{}, read.limit(), kBytes);
    if (found.diverged) {
        refuse("cursor_diverged", "begin again without `after`");
    }
    reports::ChangeRows rows(read.ledger, read.grant.account, masked_payee);
    Answer answer;
    answer.body = "{\"changes\":[";
    for (const reports::Change& change : found.changes) {
        answer.body += &change == found.changes.data() ? "" : ",";
        answer.body += rows.json(change).compact();
    }
    answer.body += "],\"next\":" + reports::json_quoted(read.cursor_of(feed_key(found.next))) +
                   ",\"more\":" + (found.more ? "true" : "false") + "}";
    if (found.changes.empty()) {
        answer.waits_behind = found.entries;
    }
    return answer;
}

}  // namespace sluice::serve
