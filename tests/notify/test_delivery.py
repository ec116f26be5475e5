"""Deliveries of `sluice notify run` to real HTTPS receivers."""

import re
import socket
import threading
import time

import pytest
from harness import paths
from harness.serve import Serve, ask
from harness.webhooks import Receiver, make_certificate, verdicts


def test_receivers_verify_every_request_and_nothing_is_missing(site):
    with Receiver(site.folder) as receiver:
        secret = site.add("erp", receiver, "--from", "start")
        site.credit("1.00", "2.00", "3.00")
        with site.run(receiver):
            receiver.wait(3)
            site.credit("4.00")  # while it runs
            paths.wait_until(lambda: any("4.00" in request.body for request in receiver.requests), "the last change")
            site.wait_for("erp", lag=0, pending=0)
    requests = receiver.requests
    assert all(verdict == [True, True] for verdict in verdicts(requests, secret))
    assert set(receiver.ids().values()) == {1}
    numbers = sorted((request.change["first"], request.change["last"]) for request in requests)
    assert numbers[0][0] == 1
    assert all(after[0] == before[1] + 1 for before, after in zip(numbers, numbers[1:]))
    request = requests[0]
    assert request.headers["content-type"] == "application/json"
    assert request.headers["user-agent"].startswith("sluice/")
    assert request.id == f"chg_1_1_{request.change['last']}_{request.change['hash'][:16]}"
    # The verification can fail.
    request.body = request.body.replace("acme", "evil") if "acme" in request.body else request.body + " "
    assert [True, True] not in verdicts([request], secret)
    assert [True, True] not in verdicts(requests[1:2], "whsec_" + "A" * 43 + "=")


def test_only_the_types_that_were_asked_for_are_sent(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver, "--from", "start", "--types", "commission.changed")
        site.credit("1.00", "2.00")
        with site.run(receiver):
            receiver.wait(2)
            site.wait_for("erp", lag=0)
    assert {request.change["type"] for request in receiver.requests} == {"commission.changed"}
    assert len(receiver.requests) == 2


def test_the_header_is_sent_and_a_test_request_is_signed(site):
    file = site.folder / "header"
    file.write_text("Authorization: Bearer s3cret\n")
    file.chmod(0o600)
    with Receiver(site.folder) as receiver:
        secret = site.add("erp", receiver, "--header-from", file)
        answer = site.sluice("notify", "test", "erp", "--ca-file", receiver.certificate)
        assert "destination erp answered 200" in answer
        receiver.answer = lambda request: 503
        assert "answered 503" in site.sluice.refuses("notify", "test", "erp", "--ca-file", receiver.certificate)
    assert {request.headers["authorization"] for request in receiver.requests} == {"Bearer s3cret"}
    assert receiver.requests[0].change["type"] == "notify.test"
    assert verdicts(receiver.requests, secret) == [[True, True]] * 2
    data = (site.sluice.store / "notify" / "data.mdb").read_bytes()
    assert b"s3cret" not in data


def test_a_failed_change_is_tried_again_with_the_same_id(site):
    answers = [503, 200]
    with Receiver(site.folder, lambda request: answers.pop(0) if answers else 200) as receiver:
        site.add("erp", receiver)
        site.credit()
        with site.run(receiver) as notify:
            first, second = receiver.wait(2)
            shown = site.wait_for("erp", lag=0, state="active")
            assert "destination erp does not take notifications: answered 503" in notify.log()
            assert "destination erp takes notifications again" in notify.log()
    assert first.id == second.id and first.body == second.body
    assert 3.9 < second.at - first.at < 8
    assert (shown["delivered"], shown["failed"], shown["expired"]) == (1, 1, 0)
    newest, oldest = site.log("erp")
    assert (newest["attempt"], newest["outcome"], newest["status"]) == (2, "delivered", 200)
    assert (oldest["attempt"], oldest["outcome"], oldest["status"], oldest["error"]) == (1, "retry", 503, "answered 503")
    assert site.log("erp", "--failed") == [oldest]


def test_retry_after_is_respected(site):
    answers = [(503, {"Retry-After": "9"}), 200]
    with Receiver(site.folder, lambda request: answers.pop(0) if answers else 200) as receiver:
        site.add("erp", receiver)
        site.credit()
        with site.run(receiver):
            first, second = receiver.wait(2)
    assert 8.9 < second.at - first.at < 13


