"""The files of deploy/ are those that their sources make, and agree with each other, with the
program's documentation and with its version. Needs no tool but python3-yaml."""
import json
import re
import subprocess
import sys
import unittest

from manifests import (DEPLOY, ROOT, documents_of, objects_of, one, scheduler_of, workload_of, yaml)

VARIANTS = ("kustomize/base", "kustomize/replicas")
SELECTOR = {"app.kubernetes.io/name": "tutti", "app.kubernetes.io/component": "scheduler"}


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


class Rendering(unittest.TestCase):
    def render(self, *arguments):
        return subprocess.run([sys.executable, str(DEPLOY / "render.py"), *arguments], text=True,
                              capture_output=True, timeout=30, check=False)

    def test_every_file_is_what_its_source_makes(self):
        result = self.render("--check")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_an_unknown_argument_is_refused(self):
        self.assertEqual(self.render("--chek").returncode, 1)

    def test_every_source_is_used(self):
        known = "".join(x.read_text(encoding="utf-8") for x in DEPLOY.glob("source/*.yaml"))
        known += text_of("deploy/render.py")
        for source in DEPLOY.glob("source/*.yaml"):
            is_used = f'"{source.stem}"' in known or f"#put {source.name}" in known
            self.assertTrue(is_used, source)

    def test_every_setting_of_the_chart_is_used(self):
        templates = "".join(x.read_text(encoding="utf-8")
                            for x in (DEPLOY / "chart/templates").iterdir())

        whole = (".config", ".resources", ".bridge.resources")

        def look(value, path):
            if isinstance(value, dict) and value and path not in whole:
                for key, below in value.items():
                    look(below, f"{path}.{key}")
            else:
                self.assertRegex(templates, re.escape(f".Values{path}") + r"\b")
        look(documents_of("chart/values.yaml")[0], "")


class Files(unittest.TestCase):
    def test_all_yaml_parses_and_no_key_stands_twice(self):
        for path in DEPLOY.rglob("*.yaml"):
            name = path.relative_to(DEPLOY).as_posix()
            if not name.startswith(("chart/templates/", "source/")):
                with self.subTest(name):
                    self.assertTrue(documents_of(name))

    def test_every_file_of_a_kustomization_is_listed(self):
        for listing in DEPLOY.rglob("kustomization.yaml"):
            if listing.parent.name == "source":
                continue
            listed = documents_of(listing.relative_to(DEPLOY))[0]
            names = {*listed["resources"], "kustomization.yaml"}
            for made in listed.get("configMapGenerator", []):
                names.update(x for x in made["files"] if "/" not in x)
            found = {x.name for x in listing.parent.glob("*.yaml")} - {"alerts.yaml"}
            self.assertEqual(found, names, listing)

    def test_the_version_is_the_same_everywhere(self):
        version = re.search(r"project\(tutti VERSION (\S+)", text_of("CMakeLists.txt"))[1]
        chart = documents_of("chart/Chart.yaml")[0]
        self.assertEqual((chart["version"], chart["appVersion"]), (version, version))
        for variant in VARIANTS:
            self.assertEqual(scheduler_of(objects_of(variant))["image"], f"tutti:{version}")
        for page in ("deploy/Containerfile", "docs/start/cluster.md"):
            self.assertEqual(set(re.findall(r"tutti:(\d[\w.]*)", text_of(page))), {version}, page)


