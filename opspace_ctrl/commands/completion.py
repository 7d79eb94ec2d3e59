# SPDX-License-Identifier: Apache-2.0
"""Print a completion script for a shell: commands, their options, and the names that they take."""

from __future__ import annotations

import argparse
import pkgutil
from importlib import import_module

from .. import commands
from ..model.source import ROBOTS

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """SHELL."""
    parser.add_argument(
        "shell",
        choices=SHELLS,
        help='bash or zsh: eval "$(opspace completion bash)" in ~/.bashrc; fish: opspace completion '
        "fish > ~/.config/fish/completions/opspace.fish",
    )


def run(args: argparse.Namespace) -> int:
    """Print it."""
    words = command_words()
    print(_fish(words) if args.shell == "fish" else _bash(words, args.shell))
    return 0


def command_words() -> dict[str, list[str]]:
    """{command: its options, choices and the shipped robots}."""
    found = {}
    for module in pkgutil.iter_modules(commands.__path__):
        if module.name.startswith("_"):
            continue
        parser = argparse.ArgumentParser()
        import_module(f"{commands.__name__}.{module.name}").add_arguments(parser)
        words = [option for action in parser._actions for option in action.option_strings]
        for action in parser._actions:
            words += map(str, action.choices or ())
        found[module.name] = [*sorted(each for each in words if each), *ROBOTS]
    return dict(sorted(found.items()))


def _bash(words: dict[str, list[str]], shell: str) -> str:
    cases = "\n".join(f"    {name}) words='{' '.join(each)}' ;;" for name, each in words.items())
    head = (
        "autoload -Uz compinit bashcompinit; (( $+functions[compdef] )) || compinit; bashcompinit\n"
        if shell == "zsh"
        else ""
    )
    return f"""{head}_opspace() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words='{" ".join(words)} --version --help'
  if [ "$COMP_CWORD" -gt 1 ]; then case "${{COMP_WORDS[1]}}" in
{cases}
    *) words='' ;;
  esac; fi
  COMPREPLY=($(compgen -W "$words" -- "$word") $(compgen -f -- "$word"))
}}
complete -o filenames -F _opspace opspace"""


def _fish(words: dict[str, list[str]]) -> str:
    lines = [f"complete -c opspace -n __fish_use_subcommand -a '{' '.join(words)}'"]
    for name, each in words.items():
        lines.append(
            f"complete -c opspace -n '__fish_seen_subcommand_from {name}' -a '{' '.join(each)}'"
        )
    return "\n".join(lines)
