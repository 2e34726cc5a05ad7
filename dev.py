"""
The one entry for contributors. It needs Python 3.11 or newer and git, and sets up the rest by itself.

    python3 dev.py demo             try manent on the samples, in a temporary folder
    python3 dev.py test [ARGS]      everything that CI checks: lint, format, types, import contracts, tests;
                                    ARGS go to pytest as they are, such as: tests/tidy -k docstring
    python3 dev.py check            the same without the tests
    python3 dev.py bench [ARGS]     the benchmarks
    python3 dev.py crash [ARGS]     the full crash campaign
    python3 dev.py pictures         draw what the terminal shows anew, for the README
    python3 dev.py lock [ARGS]      write requirements/*.txt anew; with --upgrade from newer releases
    python3 dev.py clean            remove .venv and what the tools left behind

Packages are installed by pip into .venv beside this file, the way pip is configured on this machine.
"""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

# Nothing above, and no syntax below, is too new for Python 3.6: an old one gets a sentence, not a traceback.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        f"dev.py: manent needs Python 3.11 or newer, and this is {sys.version.split()[0]}. "
        "Run it with a newer one, such as: python3.11 dev.py"
    )

ROOT = Path(__file__).resolve().parent
LOCKED = ROOT / "requirements" / "dev.txt"
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "set-up-for"
"""Written last, so that an interrupted setup is done again."""

PIP = (PYTHON, "-m", "pip", "--disable-pip-version-check", "--no-input")
UV = "uv>=0.9"
"""What locks the requirements; nothing else needs it."""

CHECKS: Mapping[str, Sequence[str]] = {
    "lint": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "types": ("mypy",),
    "import contracts": ("lint-imports",),
}
LOCKS: Mapping[str, Sequence[str]] = {
    "run.txt": (),
    "dev.txt": ("--extra=testing", "--group=dev"),
}
DEMO: Sequence[str] = (
    "import samples/openai-messages.jsonl",
    "import samples/claude-code",
    "list",
    "append {id} 'What was that about?' 'About what is written above.'",
    "search written",
    "context {id} 'And what is written above?' --recent 2",
    "show {id}",
    "verify",
)
"""What `demo` runs; `{id}` is the first conversation of the list."""

CACHES = (".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache")


class DevError(Exception):
    """Something that the person at the keyboard can mend; the message says how."""

    exit_code = 1


class UsageError(DevError):
    """The command was not typed as it is meant."""

    exit_code = 2


def main(arguments: Sequence[str]) -> int:
    """Run one command; return its exit code: 0 done, 1 failed, 2 usage."""
    name, *rest = arguments or ["--help"]
    if name in ("-h", "--help", "help"):
        print((__doc__ or "").strip())
        return 0
    try:
        return command_named(name)(rest)
    except DevError as error:
        print(f"dev.py: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


# ------------------------------------------------------------------------------------------- commands


def test(arguments: Sequence[str]) -> int:
    """Run all checks and then the tests, also where a check failed; the last word is pytest's."""
    set_up()
    failed = failing_checks()
    code = run(PYTHON, "-m", "pytest", *(arguments or ("--numprocesses=auto",)))
    return report(failed) or code


def check(arguments: Sequence[str]) -> int:
    """Run what needs no test."""
    refuse(arguments)
    set_up()
    return report(failing_checks())


def bench(arguments: Sequence[str]) -> int:
    """Run the benchmarks."""
    set_up()
    return run(PYTHON, "-m", "benchmarks", *arguments)


def crash(arguments: Sequence[str]) -> int:
    """Run the crash campaign, far longer than the share of it that the tests run."""
    set_up()
    return run(PYTHON, "-m", "tests.crash.campaign", *arguments)


def demo(arguments: Sequence[str]) -> int:
    """Do the main job on real input: import, read, append, search, context, verify."""
    refuse(arguments)
    set_up()
    folder = Path(tempfile.mkdtemp(prefix="manent-demo-"))
    store = folder / "conversations.db"
    environment = clean_environment(MANENT_STATE=str(folder / "state"))
    for line in DEMO:
        words = shlex.split(line)
        if "{id}" in words:
            words[words.index("{id}")] = first_conversation(store, environment)
        demonstrate(("manent", "--store", str(store), *words), environment)
    print(f"\nThe store is yours to go on with:\n{BIN / 'manent'} --store {store} list")
    return 0


def pictures(arguments: Sequence[str]) -> int:
    """Draw the pictures of the README from what the program shows."""
    refuse(arguments)
    set_up()
    return run(PYTHON, "docs/pictures/draw.py")


def lock(arguments: Sequence[str]) -> int:
    """Write the locked requirements; releases already locked stay, unless `--upgrade` is given."""
    make_venv_if_needed()
    step("installing uv", *PIP, "install", UV)
    environment = clean_environment(**pip_settings_for_uv())
    for name, groups in LOCKS.items():
        compiled = ("-o", f"requirements/{name}", *groups, *arguments)
        step(
            f"locking requirements/{name}",
            *(PYTHON, "-m", "uv", "pip", "compile", "pyproject.toml", "--universal", "--python-version=3.11"),
            *("--generate-hashes", "--no-header", "--quiet", *compiled),
            environment=environment,
        )
    return 0


def clean(arguments: Sequence[str]) -> int:
    """Remove what can be made again."""
    refuse(arguments)
    for name in (VENV.name, "build", "dist", *CACHES):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for folder in ("src", "tests", "benchmarks"):
        for cache in (ROOT / folder).rglob("__pycache__"):
            shutil.rmtree(cache, ignore_errors=True)
    return 0


COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "demo": demo,
    "test": test,
    "check": check,
    "bench": bench,
    "crash": crash,
    "pictures": pictures,
    "lock": lock,
    "clean": clean,
}