class Names(unittest.TestCase):
    def each(self):
        return map(objects_of, VARIANTS)

    def test_no_object_stands_twice(self):
        for objects in self.each():
            ids = [(x["kind"], x["metadata"]["name"], x["metadata"].get("namespace"))
                   for x in objects]
            self.assertEqual(len(ids), len(set(ids)))

    def test_all_is_in_one_namespace_but_what_is_about_leases(self):
        for objects in self.each():
            space = one(objects, "Namespace")["metadata"]["name"]
            elsewhere = {(x["kind"], x["metadata"]["name"]) for x in objects
                         if x["metadata"].get("namespace", space) != space}
            self.assertLessEqual(elsewhere, {("Role", "tutti-replica"),
                                             ("RoleBinding", "tutti-replica")})

    def test_bindings_give_roles_that_are_there_to_the_account_of_the_pods(self):
        for objects in self.each():
            account = one(objects, "ServiceAccount")["metadata"]
            spec = workload_of(objects)["spec"]["template"]["spec"]
            self.assertEqual(spec["serviceAccountName"], account["name"])
            roles = {(x["kind"], x["metadata"]["name"]) for x in objects
                     if x["kind"] in ("Role", "ClusterRole")}
            given = set()
            for binding in (x for x in objects if x["kind"].endswith("RoleBinding")):
                given.add((binding["roleRef"]["kind"], binding["roleRef"]["name"]))
                self.assertEqual(binding["subjects"],
                                 [{"kind": "ServiceAccount", "name": account["name"],
                                   "namespace": account["namespace"]}])
            self.assertEqual(roles, given)

    def test_every_selector_finds_the_pods(self):
        for objects in [*self.each(), objects_of("monitoring")]:
            for x in objects:
                if x["kind"] in ("StatefulSet", "PodDisruptionBudget", "ServiceMonitor"):
                    self.assertEqual(x["spec"]["selector"]["matchLabels"], SELECTOR)
                if x["kind"] == "StatefulSet":
                    labels = x["spec"]["template"]["metadata"]["labels"]
                    self.assertLessEqual(SELECTOR.items(), labels.items())
                if x["kind"] == "Service":
                    self.assertEqual(x["spec"]["selector"], SELECTOR)
                    self.assertLessEqual(SELECTOR.items(), x["metadata"]["labels"].items())
                if x["kind"] == "NetworkPolicy":
                    self.assertEqual(x["spec"]["podSelector"]["matchLabels"], SELECTOR)

    def test_ports_are_called_by_the_names_that_they_have(self):
        monitored = one(objects_of("monitoring"), "ServiceMonitor")["spec"]["endpoints"]
        for objects in self.each():
            container = scheduler_of(objects)
            ports = {x["name"]: x["containerPort"] for x in container["ports"]}
            served = {x["name"]: x for x in one(objects, "Service")["spec"]["ports"]}
            for x in served.values():
                self.assertEqual(x["port"], ports[x["targetPort"]])
            self.assertLessEqual({x["port"] for x in monitored}, set(served))
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                self.assertIn(container[probe]["httpGet"]["port"], ports)
            let_in = {x["port"] for rule in one(objects, "NetworkPolicy")["spec"]["ingress"]
                      for x in rule["ports"]}
            self.assertEqual(let_in, set(ports))

    def test_the_file_and_the_arguments_fit_the_pod(self):
        for objects in self.each():
            container = scheduler_of(objects)
            ports = {x["name"]: x["containerPort"] for x in container["ports"]}
            config = yaml.safe_load(one(objects, "ConfigMap")["data"]["config.yaml"])
            mounts = {x["mountPath"]: x for x in container["volumeMounts"]}
            self.assertEqual(config["admin"]["address"], f"0.0.0.0:{ports['admin']}")
            self.assertNotIn("readOnly", mounts[config["store"]["dataDir"]])
            flags = dict(x.removeprefix("--").split("=", 1) for x in container["args"][1:])
            self.assertIn(flags["config"].rsplit("/", 1)[0], mounts)
            if "link" in flags:
                self.assertEqual(flags["link"], f"0.0.0.0:{ports['link']}")
                address = next(x["value"] for x in container["env"]
                               if x["name"] == "TUTTI_LINK_ADDRESS")
                self.assertEqual(address, f"$(POD_IP):{ports['link']}")
                self.assertEqual(mounts[flags["link-tls"]]["name"], "link")

    def test_volumes_are_mounted_and_there(self):
        for objects in self.each():
            workload = workload_of(objects)["spec"]
            there = {x["name"] for x in workload["template"]["spec"]["volumes"]}
            there |= {x["metadata"]["name"] for x in workload.get("volumeClaimTemplates", [])}
            self.assertEqual({x["name"] for x in scheduler_of(objects)["volumeMounts"]}, there)

    def test_cert_manager_makes_the_secret_that_replicas_mount(self):
        objects = objects_of("kustomize/replicas")
        volumes = workload_of(objects)["spec"]["template"]["spec"]["volumes"]
        made = one(objects_of("kustomize/cert-manager"), "Certificate", "tutti-link")["spec"]
        self.assertEqual(made["secretName"],
                         next(x["secret"]["secretName"] for x in volumes if "secret" in x))
        self.assertIn("--link-name=" + made["dnsNames"][0], scheduler_of(objects)["args"])
        self.assertLessEqual({"client auth", "server auth"}, set(made["usages"]))

    def test_several_have_the_kinds_that_their_rights_are_for(self):
        objects = objects_of("kustomize/replicas")
        kinds = {x["spec"]["names"]["plural"] for x in objects
                 if x["kind"] == "CustomResourceDefinition"}
        rules = one(objects, "ClusterRole", "tutti-replica")["rules"]
        self.assertEqual(kinds, {x for rule in rules if rule["apiGroups"] == ["tutti.dev"]
                                 for x in rule["resources"]})

    def test_one_alone_has_a_volume_and_several_a_budget(self):
        alone, several = (objects_of(x) for x in VARIANTS)
        claim = one(alone, "StatefulSet")["spec"]["volumeClaimTemplates"][0]
        self.assertEqual(claim["spec"]["accessModes"], ["ReadWriteOnce"])
        self.assertEqual(one(alone, "StatefulSet")["spec"]["replicas"], 1)
        self.assertGreater(one(several, "StatefulSet")["spec"]["replicas"], 1)
        self.assertNotIn("volumeClaimTemplates", one(several, "StatefulSet")["spec"])
        self.assertEqual(one(several, "PodDisruptionBudget")["spec"]["maxUnavailable"], 1)


