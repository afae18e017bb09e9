"""`mmem serve` in raw bytes: an answer for each frame, whole or broken, in time, and an end that loses nothing."""

import json
import os
import re
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from mmem.registry import call
from mmem.store import Store

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the SDK's own transport serves there")
linux = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602
SERVE = [sys.executable, "-m", "mmem", "serve"]
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
}
HANDSHAKE = (
    b'{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"raw","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
)
MIB = 1 << 20

Rpc = Any  # the class of `rpc.py`, and its objects


def request(method: str, id: Any, **params: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode() + b"\n"


def tool(name: str, id: Any, **arguments: Any) -> bytes:
    return request("tools/call", id, name=name, arguments=arguments)


def create(id: Any, *names: str) -> bytes:
    return tool("create_entities", id, entities=[{"name": name, "observations": [f"of {name}"]} for name in names])


def many(id: Any, number: int) -> bytes:
    return create(id, *(f"{id}-{index}" for index in range(number)))


def cancel(id: Any) -> bytes:
    return (
        json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}).encode()
        + b"\n"
    )


def holding(arguments: bytes, id: bytes = b"7") -> bytes:
    """Return a call of create_entities with arguments in raw bytes."""
    params = b'{"name":"create_entities","arguments":' + arguments + b"}"
    return b'{"jsonrpc":"2.0","id":' + id + b',"method":"tools/call","params":' + params + b"}\n"


def named(name: bytes) -> bytes:
    return holding(b'{"entities":[{"name":' + name + b"}]}")


def told(answer: Any) -> Any:
    return json.loads(answer["result"]["content"][0]["text"])


def names(base: Path, category: str = "default") -> list[str]:
    """Return the names that a process sees which opens the category now."""
    with Store(base) as store:
        return [entity.name for entity in call(store, "read_graph", {"category": category}).result.entities]


@contextmanager
def locked(base: Path) -> Iterator[None]:
    """Hold the write lock of the default category."""
    with closing(sqlite3.connect(base / "default.db", isolation_level=None)) as conn:
        conn.execute("BEGIN IMMEDIATE")
        yield
        conn.execute("ROLLBACK")


@pytest.fixture(scope="module")
def shared(rpc: Rpc, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rpc]:
    """A server that is never given anything to store."""
    with rpc(cwd=tmp_path_factory.mktemp("shared")) as server:
        yield server.open()


@pytest.fixture
def server(rpc: Rpc) -> Iterator[Rpc]:
    """A server of a test's own."""
    with rpc() as server:
        yield server.open()


# Frames that can't be taken


