#include "core/shops/source.hpp"

#include "core/explain/explain.hpp"
#include "core/json/document.hpp"

namespace sluice {

ExplainedSource explain_source(const RecordSource& source, std::string_view body) {
    ExplainedSource explained;
    explained.platform = to_string(source.platform);
    explained.topic = source.topic;
    explained.delivery = source.delivery;
    explained.triggered_at = source.triggered_at;
    explained.api_version = source.api_version;
    explained.is_signed = source.signature.has_value();
    JsonDocument json;
    std::uint64_t mapping = 0;
    if (json.parse(body) && json.root()["source"]["mapping"].get(mapping) == simdjson::SUCCESS) {
        explained.mapping = mapping;
    }
    const SourceNotes notes = read_source_notes(body);
    for (const SourceNote note : kSourceNotes) {
        if (notes.has(note)) {
            explained.notes.emplace_back(to_string(note));
        }
    }
    explained.fields = source_rows(body);
    return explained;
}

}  // namespace sluice
