#include "pg_store/ledger/sender_lock.hpp"

#include <utility>

#include "pg_store/connection/session.hpp"

namespace sluice::pg {
namespace {

// Next to those of writers, migrations, copies and the order of batches
// (schema/schema_version.hpp).
constexpr const char* kTake = "SELECT pg_try_advisory_lock(1397511491, 5)";
constexpr const char* kProve = "SELECT 1";
constexpr std::chrono::seconds kAnswerLimit{5};

}  // namespace

SenderLock::SenderLock(Url url, std::function<bool(std::chrono::milliseconds)> waiting)
    : url_(std::move(url)), waiting_(std::move(waiting)) {}
SenderLock::~SenderLock() = default;

Result<bool> SenderLock::hold() {
    try {
        if (session_) {
            const bool answers =
                session_->within(kAnswerLimit, [this] { (void)session_->query_text(kProve); });
            if (answers && !session_->broken()) {
                return true;
            }
            session_.reset();
        }
        auto session = open_session(url_, Access::kReadPrimary, waiting_);
        if (!session->query_text(kTake).row(0).boolean()) {
            return false;
        }
        session_ = std::move(session);
        return true;
    } catch (const LedgerFailure& failure) {
        session_.reset();
        return failure.error();
    }
}

}  // namespace sluice::pg
