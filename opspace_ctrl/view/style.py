# SPDX-License-Identifier: Apache-2.0
"""How the page differs from viser's own: a stop that stays in sight, a panel that shares a phone with the scene."""

from __future__ import annotations

from typing import Any

__all__ = ["STOP", "STOP_IN_SIGHT", "add_style"]

STOP = "<div data-opspace-stop></div>"  # stands before a button that stops
STOP_IN_SIGHT = (
    '<div data-opspace-stop="in sight"></div>'  # and before one that does not scroll away
)

# viser draws its panel over the scene where a window is narrow (36em), small and at the right; here the two share the
# height, and the scene grows when the head of the panel is tapped. What is sticky stays in sight only if no box around
# it could scroll by itself: boxes that hide what is beyond them become ones that clip it. A list of boxes to tick has
# its words at the right of them, and what has no label leaves no room for one.
STYLE = """<style>
div:has(> [data-opspace-stop]) + div button {
  height: 3.4em !important; font-size: 1.35em !important; font-weight: 800 !important; letter-spacing: .18em; }
div:has(> [data-opspace-stop]) + div button .mantine-Button-section { margin-right: .7em; }
div:has(> [data-opspace-stop="in sight"]) + div {
  position: sticky; top: 0; z-index: 20; background: var(--mantine-color-body); }
[style*="grid-template-rows"] > div { overflow: clip !important; }
div:has(> p > label:empty) { display: none; }
.mantine-Flex-root:has(> div > .mantine-Checkbox-root) {
  flex-direction: row-reverse; justify-content: flex-end; gap: .6em; }
.mantine-Flex-root:has(> div > .mantine-Checkbox-root) > div { flex-grow: 0 !important; width: auto !important; }
@media (max-width: 36em) {
  html { font-size: 100%; }
  div:has(> .mantine-Paper-root [data-opspace]) { flex-direction: column; }
  div:has(> .mantine-Paper-root [data-opspace]) > :not(.mantine-Paper-root) {
    height: auto !important; min-height: 0; flex: 1 1 0; }
  div:has(> .mantine-Paper-root [data-opspace]) > .mantine-Paper-root {
    position: relative !important; width: 100% !important; max-height: 52% !important; flex: none; }
  div:has(> .mantine-Paper-root [data-opspace]) > .mantine-Paper-root [style*="20em"] { width: 100vw !important; }
}
</style><div data-opspace></div>"""


def add_style(gui: Any) -> None:
    """Put the style into a page, where nothing is seen of it."""
    gui.add_html(STYLE)
