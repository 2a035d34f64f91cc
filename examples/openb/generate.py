#!/usr/bin/env python3
"""Makes cluster.yaml and gangs.yaml from the OpenB trace. Same input, same bytes.

usage: generate.py NODES.csv PODS.csv GANG_PMF.csv   (see README.md for where they come from)
"""
import csv
import random
import sys

RACK_NODES = 24
BLOCK_RACKS = 8
GANGS = 420
SEED = 20231
GPU = "nvidia.com/gpu"


def node(i, row):
    rack, block = i // RACK_NODES, i // (RACK_NODES * BLOCK_RACKS)
    labels = [f"kubernetes.io/hostname: {row['sn']}", f"example.com/rack: r{rack:02d}",
              f"example.com/block: b{block}"]
    if row["model"]:
        labels.append(f"example.com/gpu-model: {row['model']}")
    amounts = f"cpu: {row['cpu_milli']}m, memory: {row['memory_mib']}Mi, pods: \"110\""
    if int(row["gpu"]):
        amounts += f", {GPU}: \"{row['gpu']}\""
    return ("apiVersion: v1\nkind: Node\n"
            f"metadata: {{name: {row['sn']}, labels: {{{', '.join(labels)}}}}}\n"
            f"status: {{allocatable: {{{amounts}}}, capacity: {{{amounts}}}}}\n")


def shape(row):
    """What one pod of the trace asks for. A share of a GPU asks for a whole one: devices that are
    shared between pods are not part of this example."""
    gpus = int(row["num_gpu"])
    requests = f"cpu: {row['cpu_milli']}m, memory: {row['memory_mib']}Mi"
    if gpus:
        requests += f", {GPU}: \"{gpus}\""
    models = row["gpu_spec"].split("|") if row["gpu_spec"] else []
    return gpus, requests, models


def pod(name, group, requests, models, priority):
    affinity = ""
    if models:
        affinity = ("  affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
                    "{nodeSelectorTerms: [{matchExpressions: [{key: example.com/gpu-model, "
                    f"operator: In, values: [{', '.join(models)}]}}]}}]}}}}}}\n")
    # extended resources need equal limits
    limits = ""
    if GPU in requests:
        limits = f", limits: {{{requests[requests.index(GPU):]}}}"
    return ("apiVersion: v1\nkind: Pod\n"
            f"metadata: {{name: {name}}}\nspec:\n"
            f"  schedulingGroup: {{podGroupName: {group}}}\n"
            f"  priorityClassName: {priority}\n{affinity}"
            f"  containers: [{{name: main, image: work, resources: {{requests: {{{requests}}}{limits}}}}}]\n")


def group(name, min_count, rack, priority):
    constraint = "  schedulingConstraints: {topology: [{key: example.com/rack}]}\n" if rack else ""
    return ("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\n"
            f"metadata: {{name: {name}}}\nspec:\n"
            f"  schedulingPolicy: {{gang: {{minCount: {min_count}}}}}\n"
            f"  priorityClassName: {priority}\n{constraint}")


def main():
    nodes = list(csv.DictReader(open(sys.argv[1])))
    pods = list(csv.DictReader(open(sys.argv[2])))
    sizes = [(int(r["gpus_from"]), int(r["gpus_to"]), float(r["pct_jobs"]))
             for r in csv.DictReader(open(sys.argv[3])) if r["cluster"] == "Seren"]
    chance = random.Random(SEED)
    with open("cluster.yaml", "w") as out:
        out.write("# OpenB: the 1,523 nodes of Alibaba cluster-trace-gpu-v2023, dealt into racks. See README.md.\n")
        out.write("---\n".join(node(i, row) for i, row in enumerate(nodes)))
    docs = [f"apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {n}}}\nvalue: {v}\n"
            for n, v in (("batch", 100), ("train", 1000))]

    def gang(name, count, min_count, row, rack, priority):
        _, requests, models = shape(row)
        docs.append(group(name, min_count, rack, priority))
        docs.extend(pod(f"{name}-{i}", name, requests, models, priority) for i in range(count))

    for g in range(GANGS):
        low, high, _ = chance.choices(sizes, weights=[s[2] for s in sizes])[0]
        wanted = chance.randint(min(low, 256), min(high, 256))
        row = chance.choice(pods)
        gpus = max(1, shape(row)[0])
        count = max(1, min(96, wanted // gpus))
        gang(f"job-{g:03d}", count, count, row, rack=2 <= count <= 24 and chance.random() < 0.4,
             priority="train" if chance.random() < 0.3 else "batch")
    # Some that cannot be placed, each for a reason of its own.
    big = next(r for r in pods if r["num_gpu"] == "8" and not r["gpu_spec"])
    one = next(r for r in pods if r["num_gpu"] == "1" and r["gpu_milli"] == "1000" and not r["gpu_spec"])
    gang("llm-whole-rack", 32, 32, big, True, "train")       # no rack has 32 nodes of eight GPUs
    gang("llm-everything", 900, 900, big, False, "train")    # more than the cluster has
    gang("wants-unknown-gpu", 4, 4, dict(one, gpu_spec="Z9"), False, "batch")  # nobody has this model
    with open("gangs.yaml", "w") as out:
        out.write("# Gangs made of OpenB's pod shapes, with sizes of the Seren cluster. See README.md.\n")
        out.write("---\n".join(docs))


main()
