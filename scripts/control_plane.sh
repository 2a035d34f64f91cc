#!/usr/bin/env bash
# A genuine Kubernetes control plane on loopback, with the group APIs switched on: etcd and
# kube-apiserver, and what else is asked for.
#
#   scripts/control_plane.sh start -d STATE [--assets DIR] [--kcm] [--scheduler] [--longest-backoff S]
#                                  [--gates LIST] [--api-arg ARG]… [--scheduler-arg ARG]…
#                                  [--while PID]
#   scripts/control_plane.sh kill PART -d STATE     ends one part at once (etcd, kube-apiserver, …)
#   scripts/control_plane.sh again PART -d STATE    starts it again as it was
#   scripts/control_plane.sh stop -d STATE
#
# STATE is a new or empty folder for keys, logs and data. Without --assets the folder is what
# scripts/kube_assets.sh --find prints. Nodes are made by hand and need no kubelet: nothing taints
# them. STATE/env holds SERVER, CA_FILE, ADMIN_TOKEN, SCHEDULER_TOKEN, PLAIN_TOKEN and ETCD_PORT;
# STATE/kubeconfig is the administrator's, STATE/kubeconfig-scheduler kube-scheduler's,
# STATE/kubeconfig-plain that of a user without rights. STATE/audit.log has a line per request.
# With --while everything ends when that process has gone. With --longest-backoff kube-scheduler tries
# again after so many seconds at most (else 10).
# Exit codes: 0 done, 1 error, 2 wrong usage.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"

patience_s="${TUTTI_KUBE_PATIENCE:-90}"

fail() {
  echo "control_plane: $1" >&2
  exit 1
}
usage() {
  sed -n '2,21s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
  exit 2
}