class Bridge(unittest.TestCase):
    """The component that puts a bridge between replicas and their API server."""
    LABELS = {"app.kubernetes.io/name": "tutti", "app.kubernetes.io/component": "bridge"}

    def setUp(self):
        self.objects = objects_of("kustomize/bridge")
        self.pod = one(self.objects, "Deployment")["spec"]["template"]
        self.container = self.pod["spec"]["containers"][0]
        self.ports = {x["name"]: x["containerPort"] for x in self.container["ports"]}

    def test_its_selectors_find_its_pod_and_no_scheduler(self):
        self.assertEqual(self.pod["metadata"]["labels"], self.LABELS)
        self.assertNotEqual(self.LABELS, SELECTOR)
        self.assertEqual(one(self.objects, "Deployment")["spec"]["selector"]["matchLabels"],
                         self.LABELS)
        self.assertEqual(one(self.objects, "Service")["spec"]["selector"], self.LABELS)
        policy = one(self.objects, "NetworkPolicy")["spec"]
        self.assertEqual(policy["podSelector"]["matchLabels"], self.LABELS)
        let_in = {rule["ports"][0]["port"]: rule["from"][0] for rule in policy["ingress"]}
        self.assertEqual(set(let_in), set(self.ports))
        self.assertEqual(let_in["bridge"], {"podSelector": {"matchLabels": SELECTOR}})

    def test_it_listens_where_it_is_called_and_shows_what_replicas_show(self):
        flags = dict(x.removeprefix("--").split("=", 1) for x in self.container["args"][1:])
        self.assertEqual(flags["listen"], f"0.0.0.0:{self.ports['bridge']}")
        self.assertEqual(flags["admin"], f"0.0.0.0:{self.ports['admin']}")
        for x in one(self.objects, "Service")["spec"]["ports"]:
            self.assertEqual(x["port"], self.ports[x["targetPort"]])
        replica = scheduler_of(objects_of("kustomize/replicas"))
        for flag in ("link-tls", "link-name"):
            self.assertIn(f"--{flag}={flags[flag]}", replica["args"])
        volumes = workload_of(objects_of("kustomize/replicas"))["spec"]["template"]["spec"]
        self.assertIn(self.pod["spec"]["volumes"][0], volumes["volumes"])
        patch = documents_of("kustomize/bridge/kustomization.yaml")[0]["patches"][0]["patch"]
        self.assertIn(f"tutti-bridge:{self.ports['bridge']}", patch)

    def test_it_keeps_to_the_same_rules_as_a_scheduler(self):
        scheduler = workload_of(objects_of("kustomize/replicas"))["spec"]["template"]["spec"]
        self.assertEqual(self.pod["spec"]["serviceAccountName"], scheduler["serviceAccountName"])
        self.assertEqual(self.container["image"], scheduler["containers"][0]["image"])
        self.assertEqual(self.container["securityContext"],
                         scheduler["containers"][0]["securityContext"])
        self.assertTrue(self.pod["spec"]["securityContext"]["runAsNonRoot"])


