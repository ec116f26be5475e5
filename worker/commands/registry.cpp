// sluice registry export|import|sync|detach
#include "lmdb_store/registry/registry.hpp"

#include <cstdio>

#include "lmdb_store/registry/exchange.hpp"
#include "os/clock/clock.hpp"
#include "os/files/file_io.hpp"
#include "pg_store/registry/registry_board.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/commands/registry_file.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

using store::Registry;

struct ExportCommand {
    std::string file;
    std::string to;  ///< URL, instead of a file.
    bool force = false;
};

struct SyncCommand {
    std::string url;
    store::MergeFrom from = store::MergeFrom::kSameSource;
    Format format = Format::kTable;
};

struct ImportCommand {
    std::string file;
    store::MergeFrom from = store::MergeFrom::kSameSource;
    Format format = Format::kTable;
};

struct NoOptions {};

Error about(const std::string& what, Error error) {
    error.message = what + ": " + error.message;
    return error;
}

struct Exported {
    store::RegistrySnapshot snapshot;
    std::string text;
};

Result<Exported> export_text(const Frame& frame) {
    const auto paths = frame.paths();
    auto key = store::MasterKey::load(paths.master_key);
    if (!key.ok()) {
        return key.error();
    }
    auto registry = Registry::open(paths, Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        return registry.error();
    }
    if (Status known = registry.value()->check_key(key.value()); !known.ok()) {
        return known.error();
    }
    auto snapshot = registry.value()->snapshot(now_ms());
    if (!snapshot.ok()) {
        return snapshot.error();
    }
    std::string text = encode_registry(snapshot.value(), key.value());
    return Exported{std::move(snapshot).value(), std::move(text)};
}

pg::RegistryMark mark_of(const store::RegistryRevision& revision) {
    return {revision.source, revision.number, revision.digest};
}

/// Whether what is published is a state that this registry had, or has.
Status gives_way(const pg::RegistryMark& there, const store::RegistrySnapshot& here) {
    if (descends_from(here, {there.source, there.revision, there.digest})) {
        return Status::success();
    }
    const std::string which =
        "revision " + std::to_string(there.revision) + " of store " + there.source;
    if (there.source == here.revision.source && there.revision <= here.revision.number) {
        return Error{ErrorCode::kConflict,
                     which +
                         " is published there, and this store never had it: was it restored "
                         "from a backup? What changed there since is not here, revoked tokens "
                         "among it. Make a follower the source (\"sluice registry detach\"), or "
                         "give --force here and on every follower"};
    }
    return Error{ErrorCode::kConflict, which + " is published there already: --force replaces it"};
}

Status publish(const Exported& exported, const ExportCommand& command) {
    const auto url = pg::Url::parse(command.to);
    if (!url.ok()) {
        return url.error();
    }
    const store::RegistryRevision& revision = exported.snapshot.revision;
    Status published = pg::publish_registry(
        *url, {mark_of(revision), exported.text}, [&](const pg::RegistryMark& there) {
            return command.force ? Status::success() : gives_way(there, exported.snapshot);
        });
    if (!published.ok()) {
        return about(url->shown(), published.error());
    }
    std::printf("published revision %llu of store %s\n",
                static_cast<unsigned long long>(revision.number), revision.source.c_str());
    return Status::success();
}

Status run_export(const Frame& frame, const ExportCommand& command) {
    auto exported = export_text(frame);
    if (!exported.ok()) {
        return exported.error();
    }
    if (!command.to.empty()) {
        return publish(exported.value(), command);
    }
    if (command.file == "-") {
        std::fwrite(exported->text.data(), 1, exported->text.size(), stdout);
        return Status::success();
    }
    return replace_file(command.file, exported->text);
}

void show_changes(Format format, const store::RegistryRevision& revision,
                  const std::vector<store::RegistryChange>& changes) {
    if (changes.empty() && format == Format::kTable) {
        std::printf("nothing changed (revision %llu of store %s)\n",
                    static_cast<unsigned long long>(revision.number), revision.source.c_str());
        return;
    }
    Listing listing(format, {{"kind"}, {"id"}, {"change"}});
    for (const store::RegistryChange& change : changes) {
        listing.add({{"kind", change.kind}, {"id", change.id}, {"change", change.change}});
    }
    listing.finish();
}