# A pid alone may be somebody else's by now: the start time is looked at, too.
started_at() { sed 's/^.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }
is_running() { # PART
  local pid since
  read -r pid since <"$state/pids/$1" 2>/dev/null && [[ "$(started_at "$pid")" == "$since" ]]
}
end_part() { # PART
  local pid
  while is_running "$1"; do
    read -r pid _ <"$state/pids/$1"
    kill -KILL "$pid" 2>/dev/null || true
    sleep 0.05
  done
}
# Nobody reads the data afterwards, and an API server takes its time to end in order.
stop_all() {
  local part
  for part in kube-scheduler kube-controller-manager kube-apiserver etcd; do
    [[ ! -f "$state/pids/$part" ]] || end_part "$part"
  done
}
launch() { # PART: its arguments stand in a file, so that it can be started again
  local args
  mapfile -t args <"$state/args/$1"
  setsid "$assets/$1" "${args[@]}" >>"$state/logs/$1.log" 2>&1 </dev/null &
  echo "$! $(started_at $!)" >"$state/pids/$1"
}
first_launch() { # PART ARG…
  printf '%s\n' "${@:2}" >"$state/args/$1"
  launch "$1"
  wait_for "$1"
}
wait_for() { # PART
  local url tries=0
  url="$(sed -n "s|^$1 ||p" "$state/ready")"
  until [[ "$(curl -s -m 2 --cacert "$state/ca.crt" -H "Authorization: Bearer $(<"$state/admin-token")" \
    -o "/dev/null" -w '%{http_code}' "$url" 2>/dev/null)" == 200 ]]; do
    is_running "$1" || fail "$1 has ended: $(tail -n 1 "$state/logs/$1.log" | cut -c1-300)"
    ((++tries < patience_s * 10)) || fail "$1 is not ready after $patience_s s; see $state/logs/$1.log"
    sleep 0.1
  done
}
choose_port() { # below the range that the kernel gives out
  while :; do
    port=$((20000 + RANDOM % 12000))
    [[ " ${taken:-} " != *" $port "* ]] || continue
    ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || continue
    taken+=" $port"
    return
  done
}
make_certificate() { # NAME SUBJECT EXTENSIONS
  openssl ecparam -name prime256v1 -genkey -noout -out "$state/$1.key"
  openssl req -new -key "$state/$1.key" -subj "$2" |
    openssl x509 -req -CA "$state/ca.crt" -CAkey "$state/ca.key" -CAcreateserial -days 365 \
      -extfile <(printf '%s\n' "$3") -out "$state/$1.crt" 2>/dev/null
}
make_kubeconfig() { # FILE USER
  cat >"$1" <<EOF
apiVersion: v1
kind: Config
clusters: [{name: local, cluster: {server: "https://127.0.0.1:$api_port", certificate-authority: "$state/ca.crt"}}]
users: [{name: user, user: $2}]
contexts: [{name: local, context: {cluster: local, user: user}}]
current-context: local
EOF
  chmod 600 "$1"
}
make_identities() {
  local name token
  openssl ecparam -name prime256v1 -genkey -noout -out "$state/ca.key"
  openssl req -x509 -new -key "$state/ca.key" -days 365 -subj /CN=local-ca -out "$state/ca.crt"
  make_certificate server /CN=kube-apiserver \
    'subjectAltName=IP:127.0.0.1,DNS:localhost,DNS:kubernetes.default.svc'
  make_certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth'
  openssl genrsa -out "$state/service-account.key" 2048 2>/dev/null
  for name in admin scheduler kcm plain; do
    token="$(openssl rand -hex 16)"
    echo "$token" >"$state/$name-token"
    case "$name" in
      admin) echo "$token,admin,admin,\"system:masters\"" ;;
      scheduler) echo "$token,system:kube-scheduler,system:kube-scheduler" ;;
      kcm) echo "$token,system:kube-controller-manager,system:kube-controller-manager,\"system:masters\"" ;;
      plain) echo "$token,plain-user,plain-user" ;;
    esac >>"$state/tokens.csv"
    make_kubeconfig "$state/kubeconfig-$name" "{token: $token}"
  done
  mv "$state/kubeconfig-admin" "$state/kubeconfig"
  make_kubeconfig "$state/kubeconfig-cert" \
    "{client-certificate: \"$state/admin.crt\", client-key: \"$state/admin.key\"}"
  chmod 600 "$state"/*.key "$state"/*-token "$state/tokens.csv"
}

# An unknown gate ends a server, so each release has its list.
choose_gates() {
  case "$(cut -d. -f2 <<<"$version")" in
    36)
      runtime=scheduling.k8s.io/v1alpha2=true
      : "${gates:=GenericWorkload=true,GangScheduling=true,TopologyAwareWorkloadScheduling=true,WorkloadAwarePreemption=true,DRAWorkloadResourceClaims=true,WorkloadWithJob=true}"
      ;;
    *)
      runtime=scheduling.k8s.io/v1beta1=true,scheduling.k8s.io/v1alpha3=true
      : "${gates:=GenericWorkload=true,TopologyAwareWorkloadScheduling=true,CompositePodGroup=true,PodGroupPreemptionPolicy=true,DRAWorkloadResourceClaims=true,WorkloadWithJob=true}"
      ;;
  esac
}

start_etcd() {
  local peer_port
  choose_port
  peer_port=$port
  first_launch etcd --name=default --data-dir="$state/etcd" --unsafe-no-fsync --log-level=warn \
    --listen-client-urls="http://127.0.0.1:$etcd_port" --advertise-client-urls="http://127.0.0.1:$etcd_port" \
    --listen-peer-urls="http://127.0.0.1:$peer_port" \
    --initial-advertise-peer-urls="http://127.0.0.1:$peer_port" \
    --initial-cluster="default=http://127.0.0.1:$peer_port"
}
# A loopback address is refused in the `kubernetes` Service, so nobody writes it. ServiceAccount
# admission needs the controller manager. Events live for a day, so that tests can read them.
start_api_server() {
  echo '{"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived", "ResponseStarted"],
         "rules": [{"level": "Metadata"}]}' >"$state/audit-policy.json"
  first_launch kube-apiserver --etcd-servers="http://127.0.0.1:$etcd_port" \
    --bind-address=127.0.0.1 --advertise-address=127.0.0.1 --secure-port="$api_port" \
    --endpoint-reconciler-type=none --service-cluster-ip-range=10.0.0.0/24 \
    --tls-cert-file="$state/server.crt" --tls-private-key-file="$state/server.key" --cert-dir="$state" \
    --client-ca-file="$state/ca.crt" --token-auth-file="$state/tokens.csv" \
    --service-account-issuer=https://kubernetes.default.svc \
    --service-account-key-file="$state/service-account.key" \
    --service-account-signing-key-file="$state/service-account.key" \
    --authorization-mode=RBAC --disable-admission-plugins=ServiceAccount,TaintNodesByCondition \
    --event-ttl=24h --profiling=false --feature-gates="$gates" --runtime-config="$runtime" \
    --audit-policy-file="$state/audit-policy.json" --audit-log-path="$state/audit.log" "${api_args[@]}"
}
start_client() { # PART PORT KUBECONFIG ARG…
  first_launch "$1" --kubeconfig="$3" --authentication-kubeconfig="$state/kubeconfig" \
    --authorization-kubeconfig="$state/kubeconfig" --bind-address=127.0.0.1 --secure-port="$2" \
    --tls-cert-file="$state/server.crt" --tls-private-key-file="$state/server.key" \
    --leader-elect=false --feature-gates="$gates" "${@:4}"
}

# A configuration file goes before flags that say the same.
start_kube_scheduler() {
  local more=()
  if [[ -n "$longest_backoff" ]]; then
    cat >"$state/scheduler.yaml" <<EOF
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: "$state/kubeconfig-scheduler", qps: 200, burst: 400}
leaderElection: {leaderElect: false}
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: $longest_backoff
EOF
    more=(--config="$state/scheduler.yaml")
  fi
  start_client kube-scheduler "$scheduler_port" "$state/kubeconfig-scheduler" "${more[@]}" \
    "${scheduler_args[@]}"
}

# In the background, with no file of ours open: who waits for our output must not wait for it.
stop_after() { # PID
  local since
  since="$(started_at "$1")"
  (
    while [[ -d "$state/pids" && "$(started_at "$1")" == "$since" ]]; do sleep 1; done
    stop_all
  ) >/dev/null 2>&1 </dev/null &
}

start() {
  mkdir -p "$state"
  [[ -z "$(ls -A "$state")" ]] || fail "$state is not empty"
  state="$(cd "$state" && pwd)"
  [[ -n "$assets" ]] || assets="$("$here/kube_assets.sh" --find)"
  mkdir "$state/pids" "$state/logs" "$state/args" "$state/etcd"
  chmod 700 "$state"
  echo "$assets" >"$state/assets"
  version="$("$assets/kube-apiserver" --version | sed 's/^Kubernetes v//')"
  choose_gates
  choose_port; etcd_port=$port
  choose_port; api_port=$port
  choose_port; kcm_port=$port
  choose_port; scheduler_port=$port
  cat >"$state/ready" <<EOF
etcd http://127.0.0.1:$etcd_port/health
kube-apiserver https://127.0.0.1:$api_port/readyz
kube-controller-manager https://127.0.0.1:$kcm_port/healthz
kube-scheduler https://127.0.0.1:$scheduler_port/healthz
EOF
  make_identities
  cat >"$state/env" <<EOF
SERVER=https://127.0.0.1:$api_port
CA_FILE=$state/ca.crt
ADMIN_TOKEN=$(<"$state/admin-token")
SCHEDULER_TOKEN=$(<"$state/scheduler-token")
PLAIN_TOKEN=$(<"$state/plain-token")
ETCD_PORT=$etcd_port
EOF
  trap '(($? == 0)) || stop_all' EXIT
  start_etcd
  start_api_server
  [[ -z "$with_kcm" ]] || start_client kube-controller-manager "$kcm_port" "$state/kubeconfig-kcm" \
    --service-account-private-key-file="$state/service-account.key" --root-ca-file="$state/ca.crt" \
    --use-service-account-credentials=false \
    --controllers='*,-node-lifecycle-controller,-taint-eviction-controller'
  [[ -z "$with_scheduler" ]] || start_kube_scheduler
  [[ -z "$owner" ]] || stop_after "$owner"
  echo "Kubernetes $version is up: KUBECONFIG=$state/kubeconfig"
}

verb="${1:-}"
(($# > 0)) && shift
state='' assets='' gates='' part='' with_kcm='' with_scheduler='' longest_backoff='' owner='' api_args=() scheduler_args=()
case "$verb" in kill | again) part="${1:-}"; (($# > 0)) && shift ;; esac
while (($# > 0)); do
  case "$1" in
    -d) state="${2:?}"; shift ;;
    --assets) assets="${2:?}"; shift ;;
    --gates) gates="${2:?}"; shift ;;
    --api-arg) api_args+=("${2:?}"); shift ;;
    --scheduler-arg) scheduler_args+=("${2:?}"); shift ;;
    --while) owner="${2:?}"; shift ;;
    --longest-backoff) longest_backoff="${2:?}"; shift ;;
    --kcm) with_kcm=1 ;;
    --scheduler) with_scheduler=1 ;;
    *) usage ;;
  esac
  shift
done
[[ -n "$state" ]] || usage
case "$verb" in
  start) start ;;
  kill | again)
    [[ -f "$state/args/$part" ]] || fail "there is no \"$part\" in $state"
    assets="$(<"$state/assets")"
    if [[ "$verb" == kill ]]; then
      end_part "$part"
    else
      launch "$part"
      wait_for "$part"
    fi
    ;;
  stop)
    [[ -d "$state/pids" ]] || fail "nothing was started in $state"
    stop_all
    ;;
  *) usage ;;
esac
