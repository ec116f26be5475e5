#include "ngx_module/store/refusal.hpp"

namespace sluice::ngx {

Reason reason_of(store::AppendOutcome outcome) noexcept {
    switch (outcome) {
        case store::AppendOutcome::kFull:
            return Reason::kQueueFull;
        case store::AppendOutcome::kNoSpace:
            return Reason::kDiskFull;
        case store::AppendOutcome::kInDoubt:
            return Reason::kIoError;
        default:
            return Reason::kStoreUnavailable;
    }
}

Reason reason_of(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::kNoSpace:
        case ErrorCode::kFull:
            return Reason::kDiskFull;
        case ErrorCode::kIo:
            return Reason::kIoError;
        default:
            return Reason::kStoreUnavailable;
    }
}

}  // namespace sluice::ngx
