#include "core/protocol/click_batch.hpp"

#include "core/json/document.hpp"
#include "core/protocol/field_reader.hpp"
#include "core/protocol/personal_ids.hpp"

namespace sluice {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

constexpr std::int64_t kClickAheadSecondsMax = kSecondsPerDay;

/// The fields of a click, and `clicks`, which the root alone has.
constexpr FieldNames kClick("program_id", "creator_id", "occurred_at", "link_id", "clicks");
constexpr std::size_t kClickDevice = kClick.size();  // Its name depends on the configuration.

}  // namespace

struct ClickBatchParser::State {
    JsonDocument json;
    FieldErrors findings{kErrorsMax};
    ClickRecord record;
    std::string_view anon_field;
    Timestamp latest;

    void read(const object& root);
    void read_click(FieldReader& in);
    void read_list(FieldReader& in);
};

void ClickBatchParser::State::read(const object& root) {
    FieldReader in(kClick, {}, findings, anon_field);
    in.collect(root);
    if (in.find(kClick["clicks"], Need::kOptional) == nullptr && findings.errors().empty()) {
        read_click(in);
        return;
    }
    for (const std::size_t field : {kClickDevice, kClick["program_id"], kClick["creator_id"],
                                    kClick["occurred_at"], kClick["link_id"]}) {
        if (in.find(field, Need::kOptional) != nullptr) {
            in.invalid(kClick["clicks"], "must not appear beside the fields of a click");
            return;
        }
    }
    if (findings.errors().empty()) {
        read_list(in);
    }
}

void ClickBatchParser::State::read_click(FieldReader& in) {
    RecordedClick click;
    std::string_view device, program, creator, link;
    if (in.id(kClickDevice, Need::kRequired, device)) {
        click.device = anon_digest(device);
    }
    in.admin_id(kClick["program_id"], Need::kRequired, program);
    in.admin_id(kClick["creator_id"], Need::kRequired, creator);
    if (in.timestamp(kClick["occurred_at"], Need::kRequired, click.occurred_at) &&
        click.occurred_at > latest) {
        in.invalid(kClick["occurred_at"], "must not be more than 24 hours in the future");
    }
    in.link_id(kClick["link_id"], Need::kOptional, link);
    click.program = ProgramId(program);
    click.creator = CreatorId(creator);
    click.link = LinkId(link);
    record.rows.push_back(std::move(click));
}

void ClickBatchParser::State::read_list(FieldReader& in) {
    array clicks;
    if (!in.array(kClick["clicks"], Need::kRequired, clicks)) {
        return;
    }
    if (clicks.size() == 0 || clicks.size() > kClicksMax) {
        in.invalid(kClick["clicks"], "must have 1 to 1000 clicks");
        return;
    }
    std::size_t position = 0;
    for (const element& one : clicks) {
        if (findings.full()) {
            return;
        }
        const ObjectPlace place{"clicks", position++};
        object from;
        if (one.get_object().get(from) != simdjson::SUCCESS) {
            findings.add(place, {}, FieldErrorCode::kInvalidFormat, "must be an object");
            continue;
        }
        FieldReader fields(kClick, place, findings, anon_field);
        fields.collect(from);
        read_click(fields);
    }
}

ClickBatchParser::ClickBatchParser() : state_(std::make_unique<State>()) {}
ClickBatchParser::~ClickBatchParser() = default;

const ClickRecord* ClickBatchParser::parse(std::string_view body, std::string_view anon_field,
                                           Timestamp received_at) {
    State& state = *state_;
    state.record.source = ClickSource::kPost;
    state.record.rows.clear();
    state.anon_field = anon_field;
    state.latest = received_at.plus_seconds(kClickAheadSecondsMax);
    state.findings.begin(false);
    object root;
    if (!state.json.parse(body)) {
        state.findings.add({}, {}, FieldErrorCode::kInvalidFormat, state.json.error());
        return nullptr;
    }
    if (state.json.root().get_object().get(root) != simdjson::SUCCESS) {
        state.findings.add({}, {}, FieldErrorCode::kInvalidFormat,
                           "the body must be a JSON object");
        return nullptr;
    }
    state.findings.begin(state.json.nul_count() > 0);
    state.read(root);
    // U+0000 in a named field is an error of that field, and elsewhere of the body.
    if (state.findings.errors().empty() && state.json.nul_count() > state.findings.nuls_found()) {
        state.findings.add({}, {}, FieldErrorCode::kInvalidFormat,
                           "strings must not contain U+0000, also not in unknown fields");
    }
    return state.findings.errors().empty() ? &state.record : nullptr;
}

std::span<const FieldError> ClickBatchParser::errors() const noexcept {
    return state_->findings.errors();
}

void ClickBatchParser::trim() noexcept {
    constexpr std::size_t kKeptRows = 4096;
    state_->json.trim();
    if (state_->record.rows.capacity() > kKeptRows) {
        state_->record.rows = {};
    }
}

}  // namespace sluice
