#!/usr/bin/env python3
"""Writes the Helm chart's templates and the kustomize bases from deploy/source.

    deploy/render.py             writes what has changed
    deploy/render.py --check     writes nothing; names what would change, and exits with 1

Defaults stand in deploy/chart/values.yaml. In a source file

    ${a.b}              is the value a.b, inside a line
    key: $[a.b]         is a value that may be a list or a map; no line at all if it is empty
    #if a.b … #else … #end      is there if the value says so (`one`, `several`: by `replicas`)
    #only helm … #end           is there in the chart alone; also kustomize
    #put FILE           is another source file, #copy FILE any file below deploy/ as it is

and everything else stays as it is, comments too.
"""
import os
import pathlib
import re
import sys

try:
    import yaml
except ImportError:  # Debian's own interpreter has the package python3-yaml
    if sys.executable == "/usr/bin/python3" or not os.path.exists("/usr/bin/python3"):
        sys.exit("render.py: error: python3-yaml is not installed")
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

HERE = pathlib.Path(__file__).resolve().parent
NAMESPACE = "tutti-system"  # of kustomize; Helm is told one
REPLICAS = 3  # of kustomize/replicas

# Where the files of deploy/source go, besides chart/templates.
KUSTOMIZE = {
    "kustomize/base": ["kustomization", "namespace", "rbac", "config", "statefulset", "service",
                       "network-policy"],
    "kustomize/replicas": ["kustomization", "namespace", "crds", "rbac", "config", "statefulset",
                           "disruption-budget", "service", "network-policy"],
    "kustomize/cert-manager": ["link-certificates"],
    "kustomize/bridge": ["bridge"],
    "monitoring": ["service-monitor", "prometheus-rule"],
}
TEMPLATES = ["rbac", "config", "statefulset", "disruption-budget", "service", "network-policy",
             "bridge", "link-certificates", "service-monitor", "prometheus-rule", "dashboards"]
# Maps of which only the program or Kubernetes knows what may stand in them.
FREE = {"config", "resources", "bridge.resources"}


def read(path):
    return (HERE / path).read_text(encoding="utf-8")


def value_at(values, path):
    for part in path.split("."):
        values = values[part]
    return values


class Kustomize:
    """Puts the values in."""

    name = "kustomize"

    def __init__(self, values, version):
        self.values = values
        image = values["image"]
        self.words = {"namespace": NAMESPACE,
                      "image": f"{image['repository']}:{image['tag'] or version}"}

    def scalar(self, path):
        return str(self.words[path] if path in self.words else value_at(self.values, path))

    def block(self, indent, key, path):
        value = value_at(self.values, path)
        if value in ("", [], {}):
            return []
        if not isinstance(value, (dict, list)):
            return [f"{indent}{key}: {value}"]
        text = yaml.safe_dump(value, sort_keys=False).splitlines()
        inner = indent + "  " if key else indent
        return [f"{indent}{key}:"] * bool(key) + [inner + line for line in text]

    def holds(self, condition):
        several = self.values["replicas"] > 1
        known = {"one": not several, "several": several}
        return known[condition] if condition in known else bool(value_at(self.values, condition))

    def branch(self, condition, then, otherwise):
        return then if self.holds(condition) else otherwise

    def copy(self, indent, path):
        return [(indent + line).rstrip() for line in read(path).splitlines()]


class Helm:
    """Puts the names of values in, for Helm."""

    name = "helm"
    words = {"namespace": ".Release.Namespace",
             "image": 'printf "%s:%s" .Values.image.repository'
                      " (.Values.image.tag | default .Chart.AppVersion)"}
    conditions = {"one": "eq (int .Values.replicas) 1", "several": "gt (int .Values.replicas) 1"}

    def __init__(self):
        self.copied = {}

    def scalar(self, path):
        return "{{ " + self.words.get(path, f".Values.{path}") + " }}"

    def block(self, indent, key, path):
        inner = len(indent) + (2 if key else 0)
        text = f"{' ' * inner}{{{{- toYaml . | nindent {inner} }}}}"
        return [f"{{{{- with .Values.{path} }}}}", *[f"{indent}{key}:"] * bool(key), text,
                "{{- end }}"]

    def branch(self, condition, then, otherwise):
        test = self.conditions.get(condition, f".Values.{condition}")
        middle = ["{{- else }}", *otherwise] if otherwise else []
        return [f"{{{{- if {test} }}}}", *then, *middle, "{{- end }}"]

    def copy(self, indent, path):
        name = pathlib.PurePath(path).name
        self.copied[f"chart/files/{name}"] = read(path)
        call = f'.Files.Get "files/{name}" | trimSuffix "\\n"'
        return ["{{ " + call + (f" | indent {len(indent)}" if indent else "") + " }}"]