def test_410_disables_at_once_and_resume_continues(site):
    with Receiver(site.folder, lambda request: 410) as receiver:
        site.add("erp", receiver)
        site.credit("1.00")
        with site.run(receiver) as notify:
            shown = site.wait_for("erp", state="disabled")
            assert shown["disabled_why"] == "answered 410"
            site.credit("2.00")
            time.sleep(1)
            assert len(receiver.requests) == 1
            assert "destination erp is disabled: answered 410" in notify.log()
            receiver.answer = lambda request: 204
            site.sluice("notify", "resume", "erp")
            receiver.wait(3)
            site.wait_for("erp", state="active", lag=0, pending=0)
    assert len(receiver.ids()) == 2


def test_a_redirect_to_a_private_address_is_not_followed(site):
    with Receiver(site.folder) as target:
        def redirect(request):
            return 302, {"Location": target.url}
        with Receiver(site.folder, redirect, certificate=(target.certificate, target.certificate.with_suffix(".key"))) as receiver:
            site.add("erp", receiver)
            site.credit()
            with site.run(receiver):
                receiver.wait(1)
                shown = site.wait_for("erp", failed=1)
    assert shown["last_error"] == "answered 302, which is not followed"
    assert target.requests == []


def test_names_that_resolve_to_private_addresses_get_no_packet(site):
    connected = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)

        def accept():
            while not connected:
                try:
                    connected.append(listener.accept())
                except TimeoutError:
                    continue
                except OSError:
                    return
        threading.Thread(target=accept, daemon=True).start()
        with Receiver(site.folder) as other:
            url = f"https://localhost:{listener.getsockname()[1]}/"
            site.sluice("notify", "add", "erp", "--account", "acme", "--url", url)
            site.credit()
            with site.run(other):
                shown = site.wait_for("erp", failed=1)
    assert shown["last_error"].startswith("address refused: ") and shown["last_error"].endswith("(loopback)")
    assert site.log("erp")[0]["error"] == shown["last_error"]
    assert connected == []


def test_a_certificate_that_is_not_trusted_is_a_failure(site):
    with Receiver(site.folder) as receiver:
        other, _ = make_certificate(site.folder, "IP:127.0.0.1", name="other")
        site.add("erp", receiver)
        site.credit()
        trusted, receiver.certificate = receiver.certificate, other
        with site.run(receiver):
            shown = site.wait_for("erp", failed=1)
        receiver.certificate = trusted
    assert "certificate" in shown["last_error"]
    assert receiver.requests == []


def broken(kind):
    """Answers that never end, or that are none."""
    def answer(request):
        connection = request.socket
        try:
            if kind == "closed":
                return
            if kind == "no http":
                connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            if kind == "slow":
                connection.sendall(b"Content-Length: 100\r\n\r\n")
            elif kind != "endless head":
                connection.sendall(b"Content-Type: text/plain\r\n\r\n")
            end = time.monotonic() + 20
            while time.monotonic() < end:
                if kind == "slow":
                    time.sleep(1)
                    connection.sendall(b"x")
                elif kind == "endless head":
                    connection.sendall(b"X-Filler: " + b"x" * 4096 + b"\r\n")
                else:
                    connection.sendall(b"x" * 65536)
        except OSError:
            return
    return answer


@pytest.mark.parametrize("kind, error", [
    ("closed", "returned nothing|receiving data"), ("no http", "unsupported protocol"), ("slow", "timeout"), ("endless head", ""),
])
def test_an_answer_that_does_not_come_is_a_failure(site, kind, error):
    with Receiver(site.folder, broken(kind)) as receiver:
        site.add("erp", receiver)
        site.credit()
        with site.run(receiver) as notify:
            shown = site.wait_for("erp", failed=1)
            grown = int(open(f"/proc/{notify.process.pid}/statm").read().split()[1]) * 4096
    assert re.search(error, shown["last_error"].lower()) and shown["last_error"]
    assert grown < 200 << 20