@pytest.mark.parametrize(
    ("frame", "id", "code"),
    [
        (b'{"jsonrpc":', None, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping"', None, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping"},', None, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping"}{"jsonrpc":"2.0","id":8,"method":"ping"}', None, PARSE_ERROR),
        (b"nonsense", None, PARSE_ERROR),
        (b"\0", None, PARSE_ERROR),
        (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":7,"method":"ping"}', None, PARSE_ERROR),
        (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', None, INVALID_REQUEST),
        (b"[]", None, INVALID_REQUEST),
        (b"{}", None, INVALID_REQUEST),
        (b"1", None, INVALID_REQUEST),
        (b"null", None, INVALID_REQUEST),
        (b'"text"', None, INVALID_REQUEST),
        (b'{"id":7,"method":"ping"}', 7, INVALID_REQUEST),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', 7, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":"seven"}', "seven", INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":7,"method":7}', 7, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', 7, INVALID_REQUEST),
        (b'{"jsonrpc":"2.0","id":7,"method":"ping","error":{"code":1,"message":"x"}}', 7, INVALID_REQUEST),
        *((holding(b'{"entities":[{"name":"A"}]}', id), None, INVALID_REQUEST) for id in (b"null", b"1.5", b"true")),
        *((holding(b'{"entities":[{"name":"A"}]}', id), None, INVALID_REQUEST) for id in (b"[]", b"{}", b"1e999")),
        (holding(b'{"entities":[{"name":"A"}]}', b'"\\ud83d"'), None, PARSE_ERROR),
        (holding(b'{"entities":[{"name":"A"}]}', b'"\xff"'), None, PARSE_ERROR),
        (holding(b'{"entities":[{"name":"A"}]}', b"9" * 5_000), None, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping","params":{"n":' + b"9" * 5_000 + b"}}", None, PARSE_ERROR),
        (holding(b'{"entities":[{"name":"A","observations":["caf\xe9"]}]}'), 7, PARSE_ERROR),
        (holding(b'{"entities":[{"name":"A","observations":["caf\xe9"]}]}', b'"a\\tb"'), "a\tb", PARSE_ERROR),
        (holding(b'{"entities":[{"name":"A","observations":["\\ud83d"]}]}'), 7, PARSE_ERROR),
        (holding(b'{"entities":[{"name":"A","observations":["\xed\xa0\xbd"]}]}'), 7, PARSE_ERROR),
        (holding(b'{"entities":[{"name":"A","properties":{"\\ud83d":1}}]}'), 7, PARSE_ERROR),
        (b'{"jsonrpc":"2.0","id":7,"method":"\\ud83d"}', 7, PARSE_ERROR),
        (b"[" * 100_000, None, PARSE_ERROR),
        (named(b"[" * 100_000 + b"]" * 100_000), 7, PARSE_ERROR),
        (named(b'{"a":' * 300 + b"1" + b"}" * 300), 7, PARSE_ERROR),
        (named(b"9" * 5_000), 7, PARSE_ERROR),
    ],
    ids=lambda value: value[-60:].decode("ascii", "replace") if isinstance(value, bytes) else None,
)
def test_a_broken_frame_has_one_answer_and_stores_nothing(shared: Rpc, frame: bytes, id: Any, code: int) -> None:
    shared.send(frame.rstrip(b"\n") + b"\n")
    answer = shared.answer()
    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert shared.ask("ping")["result"] == {}
    assert shared.call("list_categories") == []


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (b"{]", r"Parse error: expecting property name .* at column 2"),
        (b'["\t"]', "Parse error: invalid control character at column 3"),
        (b'["\xff"]', r"Parse error: byte 3 \(0xff\) isn't UTF-8; nothing was done"),
        (b'{"a":["\\udc00"]}', r"Parse error: \$\.a\[0\]: a lone surrogate .* nothing was done"),
        (
            named(b"9" * 5_000),
            r"Parse error: \$\.params\.arguments\.entities\[0\]\.name: the integer is beyond 64 bits",
        ),
        (named(b"[" * 300 + b"]" * 300), "Parse error: nested deeper than 64 levels"),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', "Invalid Request: an id is a text or a whole number"),
        (b"7", "Invalid Request: not a JSON-RPC 2.0 request, notification or response"),
    ],
)
def test_the_answer_to_a_broken_frame_says_what_is_wrong(shared: Rpc, frame: bytes, message: str) -> None:
    shared.send(frame.rstrip(b"\n") + b"\n")
    assert re.match(message, shared.answer()["error"]["message"])


