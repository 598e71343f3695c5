"""The programs of ``docs/python-faces.md``."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/python-faces.md"


def program(*headings: str) -> str:
    """The services that all programs have, and those below these headings, as one."""
    text = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    blocks = [block for part in (parts[0], *(sections[heading] for heading in headings)) for block in re.findall(r"```python\n(.*?)```", part, re.DOTALL)]
    assert len(blocks) == 1 + len(headings)
    return "\n".join(blocks)
