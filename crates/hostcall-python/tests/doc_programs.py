"""The programs of ``docs/guide/python-faces.md`` and ``docs/reference/python-faces.md``, and Triton's of ``docs/guide/asserts.md``."""

import ast
import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGE = DOCS / "guide/python-faces.md"
MORE = DOCS / "reference/python-faces.md"


def program(*headings: str) -> str:
    """The services that all programs have, and those below these headings, as one."""
    pages = [re.split(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE) for page in (PAGE, MORE)]
    sections = {heading: text for page in pages for heading, text in zip(page[1::2], page[2::2], strict=True)}
    blocks = [block for part in (pages[0][0], *(sections[heading] for heading in headings)) for block in re.findall(r"```python\n(.*?)```", part, re.DOTALL)]
    assert len(blocks) == 1 + len(headings)
    return "\n".join(blocks)


def asserts() -> str:
    """The program of ``docs/guide/asserts.md`` for Triton."""
    page = (DOCS / "guide/asserts.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page[page.index("\n## Triton\n") : page.index("\n## Cost\n")], re.DOTALL)
    return program


def assigned(heading: str, *names: str) -> dict:
    """The services that all programs have, and what the program below the heading assigns to these names: as much of it as needs no other package."""
    namespace = {}
    for statement in ast.parse(program(heading)).body:
        match statement:
            case ast.Import(names=packages):
                wanted = all(package.name.split(".")[0] in ("numpy", "hostcall") for package in packages)
            case ast.FunctionDef(decorator_list=[decorator]):
                wanted = ast.unparse(decorator).startswith("hc.service")
            case ast.Assign(targets=[ast.Name(id=name)]):
                wanted = name in names
            case _:
                wanted = False
        if wanted:
            exec(compile(ast.Module([statement], []), str(PAGE), "exec"), namespace)
    missing = {"add42", "log", *names} - namespace.keys()
    assert not missing, f"{PAGE}: {heading}: nothing assigns {missing}"
    return namespace