@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc":"2.0","method":"notifications/unheard_of"}',
        b'{"jsonrpc":"2.0","method":"ping"}',
        b'{"jsonrpc":"2.0","id":7,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":true}}',
        b"",
        b"\r",
        b" \t \r",
    ],
)
def test_what_asks_for_nothing_has_no_answer(shared: Rpc, frame: bytes) -> None:
    shared.send(frame + b"\n")
    assert shared.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"unheard/of"}', NO_METHOD),
        (tool("unheard_of", 7), INVALID_PARAMS),
        *((holding(arguments), INVALID_PARAMS) for arguments in (b"[]", b"1", b'"{}"')),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call"}', INVALID_PARAMS),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}', INVALID_PARAMS),
    ],
)
def test_an_unknown_method_or_tool_is_the_protocols_error(shared: Rpc, frame: bytes, code: int) -> None:
    shared.send(frame.rstrip(b"\n") + b"\n")
    answer = shared.answer()
    assert (answer["id"], answer["error"]["code"]) == (7, code)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (b"{}", "$: 'entities' is required"),
        (b'{"entities":1}', "$.entities: must be an array"),
        (b'{"entities":[{"nam":"A"}]}', "$.entities[0]: unknown argument 'nam'; did you mean 'name'?"),
        (b'{"entities":[{"name":"A"}],"entity":1}', "$: unknown argument 'entity'"),
        (b'{"entities":[{"name":"A\\u0000"}]}', "$.entities[0].name: a NUL"),
        (b'{"entities":[{"name":"A","properties":{"a":{"b":NaN}}}]}', "$.entities[0].properties.a.b: NaN"),
        (b'{"entities":[{"name":"A","properties":{"a":-Infinity}}]}', "$.entities[0].properties.a: NaN and Infinity"),
        (b'{"entities":[{"name":"A","properties":{"a":1e999}}]}', "$.entities[0].properties.a: NaN and Infinity"),
        (
            b'{"entities":[{"name":"A","properties":{"a":18446744073709551616}}]}',
            "$.entities[0].properties.a: the integer",
        ),
        (b'{"entities":[{"name":"A","properties":{"\\u0000":1}}]}', "$.entities[0].properties["),
        (
            b'{"entities":[{"name":"A","properties":' + b'{"a":' * 99 + b"1" + b"}" * 99 + b"}]}",
            "$.entities[0]: properties",
        ),
        (b'{"entities":"[{\\"name\\":\\"\\\\ud83d\\"}]"}', "$.entities: must be an array; the JSON text"),
    ],
    ids=lambda value: value[:60].decode() if isinstance(value, bytes) else "",
)
def test_a_wrong_argument_is_named_and_nothing_stored(shared: Rpc, arguments: bytes, message: str) -> None:
    shared.send(holding(arguments))
    answer = shared.answer()
    assert answer["result"]["isError"]
    assert told(answer)["error"].startswith(message)
    assert shared.call("list_categories") == []


def test_a_call_before_the_handshake_is_refused(rpc: Rpc, base: Path) -> None:
    with rpc() as server:
        server.send(create(7, "A"))
        answer = server.answer()
        assert (answer["id"], answer["error"]["code"]) == (7, INVALID_PARAMS)
        assert server.open().call("list_categories") == []


@linux
def test_a_frame_that_is_too_large_is_answered_with_its_id_and_not_kept(server: Rpc) -> None:
    params = b'"params":{"name":"create_entities","arguments":{"entities":[{"name":"A","observations":["', b'"]}]}}'
    for before, after, id in [
        (b'"jsonrpc":"2.0","id":7,"method":"tools/call",', b"", 7),
        (b'"method":"tools/call",', b',"jsonrpc":"2.0","id":"a \\" b"', 'a " b'),
        (b"", b',"id":8,"method":"tools/call","jsonrpc":"2.0"', 8),
        (b'"jsonrpc":"2.0","method":"tools/call",', b"", None),
    ]:
        server.send(b"{", before, params[0], b"x" * (64 * MIB), params[1], after, b"}\n")
        answer = server.answer()
        assert (answer["id"], answer["error"]["code"]) == (id, INVALID_REQUEST)
        assert "at most 16 MiB" in answer["error"]["message"]
    peak = int(re.search(r"VmHWM:\s*(\d+) kB", (server.proc / "status").read_text())[1]) >> 10
    print(f"peak of resident memory: {peak} MiB")
    assert peak < 160
    assert server.call("list_categories") == []


# Frames that can be taken


