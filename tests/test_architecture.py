"""The house's rules: which way imports run, what a light command may load, one registry line per command."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mmem
from mmem.registry import COMMANDS, module_of, tool

CORE = Path(mmem.__file__).parent
FACE = {
    *("app", "cli", "each", "lazy", "options", "pager", "progress", "tooling", "welcome", "words", "__main__"),
    *("render", "dashboard", "folding", "marking", "styles"),
}
HEAVY = {"click", "rich", "mcp", "yaml"}


def imports(file: Path) -> set[str]:
    """Return the top names of what a module imports, whether at its top or inside a function."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


def core_modules() -> list[Path]:
    return [file for file in sorted(CORE.glob("*.py")) if file.stem not in FACE]


@pytest.mark.parametrize("file", core_modules(), ids=lambda file: file.stem)
def test_the_core_knows_no_click_no_rich_no_commands(file: Path) -> None:
    names = imports(file)
    allowed = {"yaml"} if file.stem in {"formats", "yamltext"} else set()
    assert not {name.split(".")[0] for name in names} & (HEAVY - allowed)
    assert not {name for name in names if name.startswith("mmem.commands")}
    assert not {name.split(".")[1] for name in names if name.startswith("mmem.")} & FACE


@pytest.mark.parametrize("file", sorted((CORE / "seeding").glob("*.py")), ids=lambda file: file.stem)
def test_seeding_is_a_part_of_the_core_and_reads_yaml_in_one_place(file: Path) -> None:
    names = imports(file)
    assert not {name.split(".")[0] for name in names} & {*HEAVY, "sqlite3", "sqlite_utils"}
    assert not {name for name in names if name.startswith("mmem.commands")}
    assert not {name.split(".")[1] for name in names if name.startswith("mmem.")} & FACE


@pytest.mark.parametrize("file", sorted((CORE / "server").glob("*.py")), ids=lambda file: file.stem)
def test_the_server_is_one_more_face_on_the_core(file: Path) -> None:
    names = imports(file)
    assert not {name.split(".")[0] for name in names} & (HEAVY - {"mcp"} | {"sqlite3", "sqlite_utils"})
    assert not {name for name in names if name.startswith("mmem.commands")}
    assert not {name.split(".")[1] for name in names if name.startswith("mmem.")} & FACE


@pytest.mark.parametrize("file", sorted((CORE / "exporting").glob("*.py")), ids=lambda file: file.stem)
def test_an_export_is_a_part_of_the_core(file: Path) -> None:
    names = imports(file)
    assert not {name.split(".")[0] for name in names} & (HEAVY | {"sqlite3", "sqlite_utils"})
    assert not {name for name in names if name.startswith("mmem.commands")}
    assert not {name.split(".")[1] for name in names if name.startswith("mmem.")} & FACE


@pytest.mark.parametrize("file", sorted((CORE / "manual").glob("*.py")), ids=lambda file: file.stem)
def test_the_manual_knows_click_only_where_it_describes_commands(file: Path) -> None:
    names = imports(file)
    describes = file.stem in {"describing", "generate"}
    assert not {name.split(".")[0] for name in names} & (HEAVY - {"click"} | {"sqlite3", "sqlite_utils"})
    assert not {name for name in names if name.startswith("mmem.commands")}
    known = {name.split(".")[1] for name in names if name.startswith("mmem.")} & FACE | {"click"} & names
    assert describes or not known


@pytest.mark.parametrize("file", sorted((CORE / "checkup").glob("*.py")), ids=lambda file: file.stem)
def test_a_checkup_is_a_part_of_the_core(file: Path) -> None:
    names = imports(file)
    assert not {name.split(".")[0] for name in names} & {*HEAVY, "sqlite_utils"}
    assert not {name for name in names if name.startswith("mmem.commands")}
    assert not {name.split(".")[1] for name in names if name.startswith("mmem.")} & FACE


