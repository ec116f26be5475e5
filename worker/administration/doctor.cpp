// sluice doctor
#include "worker/doctor/doctor.hpp"

#include "os/clock/clock.hpp"
#include "worker/administration/administration.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {
namespace {

struct DoctorCommand {
    std::string nginx_conf;
    Format format = Format::kTable;
};

Findings look(const Frame& frame, const NginxDump& nginx) {
    const store::StorePaths paths = frame.paths();
    Findings findings;
    check_format(paths, findings);
    if (findings.back().health == Health::kOk) {
        check_permissions(paths, findings);
        check_key(paths, findings);
        check_disk(paths, findings);
        check_clock(paths, now(), findings);
        check_readers(paths, findings);
        check_registry(paths, findings);
        check_queue(paths, now(), findings);
        check_ledger(frame, findings);
    }
    check_nginx(paths, nginx, findings);
    return findings;
}

Status run_doctor(const Frame& frame, const DoctorCommand& command) {
    const NginxDump nginx = dump_nginx(frame.paths(), command.nginx_conf);
    if (Status became = become_store_owner(frame); !became.ok()) {
        return became;
    }
    std::size_t problems = 0;
    Listing listing(command.format, {{"check"}, {"result"}, {"finding"}, {"remedy"}});
    for (const Finding& finding : look(frame, nginx)) {
        problems += finding.health == Health::kProblem ? 1u : 0u;
        listing.add({finding.check, to_string(finding.health), finding.text,
                     finding.remedy.empty() ? Json() : Json(finding.remedy)});
    }
    listing.finish();
    if (problems == 0) {
        return Status::success();
    }
    return Error{ErrorCode::kConflict,
                 std::to_string(problems) + (problems == 1 ? " problem" : " problems")};
}

}  // namespace

void declare_doctor(Subcommand app) {
    auto [doctor, command] =
        add_command(app, "doctor", "Check store, worker and nginx, and name remedies", run_doctor);
    doctor.keeps_user();
    add_text(doctor, "--nginx-conf", "FILE", command.nginx_conf,
             "nginx.conf to check (default: the one that nginx reads)");
    add_format(doctor, command.format);
}

}  // namespace sluice::cli
