"""The programs of ``docs/guide/python-faces.md``."""

import ast
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs/guide/python-faces.md"


def program(*headings: str) -> str:
    """The services that all programs have, and those below these headings, as one."""
    text = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    blocks = [block for part in (parts[0], *(sections[heading] for heading in headings)) for block in re.findall(r"```python\n(.*?)```", part, re.DOTALL)]
    assert len(blocks) == 1 + len(headings)
    return "\n".join(blocks)


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
