#include "core/apply/dead_letters.hpp"

#include <utility>
#include <vector>

namespace sluice {

DeadLetter letter_of(const Input& input, const RecordMeta* meta, std::string reason) {
    DeadLetter letter;
    letter.seq = input.seq;
    letter.reason = std::move(reason);
    letter.record = input.record;
    letter.bulk_body = input.bulk_body;
    letter.body_sha256 = input.body_sha256;
    if (meta != nullptr) {
        letter.topic = meta->topic;
        letter.account = meta->account_number;
        letter.shop = meta->shop_number;
        letter.account_id = meta->account_id;
        letter.shop_id = meta->shop_id;
        letter.received_at = meta->received_at;
    }
    return letter;
}

Input input_of(const DeadLetter& letter) {
    return {letter.seq, letter.record, letter.bulk_body, {}, letter.body_sha256, {}};
}

bool is_final(const DeadLetter& letter) noexcept {
    return letter.topic == Topic::kDeadReplay || letter.topic == Topic::kForget;
}

void put_back(DeadLetter letter, std::string reason, LedgerTxn& txn) {
    ++letter.attempts;
    letter.reason = std::move(reason);
    txn.put(letter);
}

Result<std::string> replay_letters(const DeadReplay& command, const ReplayLetter& replay,
                                   LedgerTxn& txn) {
    std::vector<DeadLetter> letters;
    for (const SequenceNumber seq : command.seqs) {
        std::optional<DeadLetter> letter = txn.dead_letter(seq);
        if (!letter) {
            return Error{ErrorCode::kNotFound,
                         "there is no dead letter " + std::to_string(seq.value)};
        }
        letters.push_back(*std::move(letter));
    }
    if (command.seqs.empty()) {
        txn.scan_dead([&letters](const DeadLetter& letter) {
            letters.push_back(letter);
            return true;
        });
    }
    const std::size_t tried = letters.size();
    std::size_t done = 0;
    for (DeadLetter& letter : letters) {
        done += replay(std::move(letter)) ? std::size_t{1} : std::size_t{0};
    }
    return std::to_string(done) + " replayed, " + std::to_string(tried - done) + " still dead";
}

}  // namespace sluice