def test_the_last_of_equal_keys_wins(shared: Rpc) -> None:
    params = b'{"name":"unheard_of","name":"search_nodes","arguments":{"query":7,"query":"A"}}'
    shared.send(b'{"jsonrpc":"2.0","id":6,"id":7,"method":"tools/call","params":' + params + b"}\n")
    answer = shared.answer()
    assert (answer["id"], told(answer)) == (7, {"entities": [], "relations": []})


def test_a_frame_of_ten_mib_is_taken(server: Rpc) -> None:
    texts = [f"{number} " + "x" * (MIB - 10) for number in range(10)]
    server.send(tool("create_entities", 7, entities=[{"name": "A", "observations": texts}]))
    assert not server.answer()["result"]["isError"]
    assert len(server.call("search_nodes", query="9", limit=1)["entities"]) == 1


def test_frames_may_come_in_pieces_or_many_at_once(shared: Rpc) -> None:
    frame = '{"jsonrpc":"2.0","id":"é","method":"ping"}\r\n'.encode()
    for index in range(len(frame)):
        shared.send(frame[index : index + 1])
    assert shared.answer() == {"jsonrpc": "2.0", "id": "é", "result": {}}
    shared.send(b"".join(request("ping", number) for number in range(5_000)))
    assert [shared.answer()["id"] for _ in range(5_000)] == list(range(5_000))


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-12-31"])
def test_every_version_of_the_handshake_is_spoken(rpc: Rpc, version: str) -> None:
    with rpc() as server:
        agreed = server.open(version).opened["result"]["protocolVersion"]
        assert agreed == (version if version.startswith("202") else "2025-11-25")
        assert len(server.ask("tools/list")["result"]["tools"]) == 11


def test_a_connection_of_2026_needs_no_handshake(rpc: Rpc) -> None:
    with rpc() as server:
        assert len(server.ask("tools/list", {"_meta": ENVELOPE})["result"]["tools"]) == 11
        asked = {"name": "create_entities", "arguments": {"entities": [{"name": "A"}]}, "_meta": ENVELOPE}
        assert [entity["name"] for entity in told(server.ask("tools/call", asked))] == ["A"]


@pytest.mark.parametrize("pipelined", [False, True])
def test_a_client_may_ask_what_the_server_is_and_then_shake_hands(rpc: Rpc, pipelined: bool) -> None:
    with rpc() as server:
        probe = request("server/discover", "probe", _meta=ENVELOPE)
        if pipelined:
            server.send(probe, HANDSHAKE, create(7, "A"))
            answers = [server.answer() for _ in range(3)]
        else:
            server.send(probe)
            answers = [server.answer()]
            server.send(HANDSHAKE, create(7, "A"))
            answers += [server.answer(), server.answer()]
        assert [answer["id"] for answer in answers] == ["probe", "hello", 7]
        assert all("result" in answer for answer in answers)
        assert len(server.ask("tools/list")["result"]["tools"]) == 11


# Many calls, several processes


def test_five_hundred_pipelined_writes_are_all_kept(server: Rpc, base: Path) -> None:
    server.send(b"".join(create(number, f"{number}") for number in range(500)))
    assert [server.answer()["id"] for _ in range(500)] == list(range(500))
    assert sorted(names(base)) == sorted(map(str, range(500)))


def test_two_servers_and_a_shell_loop_lose_nothing(rpc: Rpc, base: Path) -> None:
    script = 'for n in 1 2 3 4 5 6 7 8; do "$0" -m mmem create-entities shell-$n >/dev/null || exit 1; done'
    with rpc() as one, rpc() as other, subprocess.Popen(["sh", "-c", script, sys.executable]) as shell:
        servers = {"one": one.open(), "other": other.open()}
        written = 0
        while shell.poll() is None or written < 100:
            for name, server in servers.items():
                server.call("create_entities", entities=[{"name": f"{name}-{written}"}])
            written += 1
    expected = {f"{name}-{number}" for name in servers for number in range(written)}
    assert shell.returncode == 0
    assert set(names(base)) == expected | {f"shell-{number}" for number in range(1, 9)}


