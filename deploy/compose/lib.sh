# Shared by the scripts of deploy/compose: how they talk to Docker, and where the cluster's processes
# are. Words, waiting and looking at leaders are deploy/local's. Sourced, not run.

compose_dir=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# What .env says goes for docker-compose, too; the environment goes before it, as it does there.
while IFS='=' read -r name value; do
    [[ $name != [A-Z]* ]] || [ -n "${!name-}" ] || export "$name=$value"
done <"$compose_dir/.env"
unset CORKBOARD_PORT_BASE name value # the local cluster's
CORKBOARD_STATE=${CORKBOARD_COMPOSE_STATE:-$compose_dir/state/$COMPOSE_PROJECT_NAME}
. "$compose_dir/../local/lib.sh"
project=$COMPOSE_PROJECT_NAME net=$CORKBOARD_COMPOSE_NET ports=$CORKBOARD_COMPOSE_PORTS image=$CORKBOARD_IMAGE
certs=$state # the clients' alone
own_things='ca\.crt|(client|operator)\.(crt|key)|net|up\.log'
[[ $project =~ ^[a-z0-9][a-z0-9_-]*$ ]] ||
    die "COMPOSE_PROJECT_NAME must be of small letters, digits, '_' and '-', not '$project'"
[[ $net =~ ^(10|172|192)\.[0-9]{1,3}\.[0-9]{1,3}$ ]] && [ $((10#${net##*.})) -le 255 ] ||
    die "CORKBOARD_COMPOSE_NET must be the first three numbers of private addresses, like 172.28.77, not '$net'"
[[ $CORKBOARD_COMPOSE_REGISTRIES = /* ]] || # as docker-compose takes it
    export CORKBOARD_COMPOSE_REGISTRIES=$compose_dir/$CORKBOARD_COMPOSE_REGISTRIES
[[ $ports =~ ^[1-9][0-9]{1,2}$ && $ports -ge 11 && $ports -le 654 ]] ||
    die "CORKBOARD_COMPOSE_PORTS must be the first digits of the ports, from 11 to 654, not '$ports'"

# ---- Who is where: what deploy/local/lib.sh asks ----

setting() { # KIND: how many there are
    case $1 in
    etcd | rep) echo 3 ;;
    bbs | auctioneer | converger) echo 2 ;;
    esac
}
# The bbs by the ports that Docker publishes on loopback, all else by its address.
url_of() { # NAME
    local n=${1##*-}
    case $1 in
    bbs-*) echo "https://127.0.0.1:${ports}1$n" ;;
    auctioneer-*) echo "https://$net.3$n:9016" ;;
    converger-*) echo "https://$net.4$n:9017" ;;
    rep-*) echo "https://$net.5$n:1801" ;;
    esac
}
pid_of() { [ "$(state_of "$1")" = running ]; } # NAME: whether it runs
client_env() {
    local i
    printf 'export %s=%q\n' BBS_URL "$(url_of bbs-1)" CORKBOARD_BBS_URLS "$(urls bbs)" \
        LOCKET_API_LOCATION "$net.21:8891" CA_CERT_FILE "$certs/ca.crt" \
        CLIENT_CERT_FILE "$certs/client.crt" CLIENT_KEY_FILE "$certs/client.key" \
        AUCTIONEER_URL "$(urls auctioneer)" CONVERGER_URL "$(urls converger)"
    printf 'export PATH=%q:$PATH\n' "$bin"
    for i in 1 2 3; do
        echo "# rep-$i: rep state --url https://$net.5$i:1801, rep evacuate --url https://$net.5$i:1802"
    done
}

# ---- Docker ----

# Dies unless this user may talk to a Docker that runs.
check_docker() {
    local said
    command -v docker >/dev/null ||
        die "the program docker is missing: run deploy/install-packages --compose"
    said=$(timeout 20 docker version --format '{{.Server.Version}}' 2>&1) && return
    case $said in
    *"ermission denied"*)
        die "permission denied: this user may not talk to dockerd. Run this with sudo, or be in the group docker"
        ;;
    *"API version"*) die "the docker program does not fit its dockerd: ${said##*daemon: }" ;;
    esac
    [ -z "${DOCKER_HOST-}" ] ||
        die "dockerd does not answer at DOCKER_HOST=$DOCKER_HOST: start it there, or unset DOCKER_HOST"
    die "dockerd does not run: start it with 'systemctl start docker', or where there is no systemd as root" \
        "with 'dockerd >/var/log/dockerd.log 2>&1 &'"
}
# And unless docker-compose is there: Debian's, or the plugin of newer versions.
check_compose() {
    check_docker
    if command -v docker-compose >/dev/null; then
        dc_command=(docker-compose)
    elif docker compose version >/dev/null 2>&1; then
        dc_command=(docker compose)
    else
        die "docker-compose is missing: run deploy/install-packages --compose"
    fi
    dc_command+=(--project-directory "$compose_dir" -f "$compose_dir/docker-compose.yml")
}
dc() { "${dc_command[@]}" "$@"; } # ARGUMENT...
check_programs() {
    [ -x "$bin/bbs" ] || die "the programs are not built: run 'make' (deploy/install-packages has what it needs)"
}

# What Docker says of a container: created, running, paused, restarting, exited; nothing without one.
state_of() { docker inspect -f '{{.State.Status}}' "$project-$1" 2>/dev/null || true; } # NAME
network_there() { docker network ls -q --filter "label=com.docker.compose.project=$project"; }
containers_there() { docker ps -aq --filter "label=com.docker.compose.project=$project"; }
check_cluster() {
    [ -n "$(containers_there)" ] || die "no compose cluster is there (deploy/compose/up starts one)"
}

# The clients' certificates, from the volume where the cluster made them.
fetch_certs() {
    local name
    umask 077
    mkdir -p "$state" || die "cannot make the directory $state"
    for name in ca.crt client.crt client.key operator.crt operator.key; do
        docker cp "$project-certs:/certs/all/$name" "$state/$name" >/dev/null 2>&1 ||
            die "cannot fetch the clients' certificates from the container $project-certs into $state:" \
                "'docker logs $project-certs' says whether they were made"
    done
}
