"""What Helm, kustomize, Prometheus, the program and a genuine API server say of deploy/.

One test a run:

    tests/deploy/tools_test.py NAME PROGRAM

Exit code 77 where the tool is not there: then it says which.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from manifests import (DEPLOY, ROOT, documents, objects_of, one, scheduler_of, skip, workload_of,
                       yaml)

NAMESPACE = "tutti-system"
KUBERNETES = "1.37.2"
ACCOUNT = f"system:serviceaccount:{NAMESPACE}:tutti"


def tool(name):
    found = os.environ.get(f"TUTTI_{name.upper()}") or shutil.which(name)
    if not found:
        skip(sys.argv[1], f"{name} is not installed")
    return found


def run(*command, expects=0, **more):
    result = subprocess.run([str(x) for x in command], capture_output=True, text=True, check=False,
                            timeout=180, **more)
    assert result.returncode == expects, \
        f"{command} ended with {result.returncode}:\n{result.stdout}{result.stderr}"
    return result.stdout


def key_of(x):
    return x["kind"], x["metadata"]["name"], x["metadata"].get("namespace", "")


def comparable(objects):
    """Without what differs on purpose."""
    out = {}
    for x in objects:
        if x["kind"] in ("Namespace", "CustomResourceDefinition"):
            continue  # Helm's user makes the namespace; the chart has the kinds in a folder
        if x["kind"] == "ConfigMap" and "config.yaml" in x["data"]:
            x["data"] = {"config.yaml": yaml.safe_load(x["data"]["config.yaml"])}
        if x["kind"] == "StatefulSet":
            x["spec"]["template"]["metadata"].pop("annotations", None)
        assert key_of(x) not in out, key_of(x)
        out[key_of(x)] = x
    return out


def check_same(one_side, other_side):
    ours, theirs = comparable(one_side), comparable(other_side)
    assert ours.keys() == theirs.keys(), ours.keys() ^ theirs.keys()
    for key, x in ours.items():
        assert x == theirs[key], \
            f"{key}:\n{yaml.safe_dump(x)}\nis not\n{yaml.safe_dump(theirs[key])}"


def template(helm, *settings, expects=0):
    more = [x for setting in settings for x in ("--set", setting)]
    return run(helm, "template", "tutti", DEPLOY / "chart", "--namespace", NAMESPACE,
               "--kube-version", KUBERNETES, *more, expects=expects)


ALL_PARTS = ("replicas=3", "link.certManager=true", "monitoring.serviceMonitor=true",
             "monitoring.rules=true", "monitoring.dashboards=true")


def dashboards_map():
    texts = {x.name: x.read_text(encoding="utf-8")
             for x in (DEPLOY / "monitoring/dashboards").glob("*.json")}
    return {"apiVersion": "v1", "kind": "ConfigMap", "data": texts,
            "metadata": {"name": "tutti-dashboards", "namespace": NAMESPACE,
                         "labels": {"app.kubernetes.io/name": "tutti", "grafana_dashboard": "1"}}}


def the_chart_says_what_kustomize_says():
    helm = tool("helm")
    run(helm, "lint", "--strict", DEPLOY / "chart", "--kube-version", KUBERNETES)
    check_same(documents(template(helm)), objects_of("kustomize/base"))
    whole = [x for folder in ("kustomize/replicas", "kustomize/cert-manager", "monitoring")
             for x in objects_of(folder)]
    check_same(documents(template(helm, *ALL_PARTS)), whole)
    bridged = documents(template(helm, *ALL_PARTS, "bridge.enabled=true"))
    for x in objects_of("kustomize/bridge"):
        assert x == one(bridged, x["kind"], x["metadata"]["name"])
    assert "TUTTI_BRIDGE" in [x["name"] for x in scheduler_of(bridged)["env"]]
    template(helm, "bridge.enabled=true", expects=1)
    # What a user gives reaches the pods, and what nobody knows is refused.
    given = documents(template(helm, "image.repository=example/tutti", "image.tag=v7",
                               "nodeSelector.pool=infra", "storage.className=fast",
                               "config.reservation.longPath=true"))
    spec = workload_of(given)["spec"]
    assert scheduler_of(given)["image"] == "example/tutti:v7"
    assert spec["template"]["spec"]["nodeSelector"] == {"pool": "infra"}
    assert spec["volumeClaimTemplates"][0]["spec"]["storageClassName"] == "fast"
    assert "longPath: true" in one(given, "ConfigMap")["data"]["config.yaml"]
    for wrong in ("replicsa=3", "replicas=0", "storage.sise=1Gi", "networkPolicy.enabled=7"):
        template(helm, wrong, expects=1)


def built_with(folder, *components):
    """`kubectl kustomize` of an overlay, made as a user would."""
    with tempfile.TemporaryDirectory() as home:
        shutil.copytree(DEPLOY, pathlib.Path(home) / "deploy")
        overlay = pathlib.Path(home) / "mine"
        overlay.mkdir()
        (overlay / "kustomization.yaml").write_text(yaml.safe_dump({
            "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
            "resources": [f"../deploy/{folder}"],
            "components": [f"../deploy/{x}" for x in components],
            "images": [{"name": "tutti", "newName": "example/tutti", "newTag": "7"}]}))
        return run(tool("kubectl"), "kustomize", overlay)


def kustomize_builds_every_variant():
    kubectl = tool("kubectl")
    for folder in ("kustomize/base", "kustomize/replicas"):
        built = documents(run(kubectl, "kustomize", DEPLOY / folder))
        made = one([x for x in built if x["kind"] == "ConfigMap"], "ConfigMap")
        volumes = workload_of(built)["spec"]["template"]["spec"]["volumes"]
        names = [x["configMap"]["name"] for x in volumes if "configMap" in x]
        assert names == [made["metadata"]["name"]], names
        assert re.fullmatch(r"tutti-\w{10}", names[0]), "a change would not restart the pods"
        made["metadata"]["name"] = "tutti"
        next(x for x in volumes if "configMap" in x)["configMap"]["name"] = "tutti"
        check_same(built, objects_of(folder))
    built = documents(built_with("kustomize/replicas", "kustomize/cert-manager", "monitoring"))
    assert scheduler_of(built)["image"] == "example/tutti:7"
    kinds = {x["kind"] for x in built}
    assert {"Certificate", "Issuer", "ServiceMonitor", "PrometheusRule"} <= kinds
    bridged = documents(built_with("kustomize/replicas", "kustomize/bridge"))
    service = one(bridged, "Service", "tutti-bridge")["spec"]["ports"][0]
    assert {"name": "TUTTI_BRIDGE", "value": f"tutti-bridge:{service['port']}"} \
        in scheduler_of(bridged)["env"]
    assert one(bridged, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] \
        == "example/tutti:7"


def prometheus_reads_the_alerts_and_fires_them():
    promtool = tool("promtool")
    run(promtool, "check", "rules", DEPLOY / "monitoring/alerts.yaml")
    run(promtool, "test", "rules", ROOT / "tests/deploy/alerts_test.yaml")
    # What Grafana would ask is no rule, and is read as if it were one.
    asked = [target["expr"].replace("$__rate_interval", "1m")
             for board in (DEPLOY / "monitoring/dashboards").glob("*.json")
             for panel in json.loads(board.read_text(encoding="utf-8"))["panels"]
             for target in panel["targets"]]
    rules = [{"record": f"tutti:asked:{i}", "expr": x} for i, x in enumerate(asked)]
    with tempfile.TemporaryDirectory() as home:
        file = pathlib.Path(home) / "rules.yaml"
        file.write_text(yaml.safe_dump({"groups": [{"name": "asked", "rules": rules}]}))
        run(promtool, "check", "rules", file)


def the_program_takes_the_file_and_the_arguments():
    program = sys.argv[2]
    for folder in ("kustomize/base", "kustomize/replicas"):
        objects = objects_of(folder)
        container = scheduler_of(objects)
        with tempfile.TemporaryDirectory() as home:
            file = pathlib.Path(home) / "config.yaml"
            file.write_text(one(objects, "ConfigMap")["data"]["config.yaml"])
            arguments = [f"--config={file}" if x.startswith("--config=") else x
                         for x in container["args"]]
            values = {"TUTTI_REPLICA": "tutti-2", "POD_IP": "10.244.1.7",
                      "TUTTI_LINK_ADDRESS": "10.244.1.7:10452"}
            given = {x["name"]: values[x["name"]] for x in container.get("env", [])}
            said = yaml.safe_load(run(program, *arguments, "--write-config-to", "-",
                                      env={**os.environ, **given}))
        config = yaml.safe_load(one(objects, "ConfigMap")["data"]["config.yaml"])
        for section in ("profiles", "store", "admin"):
            got, wanted = said[section], config[section]
            assert got == wanted or wanted.items() <= got.items(), (section, got, wanted)
        if given:
            assert said["replica"]["name"] == values["TUTTI_REPLICA"], said
            assert said["replica"]["link"]["address"] == values["TUTTI_LINK_ADDRESS"], said


def the_image_has_every_library():
    """What the program is linked with is in a package of the image, or in one that that needs."""
    for name in ("ldd", "dpkg-query", "apt-cache"):
        tool(name)
    text = (ROOT / "deploy/Containerfile").read_text(encoding="utf-8").split("\nFROM ")[2]
    installed = set(re.findall(r"\blib[\w.+-]+", text.split("COPY")[0])) - {"lib"}
    libraries = run("ldd", sys.argv[2])
    if "libasan" in libraries:
        skip(sys.argv[1], "the program is built with sanitizers")
    linked = set()
    for path in re.findall(r"=> (/\S+)", libraries):
        real = os.path.realpath(path)
        names = {path, real, path.removeprefix("/usr"), real.removeprefix("/usr"), f"/usr{path}"}
        owners = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True,
                                check=False).stdout
        if not owners:
            skip(sys.argv[1], f"{path} is of no Debian package")
        linked.add(owners.split(":")[0])
    needed = run("apt-cache", "depends", "--recurse", "--no-recommends", "--no-suggests",
                 "--no-conflicts", "--no-breaks", "--no-replaces", "--no-enhances",
                 "libc6", "libstdc++6", *installed)
    there = set(re.findall(r"^([\w.+-]+)$", needed, re.M))
    assert linked <= there, f"the image lacks {linked - there}"
    assert installed <= linked, f"the image has {installed - linked}, which nothing is linked with"


def a_genuine_server_takes_it_all():
    kubectl = tool("kubectl")
    assets = subprocess.run([ROOT / "scripts/kube_assets.sh", "--find"], capture_output=True,
                            text=True, check=False)
    if assets.returncode != 0:
        skip(sys.argv[1], "no control plane was built here")
    with tempfile.TemporaryDirectory() as home:
        state = pathlib.Path(home) / "plane"
        run(ROOT / "scripts/control_plane.sh", "start", "-d", state, "--while", os.getpid())
        try:
            environment = {**os.environ, "KUBECONFIG": str(state / "kubeconfig")}
            check_server(kubectl, environment)
        finally:
            run(ROOT / "scripts/control_plane.sh", "stop", "-d", state)


def check_server(kubectl, environment):
    def ask(*words, **more):
        return subprocess.run([kubectl, *map(str, words)], env=environment, capture_output=True,
                              text=True, timeout=60, check=False, **more)

    def may(verb, resource, *more):
        said = ask("auth", "can-i", verb, resource, *more, f"--as={ACCOUNT}").stdout
        return said.strip() == "yes"

    def apply(path, *way):
        result = ask("apply", "--server-side", *way, path)
        # A field that is unknown or old, or a pod below the standard, is warned of.
        assert "Warning" not in result.stderr, result.stderr
        return result

    for folder in ("kustomize/base", "kustomize/replicas"):
        is_one_of_several = folder.endswith("replicas")
        if is_one_of_several: # one and several must not run beside each other
            refused = apply(DEPLOY / folder, "-k")
            assert refused.returncode != 0 and "StatefulSet" in refused.stderr, refused.stderr
            assert ask("delete", "statefulset", "tutti", "-n", NAMESPACE).returncode == 0
        applied = apply(DEPLOY / folder, "-k")
        assert applied.returncode == 0, applied.stderr
        assert may("create", "pods", "--subresource=binding", "-A") and may("watch", "nodes")
        assert may("update", "partitionmaps.tutti.dev") == is_one_of_several
        assert may("update", "leases", "-n", "kube-system") == is_one_of_several
        assert not may("get", "secrets", "-A") and not may("create", "pods", "-A")
        assert not may("update", "leases", "-n", "default")
    gang = apply(DEPLOY / "kind/ring.yaml", "-f")
    assert gang.returncode == 0, gang.stderr


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print(f"{sys.argv[1]}: passed")