def test_a_slow_call_blocks_no_ping_and_later_calls_wait_their_turn(server: Rpc) -> None:
    server.send(many("slow", 50_000), tool("read_graph", "later", limit=1, offset=49_999))
    worst, answers = 0.0, {}
    while "later" not in answers:
        began = time.monotonic()
        server.send(request("ping", "ping"))
        while (answer := server.answer())["id"] != "ping":
            answers[answer["id"]] = answer
        worst = max(worst, time.monotonic() - began)
    print(f"the slowest ping: {worst:.3f} s")
    assert worst < 1
    assert list(answers) == ["slow", "later"]
    assert [entity["name"] for entity in told(answers["later"])["entities"]] == ["slow-49999"]


def test_a_lock_of_another_process_blocks_no_ping_and_order_stays(server: Rpc, base: Path) -> None:
    server.call("create_entities", entities=[{"name": "A"}])
    worst = 0.0
    with locked(base):
        server.send(create(1, "B"), tool("read_graph", 2))
        end = time.monotonic() + 2
        while time.monotonic() < end:
            began = time.monotonic()
            assert server.ask("ping")["result"] == {}
            worst = max(worst, time.monotonic() - began)
            time.sleep(0.01)
    print(f"the slowest ping: {worst:.3f} s")
    assert worst < 1
    assert server.answer()["id"] == 1
    assert [entity["name"] for entity in told(server.answer())["entities"]] == ["A", "B"]


@pytest.mark.parametrize("id", [7, "7"])
def test_a_cancelled_call_is_never_answered_and_all_or_nothing(server: Rpc, base: Path, id: Any) -> None:
    server.call("create_entities", entities=[{"name": "A"}])
    with locked(base):
        server.send(many(7, 3_000))
        assert server.ask("ping")["result"] == {}
        server.send(cancel(id), create(8, "B"))
    assert server.answer()["id"] == 8
    server.close()
    assert (server.ended(), server.rest()) == (0, [])
    assert len(names(base)) in {2, 3_002}


def test_a_call_that_is_cancelled_before_its_turn_does_nothing(server: Rpc, base: Path) -> None:
    server.call("create_entities", entities=[{"name": "A"}])
    with locked(base):
        server.send(create(7, "B"), create(8, "C"), create(9, "D"), cancel(8))
        assert server.ask("ping")["result"] == {}
    assert [server.answer()["id"] for _ in range(2)] == [7, 9]
    assert names(base) == ["A", "B", "D"]


# The file under a running server


def test_a_file_that_was_deleted_is_not_written_to(server: Rpc, base: Path) -> None:
    server.call("create_entities", entities=[{"name": "old"}])
    (base / "default.db").unlink()
    assert server.call("read_graph") == {"entities": [], "relations": []}
    server.call("create_entities", entities=[{"name": "new"}])
    assert names(base) == ["new"]
    (base / "default.db").unlink()
    server.call("create_entities", entities=[{"name": "newer"}])
    assert names(base) == ["newer"]


@pytest.mark.parametrize("with_log", [True, False])  # which SQLite would read into the new file
@pytest.mark.parametrize("first", ["read_graph", "create_entities"])
def test_a_file_that_was_replaced_is_read_anew(
    server: Rpc, base: Path, tmp_path: Path, with_log: bool, first: str
) -> None:
    server.call("create_entities", entities=[{"name": "old"}])
    with Store(tmp_path / "other") as other:
        call(other, "create_entities", {"entities": [{"name": "new"}]})
    for log in () if with_log else ("default.db-wal", "default.db-shm"):
        (base / log).unlink()
    (tmp_path / "other" / "default.db").replace(base / "default.db")
    server.call(first, **({} if first == "read_graph" else {"entities": [{"name": "newer"}]}))
    assert server.call("read_graph")["entities"][0]["name"] == "new"
    assert len([*base.glob("*-of-the-one-before-*")]) == with_log  # nothing is thrown away
    server.call("create_entities", entities=[{"name": "newest"}])
    assert {"new", "newest"} <= set(names(base)) <= {"new", "newer", "newest"}


