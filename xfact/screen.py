"""What a person sees: everything but asked-for output goes to stderr."""

from rich.console import Console

console = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """One line of progress or fact."""
    console.print(text, markup=False)


def warn(text: str) -> None:
    """One line that the user should not miss."""
    console.print(f"warning: {text}", style="yellow", markup=False)