@pytest.mark.parametrize("name", ["__init__", "claim", "answers", "cutting", "multi_memory", "server_memory", "start"])
def test_the_server_imports_the_sdk_last(name: str) -> None:
    assert not {module.split(".")[0] for module in imports(CORE / "server" / f"{name}.py")} & {"mcp", "anyio"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_knows_no_sql(command: str) -> None:
    module = module_of(command).rpartition(".")[2]
    file = CORE / "commands" / f"{module}.py"
    source = file if file.exists() else CORE.parent / "commands" / f"{module}.py"
    assert not {name.split(".")[0] for name in imports(source)} & {"sqlite3", "sqlite_utils"}
    assert not {".execute(", ".conn", "SELECT "} & {
        part for part in (".execute(", ".conn", "SELECT ") if part in source.read_text()
    }


def test_nothing_but_sqlite_opens_a_category() -> None:
    """On POSIX, closing a file drops the process's locks on it: SQLite's own, too (see "How To Corrupt", 2.2)."""
    names = "files category_file store layout schema transaction copies soundness backups places restores swapping"
    for name in [*names.split(), "shells/names"]:
        calls = [
            node.func for node in ast.walk(ast.parse((CORE / f"{name}.py").read_text())) if isinstance(node, ast.Call)
        ]
        assert not [call for call in calls if isinstance(call, ast.Name) and call.id == "open"], name
        assert not [call for call in calls if getattr(call, "attr", "") in {"read_bytes", "read_text"}], name


def test_every_command_file_is_in_the_registry() -> None:
    folder = CORE / "commands" if (CORE / "commands").exists() else CORE.parent / "commands"
    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    assert files == {name.replace("-", "_") for name in COMMANDS}


def test_every_tool_of_the_registry_loads_and_no_other_command_is_one() -> None:
    tools = [name for name, entry in COMMANDS.items() if entry.tool]
    assert len([name for name in tools if not COMMANDS[name].further]) == 11
    assert all(tool(name).request.__struct_config__.forbid_unknown_fields for name in tools)
    assert not hasattr(__import__(module_of("seed"), fromlist=["x"]), "tool")


def loaded_by(words: list[str]) -> set[str]:
    """Return the modules that a run of the command line has loaded at its end."""
    code = (
        "import sys, atexit; sys.argv = ['mmem', *sys.argv[1:]];"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        "from mmem.__main__ import main; main()"
    )
    ran = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in ran.stderr.split()}


@pytest.mark.parametrize(
    ("words", "forbidden"),
    [
        (["--version"], {"click", "sqlite3", "sqlite_utils", "msgspec", "rich", "yaml", "mcp", "json"}),
        (
            ["__complete", "entity", "Z"],
            {"click", "json", "sqlite_utils", "msgspec", "rich", "yaml", "mcp"},
        ),
        (["--help"], {"sqlite3", "sqlite_utils", "msgspec", "rich", "yaml", "mcp"}),
        (["help", "query"], {"sqlite3", "sqlite_utils", "msgspec", "rich", "yaml", "mcp"}),
        (["serve", "--help"], {"sqlite3", "sqlite_utils", "msgspec", "rich", "yaml", "mcp", "pydantic", "anyio"}),
        (["list-categories"], {"sqlite_utils", "msgspec", "rich", "yaml", "mcp"}),
        (["create-entities", "A"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["list-categories", "-v"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["stats"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["read-graph"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["neighbors", "Z"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["path", "Z", "Z"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["rename", "Z", "Y"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["search-nodes", "A"], {"sqlite_utils", "rich", "yaml", "mcp"}),
        (["export", "--to", "yaml"], {"sqlite_utils", "rich", "yaml", "mcp", "toon_format"}),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_light_commands_load_nothing_heavy(words: list[str], forbidden: set[str]) -> None:
    subprocess.run([sys.executable, "-m", "mmem", "create-entities", "Z"], capture_output=True, check=True)
    assert not loaded_by(words) & forbidden
