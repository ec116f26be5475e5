#include "worker/drain/owned_input.hpp"

namespace sluice::worker {

Input OwnedInput::view() const {
    Input input{seq, record, bulk_body, dead_reason, {}, damage};
    if (original) {
        input.body_sha256 = original->body_sha256;
        input.digest = original->input;
    }
    input.forget_found = forget_found ? &*forget_found : nullptr;
    return input;
}

}  // namespace sluice::worker
