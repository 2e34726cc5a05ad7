"""`manent doctor`: how a store stands, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from manent.cli import exits, options, output, render
from manent.errors import ManentError

if TYPE_CHECKING:
    from manent.model.health import Check

SIGNS = {"ok": "ok", "notice": "notice", "wrong": "WRONG"}


@click.command(
    "doctor",
    short_help="Say how the store stands, and what to do.",
    epilog=options.examples("manent doctor", "manent doctor --quick", "manent doctor --json"),
)
@click.option("--quick", is_flag=True, help="Leave out `verify`, which reads the whole store.")
@options.shared
@click.pass_obj
def command(settings: options.Settings, quick: bool) -> int:
    """
    Say how the store stands: engine, format, place, rights, sizes, room, a trial of reading and writing.

    Nothing is changed or repaired. The exit code is 1 when something is wrong, and 4 when there is no store.
    """
    options.check(settings)
    with exits.interruptible(lambda: "nothing was changed"):
        checks = list(_look(settings, quick=quick))
    is_healthy = all(check.state != "wrong" for check in checks)
    if settings.json:
        import msgspec

        seen = {"store": settings.url, "ok": is_healthy, "checks": msgspec.to_builtins(checks)}
        output.write_json(seen)
    else:
        _write(settings.url, checks)
    return exits.DONE if is_healthy else exits.FAILED


def _look(settings: options.Settings, *, quick: bool) -> Iterator[Check]:
    """Everything that can be looked at; what cannot be opened is not opened for a trial."""
    if options.is_file(settings.url):
        from manent.storage.sqlite import health

        path = str(options.path_of(settings.url))
        yield from health.look_from_outside(settings.url, path, settings.durability)
        inside = health.look_inside(settings.url, path)
        yield from inside.checks
        if not inside.is_current:
            return
    yield from _try(settings, quick=quick)


def _try(settings: options.Settings, *, quick: bool) -> Iterator[Check]:
    from manent.history import health
    from manent.model.health import Check

    try:
        with options.open_store(settings, every_workspace=True) as store:
            yield from health.probe(store)
            if quick:
                return
            progress = output.Progress("events")
            try:
                yield health.look_through(store, progress)
            finally:
                progress.clear()
    except ManentError as error:
        yield Check(name="open", state="wrong", said=str(error))


def _write(url: str, checks: Sequence[Check]) -> None:
    output.write(output.bold(render.one_line(url)))
    for check in checks:
        sign = SIGNS[check.state]
        output.write(f"  {sign:6}  {check.name:10}  {render.one_line(check.said)}")
        if check.advice:
            output.write(f"{'':22}{render.one_line(check.advice)}")
    wrong = sum(check.state == "wrong" for check in checks)
    output.write(f"{wrong} wrong" if wrong else "healthy")