def test_a_file_without_a_write_ahead_log_holds_up_its_own_calls_alone(rpc: Rpc, base: Path) -> None:
    with Store(base) as store:
        call(store, "create_entities", {"entities": [{"name": "A"}]})
    with closing(sqlite3.connect(base / "default.db", isolation_level=None)) as conn, rpc() as server:
        conn.execute("PRAGMA journal_mode = DELETE")
        conn.execute("BEGIN EXCLUSIVE")
        server.open()
        server.send(create(7, "B"))
        assert server.ask("ping")["result"] == {}
        conn.execute("ROLLBACK")
        assert server.answer()["id"] == 7
    assert names(base) == ["A", "B"]


# The end


def test_all_that_was_asked_by_a_one_shot_pipe_is_answered(mmem_process: Callable[..., Any], base: Path) -> None:
    frames = HANDSHAKE + create(1, "A") + many(2, 3_000) + b"{\n" + request("tools/list", 3).rstrip()
    ran = mmem_process("serve", stdin=frames)
    assert (ran.exit_status, ran.stderr) == (0, "")
    assert {json.loads(line)["id"] for line in ran.stdout.splitlines()} == {"hello", 1, 2, None, 3}
    assert len(names(base)) == 3_001


def test_calls_that_share_an_id_are_all_answered(mmem_process: Callable[..., Any]) -> None:
    calls = [many(1, 1_000).replace(b"1-", prefix) for prefix in (b"a-", b"b-", b"c-")]
    ran = mmem_process("serve", stdin=HANDSHAKE + b"".join(calls))
    answers = [json.loads(line) for line in ran.stdout.splitlines()[1:]]
    assert [(answer["id"], len(told(answer))) for answer in answers] == [(1, 1_000)] * 3


def test_input_may_be_a_regular_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(HANDSHAKE + b"".join(create(number, f"{number}") for number in range(1_000)))
    with (tmp_path / "in").open("rb") as frames:
        ran = subprocess.run(SERVE, stdin=frames, capture_output=True, timeout=60, check=True)
    assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == ["hello", *range(1_000)]


