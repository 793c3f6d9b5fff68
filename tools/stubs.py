"""Type stubs for the wheel: what type checkers and editors can't see of classes made with `@patch`.

    python tools/stubs.py FOLDER         write a .pyi beside each module of a package folder

fastcore's `@patch` adds a method to a class that stands further up, or in another module. Python
finds it; a type checker doesn't. In a stub the method stands in its class.
"""
import ast
import sys
from pathlib import Path

KEPT = {"contextmanager", "staticmethod", "classmethod", "property", "dataclass"}
ALIASES = {"tuple", "list", "dict", "set", "Callable", "Annotated", "Literal", "Union", "Optional"}
CONSTANTS = {ast.List: "list[Any]", ast.Dict: "dict[Any, Any]", ast.Tuple: "tuple[Any, ...]",
             ast.Set: "set[Any]"}


def public(name):
    "Whether others may use a name."
    return not name.startswith("_") or name.startswith("__") and name.endswith("__")


def called(decorator):
    "The name of a decorator, and the names of its arguments that are true."
    call = decorator if isinstance(decorator, ast.Call) else None
    node = call.func if call else decorator
    flags = {k.arg for k in call.keywords} if call else set()
    return getattr(node, "id", getattr(node, "attr", "")), flags


def function(node):
    "A function's signature."
    args = node.args
    args.defaults = [ast.Constant(...) for _ in args.defaults]
    args.kw_defaults = [d and ast.Constant(...) for d in args.kw_defaults]
    node.decorator_list = [d for d in node.decorator_list if called(d)[0] in KEPT]
    node.body = [ast.Expr(ast.Constant(...))]
    return node


def patched(node):
    "The class that a function is a method of, by `@patch`; None when there is none."
    for decorator in node.decorator_list:
        name, flags = called(decorator)
        if name != "patch" or not node.args.args[0].annotation: continue
        cls = ast.unparse(node.args.args[0].annotation)
        node.args.args[0].annotation = None
        kind = {"as_prop": "property", "cls_method": "classmethod"}
        node.decorator_list += [ast.Name(kind[f]) for f in flags if f in kind]
        return cls


def attributes(methods):
    "The public names that methods give to `self`."
    found = {}
    for node in (n for method in methods for n in ast.walk(method)):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store): continue
        if isinstance(node.value, ast.Name) and node.value.id == "self" and public(node.attr):
            found[node.attr] = annotated(node.attr, "Any")
    return found


def read_only(name):
    "An attribute that no argument of a data class fills."
    return ast.parse(f"@property\ndef {name}(self) -> Any: ...").body[0]


def imported(node):
    "An import without private names."
    if isinstance(node, ast.ImportFrom):
        node.names = [alias for alias in node.names if public(alias.name)]
    return [node] if node.names else []


def annotated(name, kind):
    "`name: kind` as a statement."
    return ast.parse(f"{name}: {kind}").body[0]


def constant(node):
    "What a stub says of an assignment."
    targets = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    value = node.value
    root = value.value if isinstance(value, ast.Subscript) else None
    if isinstance(root, ast.Name) and root.id == "Annotated": node.value = value.slice.elts[0]
    if isinstance(root, ast.Name) and root.id in ALIASES: return [node]
    if targets == ["__all__"]: return [node]
    kind = CONSTANTS.get(type(value), "Any")
    if isinstance(value, ast.Constant) and value.value is not None:
        kind = type(value.value).__name__
    return [annotated(name, kind) for name in targets if public(name)]


def klass(node, added):
    "A class with its public methods, also those of elsewhere."
    methods = [n for n in node.body if isinstance(n, ast.FunctionDef)]
    body = {n.target.id: ast.AnnAssign(n.target, n.annotation, n.value and ast.Constant(...), 1)
            for n in node.body if isinstance(n, ast.AnnAssign)}
    fields = any(called(d)[0] == "dataclass" for d in node.decorator_list)
    for name, statement in attributes(methods + added).items():
        body.setdefault(name, read_only(name) if fields else statement)
    for n in (n for n in node.body if isinstance(n, ast.Assign)):
        names = [s.target.id for s in constant(n) if isinstance(s, ast.AnnAssign)]
        body |= {n: read_only(n) if fields else annotated(n, "Any") for n in names}
    body |= {n.name: function(n) for n in methods + added if public(n.name)}
    node.body = list(body.values()) or [ast.Expr(ast.Constant(...))]
    return node


def statements(tree, methods):
    "The statements of a module's stub; `methods` has those of its classes that stand elsewhere."
    yield ast.parse("from typing import Any").body[0]
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)): yield from imported(node)
        elif isinstance(node, ast.ClassDef): yield klass(node, methods.get(node.name, []))
        elif isinstance(node, ast.Assign): yield from constant(node)
        elif isinstance(node, ast.AnnAssign):
            yield ast.AnnAssign(node.target, node.annotation, None, 1)
        elif isinstance(node, ast.FunctionDef) and public(node.name): yield function(node)


def stubs(folder):
    "The text of each module's stub, by the module's name."
    trees = {p.stem: ast.parse(p.read_text(encoding="utf-8")) for p in sorted(folder.glob("*.py"))}
    methods = {}
    for tree in trees.values():
        for node in [n for n in tree.body if isinstance(n, ast.FunctionDef)]:
            if cls := patched(node):
                methods.setdefault(cls, []).append(node)
                tree.body.remove(node)
    return {name: ast.unparse(ast.fix_missing_locations(ast.Module(
        list(statements(tree, methods)), []))) for name, tree in trees.items() if name != "_modidx"}


def write(folder):
    "Write the stubs of a package beside its modules."
    for name, text in stubs(Path(folder)).items():
        (Path(folder)/f"{name}.pyi").write_text(text + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__": write(sys.argv[1])
