"""`manent completion`: the script with which a shell completes commands, options and ids."""

from __future__ import annotations

import click

from manent.cli import options, output

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_MANENT_COMPLETE"
"""By which a script asks `manent` for completions."""


@click.command(
    "completion",
    short_help="Print the script with which a shell completes.",
    epilog=options.examples(
        "manent completion bash > ~/.local/share/bash-completion/completions/manent",
        "manent completion zsh > ~/.zfunc/_manent",
        "manent completion fish > ~/.config/fish/completions/manent.fish",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS))
@options.shared
@click.pass_obj
def command(settings: options.Settings, shell: str) -> None:
    """
    Print the script with which SHELL completes commands, options and the ids of conversations.

    Ids are those of the store and the workspace that the line names, or that are configured.
    """
    from click.shell_completion import get_completion_class

    from manent.cli.app import app

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"There is no completion for {shell}.", click.get_current_context())
    made = kind(app, {}, "manent", VARIABLE)
    script = made.source_template % made.source_vars()  # `source()` would start a shell to ask how old it is
    if settings.json:
        output.write_json({"shell": shell, "script": script})
    else:
        output.write(script.rstrip("\n"))