def test_no_input_is_a_clean_end() -> None:
    ran = subprocess.run(SERVE, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert (ran.stdout, ran.stderr, ran.returncode) == (b"", b"", 0)


def test_an_idle_server_ends_at_once_with_its_input(rpc: Rpc) -> None:
    took = []
    for _ in range(3):
        with rpc() as server:
            server.open()
            began = time.monotonic()
            server.close()
            assert server.ended() == 0
            took.append(time.monotonic() - began)
    print("ended after", *(f"{seconds:.3f} s" for seconds in took))
    assert min(took) < 0.1


def test_a_call_that_runs_when_the_input_ends_is_answered(server: Rpc, base: Path) -> None:
    server.call("create_entities", entities=[{"name": "A"}])
    with locked(base):
        server.send(create(7, "B"))
        server.close()
        time.sleep(0.2)
        assert server.process.poll() is None
    assert [answer["id"] for answer in server.rest()] == [7]
    assert (server.ended(), server.stderr, names(base)) == (0, "", ["A", "B"])


SIGNALS = [(signal.SIGTERM, 0), (signal.SIGHUP, 0), (signal.SIGINT, 130)]


@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_a_signal_ends_an_idle_server(server: Rpc, number: int, status: int) -> None:
    began = time.monotonic()
    server.process.send_signal(number)
    assert (server.ended(), server.stderr) == (status, "")
    print(f"ended after {time.monotonic() - began:.3f} s")


@pytest.mark.parametrize(("number", "status"), SIGNALS)
def test_a_call_that_runs_when_a_signal_comes_is_answered(server: Rpc, base: Path, number: int, status: int) -> None:
    server.call("create_entities", entities=[{"name": "A"}])
    with locked(base):
        server.send(create(7, "B"))
        assert server.ask("ping")["result"] == {}
        server.process.send_signal(number)
    assert [answer["id"] for answer in server.rest()] == [7]
    assert (server.ended(), server.stderr, names(base)) == (status, "", ["A", "B"])


def test_a_second_signal_ends_the_server_in_the_middle_of_a_call(server: Rpc, base: Path) -> None:
    server.call("create_entities", entities=[{"name": "A"}])
    with locked(base):
        server.send(create(7, "B"))
        assert server.ask("ping")["result"] == {}
        while server.process.poll() is None:
            server.process.send_signal(signal.SIGTERM)
            time.sleep(0.02)
    assert (server.ended(), server.rest(), names(base)) == (128 + signal.SIGTERM, [], ["A"])


def test_an_ignored_hangup_stays_ignored(rpc: Rpc) -> None:
    with rpc(before=["sh", "-c", "trap '' HUP; exec \"$@\"", "sh"]) as server:
        server.open().process.send_signal(signal.SIGHUP)
        assert server.ask("ping")["result"] == {}
        server.close()
        assert server.ended() == 0


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="waits for another's child")
def test_a_server_doesnt_outlive_a_client_that_is_killed() -> None:
    code = (
        "import subprocess, sys, time\n"
        "server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        f"server.stdin.write({HANDSHAKE!r}); server.stdin.flush(); server.stdout.readline()\n"
        "print(server.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, *SERVE], stdout=subprocess.PIPE) as client:
        assert select.select([client.stdout], [], [], 30)[0]
        ended = os.pidfd_open(int(client.stdout.readline()))
        client.kill()
    with open(ended, "rb", buffering=0):
        assert select.select([ended], [], [], 30)[0]


@pytest.mark.parametrize(
    "frames", [many(7, 3_000), create(7, "A") * 2_000, b"{\n" * 3_000], ids=["one", "many", "broken"]
)
def test_a_client_that_closes_the_output_is_no_error(rpc: Rpc, frames: bytes) -> None:
    with rpc(reads=False) as server:
        server.send(HANDSHAKE)
        assert select.select([server.process.stdout], [], [], 30)[0]
        server.send(frames)
        server.process.stdout.close()
        with suppress(BrokenPipeError):
            server.send(request("ping", 8) * 2)
        assert (server.ended(), server.stderr) == (0, "")


def test_a_client_that_has_stopped_reading_is_given_five_seconds_at_the_end(rpc: Rpc) -> None:
    answers_beyond_all_bounds = (b'{"id":"' + b"x" * MIB + b'"}\n') * 65
    floods = [
        many(7, 3_000),
        b"".join(request("ping", number) for number in range(3_000)),
        b"{\n" * 3_000,
        answers_beyond_all_bounds + b"{\n" * 30_000,
    ]
    with ExitStack() as running:
        servers = [running.enter_context(rpc(reads=False)) for _ in floods]
        for server, flood in zip(servers, floods, strict=True):
            server.send(HANDSHAKE, flood)
            server.close()
        began = time.monotonic()
        assert [server.ended() for server in servers] == [0] * 4
        print(f"ended after {time.monotonic() - began:.1f} s")
        assert [server.stderr for server in servers] == [""] * 4


def test_a_client_that_reads_nothing_for_a_while_loses_nothing(rpc: Rpc) -> None:
    floods = {(7,): many(7, 3_000), (None,) * 2_000: b"{\n" * 2_000}
    with ExitStack() as running:
        servers = [running.enter_context(rpc(reads=False)) for _ in floods]
        for server, flood in zip(servers, floods.values(), strict=True):
            server.send(HANDSHAKE, flood)
            assert select.select([server.process.stdout], [], [], 30)[0]
        time.sleep(6)  # longer than a client is given at the end
        for server, ids in zip(servers, floods, strict=True):
            server.send(request("ping", 8))
            server.read_on()
            server.close()
            assert [answer["id"] for answer in server.rest()] == ["hello", *ids, 8]
            assert server.ended() == 0


# The streams


@linux
def test_the_wire_is_out_of_reach_of_prints_and_children(shared: Rpc) -> None:
    wire = {os.readlink(f"/proc/self/fd/{pipe.fileno()}") for pipe in (shared.process.stdin, shared.process.stdout)}
    links = {int(link.name): os.readlink(link) for link in (shared.proc / "fd").iterdir()}
    assert links[0] == os.devnull
    assert links[1] == links[2]
    assert wire <= set(links.values())
    assert not wire & {links[0], links[1], links[2]}


@linux
def test_the_wire_takes_no_standard_streams_place_that_was_closed(rpc: Rpc) -> None:
    with rpc(before=["sh", "-c", 'exec "$@" 2>&-', "sh"]) as server:
        server.open()
        assert [os.readlink(server.proc / "fd" / str(number)) for number in range(3)] == [os.devnull] * 3


def test_whatever_is_printed_lands_on_standard_error(rpc: Rpc, tmp_path: Path) -> None:
    noise = (
        "import os, sys\n"
        "class Noise:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name.startswith(('mcp', 'mmem.commands')):\n"
        "            if name == 'mcp':\n"
        "                print('noise'); os.write(1, b'noise\\n'); os.system('echo noise')\n"
        "sys.meta_path.insert(0, Noise())\n"
    )
    (tmp_path / "sitecustomize.py").write_text(noise)
    with rpc(environ={"PYTHONPATH": str(tmp_path), "PYTHONUNBUFFERED": "1"}) as server:
        server.open().send(b"{\n", create(7, "A"), create(8, "A"), tool("create_entities", 9))
        assert [server.answer()["id"] for _ in range(4)] == [None, 7, 8, 9]
        server.close()
        assert (server.rest(), server.stderr) == ([], "noise\n" * 3)


def test_on_a_terminal_it_says_what_it_is(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with open(ours, "r+b", buffering=0) as terminal, (tmp_path / "err").open("w+") as err:
        with subprocess.Popen(SERVE, stdin=theirs, stdout=theirs, stderr=err) as process:
            os.close(theirs)
            terminal.write(request("ping", 7) + b"\x04")
            shown = b""
            while not shown.endswith(b'"result":{}}\r\n'):
                assert select.select([terminal], [], [], 30)[0], shown
                shown += terminal.read(1)
            assert process.wait(30) == 0
        assert "waiting for a host's JSON-RPC on standard input" in (tmp_path / "err").read_text()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&-"])
def test_a_closed_stream_is_said_in_a_line(closed: str) -> None:
    ran = subprocess.run(["sh", "-c", f'"$@" {closed}', "sh", *SERVE], capture_output=True, timeout=60, check=False)
    line = b"mmem: a server talks on standard input and output, and one of them is closed\n"
    assert (ran.stdout, ran.stderr, ran.returncode) == (b"", line, 2)


@pytest.mark.parametrize(
    "words",
    [
        "--dialect x",
        "--max-bytes 5",
        "--max-bytes x",
        "--pin ../a",
        "--pin a -c b",
        "-f table",
        "--unheard-of",
        "extra",
    ],
)
def test_a_bad_option_is_said_in_a_line(mmem_process: Callable[..., Any], words: str) -> None:
    ran = mmem_process("serve", *words.split())
    assert (ran.stdout, ran.stderr[:6], ran.stderr.count("\n"), ran.exit_status) == ("", "mmem: ", 1, 2)