def command_named(name: str) -> Callable[[Sequence[str]], int]:
    """The function of a command."""
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}; python3 dev.py --help lists them.")
    return COMMANDS[name]


def refuse(arguments: Sequence[str]) -> None:
    """Some commands take no arguments."""
    if arguments:
        raise UsageError(f"this command takes no arguments, and got: {shlex.join(arguments)}")


# --------------------------------------------------------------------------------------------- setup


def set_up() -> None:
    """Bring `.venv` to the locked state; at once where it is so already."""
    make_venv_if_needed()
    wanted = f"{place()}\n{digest(LOCKED)} {digest(ROOT / 'pyproject.toml')}\n"
    if stamped() == wanted:
        return
    STAMP.write_text(f"{place()}\n", encoding="utf-8")
    step("installing the locked packages", *PIP, "install", "--no-deps", "--requirement", LOCKED)
    step("installing manent", *PIP, "install", "--no-deps", "--no-build-isolation", "--editable", ROOT)
    STAMP.write_text(wanted, encoding="utf-8")


def make_venv_if_needed() -> None:
    """Make `.venv` anew unless it is whole, of this Python, and of this place (scripts hold their path)."""
    if PYTHON.exists() and stamped().startswith(f"{place()}\n"):
        return
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        short = "{}.{}".format(*sys.version_info)
        raise DevError(
            f"this Python {short} came without venv and ensurepip, which make the environment. "
            f"On Debian and Ubuntu: apt-get install python{short}-venv"
        )
    step(f"making .venv with Python {sys.version.split()[0]}", sys.executable, "-m", "venv", "--clear", VENV)
    STAMP.write_text(f"{place()}\n", encoding="utf-8")


def place() -> str:
    """Which Python, and which folder, an environment belongs to."""
    return f"{sys.version.split()[0]} {ROOT}"


def stamped() -> str:
    """What the environment was set up for; empty where there is none."""
    return STAMP.read_text(encoding="utf-8") if STAMP.exists() else ""


def digest(path: Path) -> str:
    """A short name for a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def pip_settings_for_uv() -> dict[str, str]:
    """The index and the certificates that pip is configured with: uv does not read pip's configuration."""
    settings = {"UV_DEFAULT_INDEX": "index-url", "SSL_CERT_FILE": "cert"}
    found = {variable: pip_setting(option) for variable, option in settings.items()}
    return {variable: value for variable, value in found.items() if value and variable not in os.environ}


def pip_setting(option: str) -> str:
    """One option as pip would take it: from the environment, else from its files; empty where not set."""
    variable = "PIP_" + option.upper().replace("-", "_")
    return os.environ.get(variable) or output(*PIP, "config", "get", f"global.{option}").strip()


# -------------------------------------------------------------------------------------------- checks


def failing_checks() -> list[str]:
    """Run every check; print the output of those that fail, and return their names."""
    return [name for name, (tool, *rest) in CHECKS.items() if not passes(name, BIN / tool, *rest)]


def passes(name: str, *command: object) -> bool:
    """Run one check under one printed line."""
    done = captured(command, clean_environment())
    print(f"- {name}: {'failed' if done.returncode else 'ok'}", flush=True)
    if done.returncode:
        print(done.stdout, flush=True)
    return done.returncode == 0


def report(failed: Sequence[str]) -> int:
    """Repeat at the end what failed at the beginning."""
    if failed:
        print(f"dev.py: failed, as shown above: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


# ---------------------------------------------------------------------------------------------- demo


def demonstrate(command: Sequence[str], environment: Mapping[str, str]) -> None:
    """Print a command as one would type it, then what it answers."""
    print(f"\n$ {shlex.join(command)}", flush=True)
    code = run(BIN / command[0], *command[1:], environment=environment)
    if code:
        raise DevError(f"the last command ended with exit code {code}")


def first_conversation(store: Path, environment: Mapping[str, str]) -> str:
    """The id that `manent list` shows first."""
    listed = output(BIN / "manent", "--store", store, "list", "--json", environment=environment)
    found = re.search(r'"id":\s*"([^"]+)"', listed)
    if found is None:
        raise DevError("`manent list --json` shows no conversation")
    return found[1]


# ----------------------------------------------------------------------------------------- processes


def step(saying: str, *command: object, environment: Mapping[str, str] | None = None) -> None:
    """Run one long step under one printed line; show its output only where it fails."""
    print(f"- {saying}", flush=True)
    done = captured(command, environment or clean_environment())
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise DevError(
            f"{saying} failed, as shown above. Where packages could not be had, compare what "
            "`python3 -m pip config list` shows with what this machine can reach; then run the same again."
        )


def run(*command: object, environment: Mapping[str, str] | None = None) -> int:
    """Run a command that speaks for itself; return its exit code."""
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=ROOT, env=environment or clean_environment(), check=False).returncode


def output(*command: object, environment: Mapping[str, str] | None = None) -> str:
    """What a command prints, if it succeeds, else nothing."""
    done = captured(command, environment or clean_environment(), errors=subprocess.DEVNULL)
    return "" if done.returncode else done.stdout


def captured(
    command: Sequence[object], environment: Mapping[str, str], *, errors: int = subprocess.STDOUT
) -> "subprocess.CompletedProcess[str]":
    """Run a command and keep what it prints."""
    words = [str(word) for word in command]
    return subprocess.run(
        words,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=errors,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment, less what would lead Python or pip out of `.venv`."""
    astray = {"PIP_PREFIX", "PIP_TARGET", "PYTHONHOME", "PYTHONPATH"}
    kept = {name: value for name, value in os.environ.items() if name not in astray}
    return {**kept, "PIP_USER": "0", **more}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