class Security(unittest.TestCase):
    def test_pods_keep_to_the_restricted_standard(self):
        for variant in VARIANTS:
            spec = workload_of(objects_of(variant))["spec"]["template"]["spec"]
            self.assertTrue(spec["securityContext"]["runAsNonRoot"])
            self.assertEqual(spec["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
            for container in spec["containers"]:
                self.assertEqual(container["securityContext"],
                                 {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                  "capabilities": {"drop": ["ALL"]}})
            self.assertLessEqual({key for x in spec["volumes"] for key in x} - {"name"},
                                 {"configMap", "emptyDir", "secret"})

    def test_every_rule_names_what_it_allows_and_says_why(self):
        for name in ("rbac.yaml", "rbac-replicas.yaml"):
            for role in documents_of(name):
                for rule in role["rules"]:
                    words = rule["apiGroups"] + rule["resources"] + rule["verbs"]
                    self.assertFalse([x for x in words if "*" in x], rule)
                    self.assertNotIn("secrets", rule["resources"])
            for part in (DEPLOY / name).read_text(encoding="utf-8").split("\n---\n"):
                lines = part.splitlines()
                rules = [before for before, line in zip(lines, lines[1:])
                         if line.startswith("- apiGroups")]
                reasons = [x for x in rules if x.startswith("# ")]
                is_said_above = len(rules) == 1 and lines[0].startswith("# ")
                self.assertTrue(len(reasons) == len(rules) or is_said_above, part)

    def test_the_image_runs_as_whom_the_pods_run(self):
        user = re.search(r"^USER (\d+):(\d+)$", text_of("deploy/Containerfile"), re.M).groups()
        for variant in VARIANTS:
            spec = workload_of(objects_of(variant))["spec"]["template"]["spec"]
            context = spec["securityContext"]
            self.assertEqual((str(context["runAsUser"]), str(context["runAsGroup"])), user)
            self.assertNotEqual(context["runAsUser"], 0)

    def test_the_image_is_of_one_release_and_its_commands_parse(self):
        text = text_of("deploy/Containerfile")
        self.assertEqual({x.split()[0] for x in re.findall(r"^FROM (.*)$", text, re.M)},
                         {"debian:12"})
        for copied in re.findall(r"^COPY (?!--from)(.*) \S+$", text, re.M):
            self.assertTrue((ROOT / copied).exists(), copied)
        for command in re.findall(r"^RUN ((?:.*\\\n)*.*)$", text, re.M):
            result = subprocess.run(["bash", "-n", "-c", command], capture_output=True, text=True,
                                    timeout=10, check=False)
            self.assertEqual(result.stderr, "", command)


def rows_of_metrics():
    """Name → labels, of docs/reference/metrics.md."""
    out = {}
    for line in text_of("docs/reference/metrics.md").splitlines():
        cells = [x.strip() for x in line.strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"`\w+`", cells[0]):
            labels = re.sub(r"\([^)]*\)", "", cells[2])
            out[cells[0].strip("`")] = (cells[1], set(re.findall(r"`(\w+)`", labels)))
    return out


class Monitoring(unittest.TestCase):
    # What the scraper adds, and what a histogram's parts have.
    COMMON = {"pod", "instance", "job", "namespace", "le"}

    def dashboards(self):
        for path in sorted(DEPLOY.glob("monitoring/dashboards/*.json")):
            yield path.name, json.loads(path.read_text(encoding="utf-8"))

    def alerts(self):
        return documents_of("monitoring/alerts.yaml")[0]["groups"][0]["rules"]

    def expressions(self):
        for rule in self.alerts():
            yield rule["alert"], rule["expr"]
        for name, board in self.dashboards():
            for panel in board["panels"]:
                for target in panel["targets"]:
                    yield f"{name}: {panel['title']}", target["expr"]

    def test_every_metric_and_label_is_documented(self):
        rows = rows_of_metrics()
        self.assertGreater(len(rows), 20)
        for place, expression in self.expressions():
            with self.subTest(place, expression=expression):
                bare = re.sub(r'"[^"]*"', "", expression)
                names = re.findall(r"\b(?:gang|scheduler|process)_\w+", bare)
                self.assertTrue(names)
                labels = set(self.COMMON)
                for name in names:
                    part = re.fullmatch(r"(\w+?)_(?:bucket|sum|count)", name)
                    is_part = part and rows.get(part[1], ("",))[0] == "histogram"
                    kind, has = rows[part[1]] if is_part else rows[name]
                    self.assertEqual(kind == "histogram", bool(is_part), name)
                    labels |= has
                    if kind == "gauge":
                        self.assertNotRegex(bare, rf"(?:rate|increase)\({name}\b")
                    elif f"{name}{{" not in bare and f"({name})" in bare:
                        self.assertTrue(name.endswith("invariant_violations_total"),
                                        f"{name}: a counter without rate or increase")
                used = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", bare))
                for group in re.findall(r"(?:by|on)\s*\(([^)]*)\)", bare):
                    used.update(re.findall(r"\w+", group))
                self.assertLessEqual(used, labels)

    def test_values_of_labels_are_documented(self):
        pages = text_of("docs/reference/metrics.md") + text_of("docs/reference/reasons.md")
        for place, expression in self.expressions():
            for value in re.findall(r'"([^"]*)"', expression):
                for word in filter(None, value.split("|")):
                    self.assertIn(word, pages, place)

    def test_there_are_five_alerts_and_each_leads_to_a_section(self):
        names = [x["alert"] for x in self.alerts()]
        self.assertEqual(len(set(names)), 5)
        for rule in self.alerts():
            self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
            page, anchor = rule["annotations"]["runbook"].split("#")
            headings = re.findall(r"^#+ (.*)$", text_of(page), re.M)
            anchors = {re.sub(r"[^\w -]", "", x, flags=re.A).lower().replace(" ", "-")
                       for x in headings}
            self.assertIn(anchor, anchors)
            self.assertIn(f"`{rule['alert']}`", text_of(page), "the runbook does not name it")

    def test_each_dashboard_asks_one_question(self):
        titles = [board["title"] for _, board in self.dashboards()]
        self.assertEqual(titles, ["tutti: are gangs starting?", "tutti: is the protocol healthy?"])
        self.assertEqual(len({board["uid"] for _, board in self.dashboards()}), 2)

    def test_panels_have_places_of_their_own(self):
        for name, board in self.dashboards():
            taken = set()
            self.assertEqual(len({x["id"] for x in board["panels"]}), len(board["panels"]))
            for panel in board["panels"]:
                at = panel["gridPos"]
                self.assertLessEqual(at["x"] + at["w"], 24)
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                         for y in range(at["y"], at["y"] + at["h"])}
                self.assertFalse(taken & cells, f"{name}: {panel['title']}")
                taken |= cells
                for target in panel["targets"]:
                    self.assertEqual(target["datasource"]["uid"], "${datasource}")


if __name__ == "__main__":
    unittest.main()
