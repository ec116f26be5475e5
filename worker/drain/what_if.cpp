#include "worker/drain/what_if.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/commands/commands.hpp"

namespace sluice::worker {
namespace {

template <class List, class Same>
bool has(const List& list, Same same) {
    return std::any_of(list.begin(), list.end(), same);
}

}  // namespace

ProgramApply WhatIf::changed(const ProgramApply& archived) {
    ProgramApply apply;
    apply.reach = archived.reach;
    if (!began_) {
        apply.programs = file_.programs;
        apply.policies = file_.policies;
        began_ = true;
    }
    for (const Program& program : archived.programs) {
        if (!has(file_.programs,
                 [&program](const Program& other) { return other.id == program.id; })) {
            apply.programs.push_back(program);
        }
    }
    for (const Policy& policy : archived.policies) {
        if (!has(file_.policies,
                 [&policy](const Policy& other) { return other.account == policy.account; })) {
            apply.policies.push_back(policy);
        }
    }
    return apply;
}

/// What cannot be read stays as it is: the replay makes of it what the worker made of it.
void WhatIf::edit(OwnedInput& input) {
    const auto record = decode_record(input.record);
    if (!record.ok() || record->meta.topic != Topic::kProgramApply || input.dead_reason) {
        return;
    }
    const auto request = decode_request(
        Topic::kProgramApply, record->meta.bulk ? std::string_view(input.bulk_body) : record->body);
    if (!request.ok()) {
        return;
    }
    Request edited = *request;
    edited.command = changed(std::get<ProgramApply>(request->command));
    const std::string body = encode_request(edited);
    RecordMeta meta = record->meta;
    meta.bulk.reset();
    envelope_.encode(meta, body);
    std::string whole(envelope_.prefix());
    whole += body;
    input.record = std::move(whole);
    input.bulk_body.clear();
    input.original_sha256.reset();
}

}  // namespace sluice::worker