def render(lines, into):
    """The lines that `into` makes of a source's lines."""
    out = []
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        indent, rest = re.fullmatch(r"( *)(.*)", line).groups()
        word, _, argument = rest.partition(" ")
        if word in ("#if", "#only"):
            (then, otherwise), at = parts_of(lines, at)
            if word == "#if":
                out += into.branch(argument, render(then, into), render(otherwise, into))
            elif argument == into.name:
                out += render(then, into)
        elif word == "#put":
            out += render([indent + x for x in read(f"source/{argument}").splitlines()], into)
        elif word == "#copy":
            out += into.copy(indent, argument)
        elif found := re.fullmatch(r"(?:([\w.-]+): )?\$\[([\w.]+)\]", rest):
            out += into.block(indent, found[1] or "", found[2])
        else:
            out.append(re.sub(r"\$\{([\w.]+)\}", lambda x: into.scalar(x[1]), line))
    return out


def parts_of(lines, at):
    """What stands before #else and behind it, and the line behind the #end."""
    parts = [[], []]
    depth = which = 0
    while True:
        line = lines[at].strip()
        at += 1
        if line == "#end" and depth == 0:
            return parts, at
        if line == "#else" and depth == 0:
            which = 1
            continue
        depth += line.startswith(("#if ", "#only ")) - (line == "#end")
        parts[which].append(lines[at - 1])


def schema_of(value, path=""):
    """A JSON schema that passes nothing over: what values.yaml does not have is refused."""
    if isinstance(value, dict):
        if not value or path in FREE:
            return {"type": "object"}
        below = {key: schema_of(x, f"{path}.{key}".lstrip(".")) for key, x in value.items()}
        # Helm adds `global` to what the user gives.
        top = {} if path else {"global": {"type": "object"}}
        return {"type": "object", "additionalProperties": False, "properties": {**below, **top}}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "integer", "minimum": 1}
    return {"type": "array" if isinstance(value, list) else "string"}


def values_of(folder):
    values = yaml.safe_load(read("chart/values.yaml"))
    if folder != "kustomize/base":
        values["replicas"] = REPLICAS
    if not folder.startswith("kustomize/") or folder.endswith("cert-manager"):
        values["monitoring"] = {key: True for key in values["monitoring"]}
        values["link"]["certManager"] = True
    values["bridge"]["enabled"] = folder == "kustomize/bridge"
    return values


def rendered():
    """Path below deploy/ → text, of every file that is written."""
    import json

    mark = "# Written by deploy/render.py from deploy/source/{}; change that.\n"
    version = yaml.safe_load(read("chart/Chart.yaml"))["appVersion"]
    out = {}
    for folder, names in KUSTOMIZE.items():
        into = Kustomize(values_of(folder), version)
        for name in names:
            source = f"{name}.yaml"
            text = "\n".join(render(read(f"source/{source}").splitlines(), into)) + "\n"
            out[f"{folder}/{source}"] = mark.format(source) + text
    helm = Helm()
    for name in TEMPLATES:
        source = f"{name}.yaml"
        text = "\n".join(render(read(f"source/{source}").splitlines(), helm)) + "\n"
        out[f"chart/templates/{source}"] = mark.format(source) + text
    out.update(helm.copied)
    for path in sorted((HERE / "crds").glob("*.yaml")):
        out[f"chart/crds/{path.name}"] = path.read_text(encoding="utf-8")
    schema = {"$schema": "http://json-schema.org/draft-07/schema#",
              **schema_of(yaml.safe_load(read("chart/values.yaml")))}
    out["chart/values.schema.json"] = json.dumps(schema, indent=2) + "\n"
    return out


def strangers(known):
    """Files in folders that are written whole which nobody writes."""
    by_hand = {"chart/templates/NOTES.txt", "kustomize/cert-manager/kustomization.yaml",
               "kustomize/bridge/kustomization.yaml"}
    for folder in ("chart/templates", "chart/files", "chart/crds", "kustomize"):
        for path in (HERE / folder).rglob("*"):
            name = path.relative_to(HERE).as_posix()
            if path.is_file() and name not in known and name not in by_hand:
                yield name


def main():
    is_check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not is_check:
        sys.exit(f"usage: render.py [--check]\n{__doc__}")
    files = rendered()
    wrong = list(strangers(files))
    for name in wrong:
        print(f"{name}: no source makes it")
    for name, text in files.items():
        path = HERE / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        wrong.append(name)
        if is_check:
            print(f"{name}: is not what its source makes; run deploy/render.py")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    return 1 if is_check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