def test_an_endless_body_is_cut_and_its_status_counts(site):
    with Receiver(site.folder, broken("endless body")) as receiver:
        site.add("erp", receiver)
        site.credit()
        with site.run(receiver):
            site.wait_for("erp", delivered=1, failed=0)


def test_a_dead_destination_does_not_hold_up_another_one(site):
    with socket.create_server(("127.0.0.1", 0)) as silent, Receiver(site.folder) as receiver:
        site.add("dead", f"https://127.0.0.1:{silent.getsockname()[1]}/")  # accepts, and never answers
        site.add("good", receiver)
        amounts = [f"{number}.00" for number in range(1, 13)]
        with site.run(receiver):
            site.credit(*amounts)
            receiver.wait(len(amounts))
            shown = site.wait_for("good", lag=0)
            assert shown["failed"] == 0
            assert site.show("dead")["delivered"] == 0
            times = [row["took_ms"] for row in site.log("good")]
    assert max(times) < 5000


def test_a_paused_destination_gets_nothing_and_then_everything(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver)
        with site.run(receiver):
            site.sluice("notify", "pause", "erp")
            time.sleep(0.6)
            site.credit("1.00", "2.00")
            time.sleep(1)
            assert receiver.requests == []
            site.sluice("notify", "resume", "erp")
            receiver.wait(2)


def test_a_removed_destination_gets_nothing_more(site):
    with Receiver(site.folder, lambda request: 503) as receiver:
        site.add("erp", receiver)
        site.credit()
        with site.run(receiver):
            receiver.wait(1)
            site.sluice("notify", "remove", "erp")
            time.sleep(7)
            assert len(receiver.requests) == 1


def test_both_secrets_sign_after_a_rotation(site):
    with Receiver(site.folder) as receiver:
        old = site.add("erp", receiver)
        with site.run(receiver):
            answer = site.sluice.json("notify", "rotate", "erp")
            new = (answer[0] if isinstance(answer, list) else answer)["secret"]
            time.sleep(0.6)
            site.credit()
            receiver.wait(1)
    assert len(receiver.requests[0].headers["webhook-signature"].split()) == 2
    assert verdicts(receiver.requests, old) == [[True, True]]
    assert verdicts(receiver.requests, new) == [[True, True]]


def test_replays_send_the_same_ids_again(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver)
        with site.run(receiver):
            site.credit("1.00", "2.00", "3.00")
            receiver.wait(3)
            site.wait_for("erp", lag=0)
            first = [request.id for request in receiver.requests]
            number = receiver.requests[1].change["last"]
            assert "1 changes are sent again" in site.sluice("notify", "replay", "erp", "--change", f"1:{number}")
            receiver.wait(4)
            assert receiver.requests[3].id == first[1]
            site.sluice("notify", "replay", "erp", "--since", receiver.requests[0].change["timestamp"])
            receiver.wait(7)
            site.wait_for("erp", lag=0)
            assert sorted(request.id for request in receiver.requests[4:]) == sorted(first)
            assert receiver.requests[3].body == receiver.requests[1].body
    assert "has no node" in site.sluice.refuses("notify", "replay", "erp", "--change", "9:1")
    assert "has no such change" in site.sluice.refuses("notify", "replay", "erp", "--change", "1:999999")
    assert "no change of this destination has failed" in site.sluice.refuses("notify", "replay", "erp", "--failed")
    for wrong in (("--change", "1:0"), ("--change", "1:9-3"), ("--change", "x"), ("--since", "x"), (),
                  ("--failed", "--change", "1:1")):
        site.sluice.refuses("notify", "replay", "erp", *wrong, code=2)


def test_a_place_that_was_stated_stays_until_it_is_taken_up(site):
    """`resume --from start` while nothing runs; then `pause` and `resume`, which state no place."""
    with Receiver(site.folder) as receiver:
        site.credit("1.00")
        site.add("erp", receiver, "--types", "commission.changed")
        site.sluice("notify", "resume", "erp", "--from", "start")
        for verb in ("pause", "resume"):
            site.sluice("notify", verb, "erp")
        with site.run(receiver):
            receiver.wait(1)
            site.wait_for("erp", delivered=1, lag=0)
            for verb in ("pause", "resume"):  # it is taken up: the sender continues where it is
                site.sluice("notify", verb, "erp")
            site.credit("2.00")
            site.wait_for("erp", delivered=2, lag=0)
    assert [request.change["entries"][0]["amount"] for request in receiver.requests] == ["1.00", "2.00"]


