"""Reads what deploy/ has, for the tests beside this file."""
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def skip(name, reason):
    """As googletest does, so that scripts/test.sh counts it."""
    print(f"{name}: Skipped\n{reason}\n[  SKIPPED ] deploy.{name} (0 ms)", flush=True)
    sys.exit(77)


try:
    import yaml
except ImportError:
    if sys.executable != "/usr/bin/python3" and os.path.exists("/usr/bin/python3"):
        os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])
    skip("files", "python3-yaml is not installed")


class StrictLoader(yaml.SafeLoader):
    """Refuses a key that stands twice in one map, as Kubernetes does."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        twice = {str(key) for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.constructor.ConstructorError(None, None, f"twice: {twice}", node.start_mark)
        return super().construct_mapping(node, deep)


def documents(text):
    return [x for x in yaml.load_all(text, Loader=StrictLoader) if x is not None]


def documents_of(path):
    return documents((DEPLOY / path).read_text(encoding="utf-8"))


def objects_of(folder):
    """What the folder's kustomization lists, and the ConfigMap that it makes."""
    listed = documents_of(f"{folder}/kustomization.yaml")[0]
    out = [x for name in listed["resources"] for x in documents_of(f"{folder}/{name}")]
    for made in listed.get("configMapGenerator", []):
        texts = {pathlib.PurePath(x).name: (DEPLOY / folder / x).read_text(encoding="utf-8")
                 for x in made["files"]}
        out.append({"apiVersion": "v1", "kind": "ConfigMap", "data": texts,
                    "metadata": {"name": made["name"], "namespace": made["namespace"],
                                 "labels": made["options"]["labels"]}})
    return out


def one(objects, kind, name=None):
    found = [x for x in objects
             if x["kind"] == kind and name in (None, x["metadata"]["name"])]
    assert len(found) == 1, f"{len(found)} of {kind} {name or ''}"
    return found[0]


def workload_of(objects):
    return one(objects, "StatefulSet")


def scheduler_of(objects):
    """The container."""
    return workload_of(objects)["spec"]["template"]["spec"]["containers"][0]