/// @param origin  For messages: where the text is from.
template <class Command>
Status import_text(const Frame& frame, const std::string& origin, std::string_view text,
                   const Command& command) {
    const auto paths = frame.paths();
    auto key = store::MasterKey::load(paths.master_key);
    if (!key.ok()) {
        return key.error();
    }
    auto snapshot = decode_registry(text, key.value());
    if (!snapshot.ok()) {
        return about(origin, snapshot.error());
    }
    auto registry = Registry::open(paths, Registry::Mode::kReadWrite);
    if (!registry.ok()) {
        return registry.error();
    }
    auto changes = registry.value()->merge(snapshot.value(), key.value(), command.from);
    if (!changes.ok()) {
        return about(origin, changes.error());
    }
    show_changes(command.format, snapshot->revision, changes.value());
    return Status::success();
}

Status run_import(const Frame& frame, const ImportCommand& command) {
    const bool from_stdin = command.file == "-";
    auto text = read_to_end(from_stdin ? "/dev/stdin" : command.file, kRegistryFileBytesMax);
    if (!text.ok()) {
        return text.error();
    }
    return import_text(frame, from_stdin ? "standard input" : command.file, text.value(), command);
}

/// The registry that this store follows, and the last revision that it took over.
Result<std::optional<pg::RegistryMark>> known_mark(const Frame& frame, store::MergeFrom from) {
    auto followed = ask_registry(frame, [](Registry& registry) { return registry.followed(); });
    if (!followed.ok()) {
        return followed.error();
    }
    if (!followed.value() || from == store::MergeFrom::kAny) {
        return std::optional<pg::RegistryMark>();
    }
    return std::optional(mark_of(**followed));
}

Status run_sync(const Frame& frame, const SyncCommand& command) {
    const auto url = pg::Url::parse(command.url);
    if (!url.ok()) {
        return url.error();
    }
    const auto known = known_mark(frame, command.from);
    if (!known.ok()) {
        return known.error();
    }
    const auto published = pg::fetch_registry(*url, known.value());
    if (!published.ok()) {
        return about(url->shown(), published.error());
    }
    if (published->text.empty()) {
        show_changes(command.format, {published->mark.source, published->mark.revision, {}}, {});
        return Status::success();
    }
    return import_text(frame, url->shown(), published->text, command);
}

Status run_detach(const Frame& frame, const NoOptions& /*none*/) {
    return change_registry(frame, "this registry follows no other any more",
                           [](Registry& registry) { return registry.detach(); });
}

void add_force(CLI::App& app, store::MergeFrom& from) {
    app.add_flag_callback(
        "--force", [&from] { from = store::MergeFrom::kAny; },
        "Also an older state, or another store's than before");
}

}  // namespace

void declare_registry(CLI::App& app, Frame& frame) {
    CLI::App& group =
        add_group(app, "registry", "Accounts, shops and tokens for all nodes of a fleet");
    CLI::App& out = add_command(group, "export", "Write them to a file, secrets encrypted");
    ExportCommand& exported = on_run(out, frame, run_export);
    CLI::Option* file = out.add_option("FILE", exported.file, "The file, - is standard output");
    file->type_name("");
    CLI::Option* to = out.add_option("--to", exported.to, "Publish them in this database instead");
    to->type_name("URL")->excludes(file);
    out.add_flag("--force", exported.force, "Replace also what is newer there, or another store's")
        ->needs(to);
    out.parse_complete_callback([&exported] {
        if (exported.file.empty() && exported.to.empty()) {
            throw CLI::RequiredError("FILE or --to");
        }
    });

    CLI::App& in = add_command(group, "import", "Take over the registry of another store");
    ImportCommand& imported = on_run(in, frame, run_import);
    in.add_option("FILE", imported.file, "What registry export wrote, - is standard input")
        ->required()
        ->type_name("");
    add_force(in, imported.from);
    add_format(in, imported.format);

    CLI::App& sync =
        add_command(group, "sync", "Take over what the source published in a database");
    SyncCommand& synced = on_run(sync, frame, run_sync);
    sync.add_option("--from", synced.url, "The database, where registry export --to published")
        ->required()
        ->type_name("URL");
    add_force(sync, synced.from);
    add_format(sync, synced.format);

    CLI::App& detach =
        add_command(group, "detach", "Follow no other store any more: allow changes here");
    (void)on_run(detach, frame, run_detach);
}

}  // namespace sluice::cli