def test_a_replay_by_number_sends_no_type_that_the_destination_does_not_get(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver, "--from", "start", "--types", "payout.paid")
        site.credit("1.00")
        refused = site.sluice.refuses("notify", "replay", "erp", "--change", "1:1-1000")
        assert "the destination gets no changes of this type (--types)" in refused


def test_replay_failed_tries_waiting_changes_at_once(site):
    with Receiver(site.folder, lambda request: (503, {"Retry-After": "3600"})) as receiver:
        site.add("erp", receiver)
        site.credit()
        with site.run(receiver):
            site.wait_for("erp", failed=1)
            receiver.answer = lambda request: 200
            assert "1 that wait for a retry" in site.sluice("notify", "replay", "erp", "--failed")
            site.wait_for("erp", delivered=1, lag=0)


def test_sigterm_waits_for_the_request_under_way_and_nothing_is_repeated(site):
    def slow(request):
        time.sleep(2)
        return 200
    with Receiver(site.folder, slow) as receiver:
        site.add("erp", receiver)
        site.credit()
        notify = site.run(receiver).start()
        receiver.wait(1)
        notify.stop()
        assert site.show("erp")["delivered"] == 1
        with site.run(receiver):
            time.sleep(2)
    assert set(receiver.ids().values()) == {1}


@pytest.mark.parametrize("point", ["read:1", "sent:1", "sent:3", "sent:5", "noted:1", "noted:2", "noted:4"])
def test_a_kill_at_any_outcome_costs_repetitions_only(site, point):
    answers = iter([503, 200, 503])
    with Receiver(site.folder, lambda request: next(answers, 200)) as receiver:
        site.add("erp", receiver)
        site.credit("1.00", "2.00", "3.00", "4.00", "5.00")
        notify = site.run(receiver).start(SLUICE_CRASH_AT=point)
        try:
            notify.wait_for_death()
        except Exception:
            notify.kill()
            raise
        with site.run(receiver):
            site.wait_for("erp", delivered=5, lag=0, pending=0)
    delivered = {request.id for request in receiver.requests}
    assert len(delivered) == 5
    ends = {row["webhook_id"] for row in site.log("erp") if row["outcome"] == "delivered"}
    assert ends == delivered


def test_a_kill_after_failures_keeps_the_retries(site):
    with Receiver(site.folder, lambda request: 503) as receiver:
        site.add("erp", receiver)
        site.credit("1.00", "2.00")
        notify = site.run(receiver).start()
        site.wait_for("erp", failed=2)
        notify.kill()
        receiver.answer = lambda request: 200
        with site.run(receiver):
            site.wait_for("erp", lag=0, pending=0, delivered=2)


def test_a_second_process_is_refused(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver)
        site.credit()
        with site.run(receiver) as notify:
            receiver.wait(1)  # it has the lock
            assert "another process sends" in site.sluice.refuses("notify", "run")
            assert notify.process.poll() is None


def test_metrics_of_serve_show_the_destinations(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver)
        site.add("off", receiver)
        site.sluice("notify", "pause", "off")
        site.credit("1.00", "2.00")
        with site.run(receiver):
            site.wait_for("erp", delivered=2, lag=0)
            paths.wait_until(lambda: site.show("off")["lag"] > 0, "a lag")
        with Serve(site.sluice.store, site.folder) as serve:
            text = ask(serve.read, "/metrics").body.decode()
    assert 'sluice_notify_deliveries_total{destination="erp",outcome="delivered"} 2\n' in text
    assert 'sluice_notify_state{destination="off",state="paused"} 1\n' in text
    assert 'sluice_notify_state{destination="erp",state="active"} 1\n' in text
    assert 'sluice_notify_lag_changes{destination="erp"} 0\n' in text
    assert 'sluice_notify_lag_changes{destination="off"} 2\n' in text
    looked = float(text.split('sluice_notify_looked_timestamp_seconds{destination="erp"} ')[1].split("\n")[0])
    assert time.time() - looked < 60
