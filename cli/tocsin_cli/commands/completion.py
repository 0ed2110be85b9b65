"""`tocsin completion`: the script that lets a shell complete commands, options and names."""

import click
from click.shell_completion import get_completion_class

from tocsin_cli.command import Session, command, pass_session


@command(
    "completion",
    examples=[
        ("bash, for every new shell", "tocsin completion bash > ~/.local/share/bash-completion/completions/tocsin"),
        ("zsh, into a folder of your $fpath", 'tocsin completion zsh > "${fpath[1]}/_tocsin"'),
        ("fish", "tocsin completion fish > ~/.config/fish/completions/tocsin.fish"),
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@pass_session
def COMMAND(session: Session, /, shell: str) -> None:  # noqa: N802
    """Print the completion script of a shell: commands, options, choices, and the names of profiles and templates."""
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101 - click knows all three
    root = click.get_current_context().find_root().command
    session.out.block(made(root, {}, "tocsin", "_TOCSIN_COMPLETE").source().rstrip())
