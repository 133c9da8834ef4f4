#!/usr/bin/env bash
# usage: service_test.sh BUILD_DIR SOURCE_DIR
#
# The service as it is shipped, under a real systemd: the .deb is made and installed; units are verified; the target starts, proves; each process is
# killed and stopped under load; the coordinator is upgraded hot; the target stops and starts; the package goes and leaves nothing.
set -euo pipefail
. "$(dirname "$0")/box.sh"
box_enter "$0" "$@"

build=$1 source=$2
samples=$source/tests/data/samples/bn128
state=/var/lib/proofline
gpu=proofline-gpu-worker@0 synth=proofline-synth-worker@0 coordinator=proofline-coordinator

fail() {
  echo "FAILED: $*" >&2
  in_box systemctl status --no-pager -n 0 'proofline*' >&2 2>&1 || true
  in_box journalctl --no-pager -o cat -n 60 -u 'proofline*' >&2 2>&1 || true
  exit 1
}
step() { echo "-- $* (${SECONDS} s)"; }
pl() { in_box proofline "$@" --state $state; }
# 0 while there is none.
pid_of() { in_box systemctl show -p MainPID --value "$1"; }
restarts_of() { in_box systemctl show -p NRestarts --value "$1"; }
# `kill 0` and `kill -1` would reach this script, or everybody.
signal() {
  local pid
  pid=$(pid_of "$2")
  [ "$pid" -gt 1 ] || fail "$2 has no process"
  in_box kill -s "$1" "$pid"
}
eventually() {
  local deadline=$((SECONDS + 40))
  until "$@"; do
    [ $SECONDS -lt $deadline ] || fail "not within 40 s: $*"
    sleep 0.05
  done
}
all_active() {
  local unit
  for unit in $coordinator $gpu $synth; do [ "$(in_box systemctl is-active $unit)" = active ] || return 1; done
}
has_pid_other_than() { local pid; pid=$(pid_of "$1"); [ "$pid" -gt 1 ] && [ "$pid" != "$2" ] && [ "$(in_box systemctl is-active "$1")" = active ]; }
value() { pl status --json | python3 -c "import json,sys; print(json.load(sys.stdin)$1)"; }
submit() { pl submit --circuit many $(for ((i = 0; i < $1; ++i)); do echo "--witness /root/w.wtns"; done); }
finish() {
  rm -rf "$box_root/root/out"
  pl wait "$1" --out /root/out --timeout 120s >/dev/null || fail "job $1 of $2 partitions did not end well"
  local i
  for ((i = 0; i < $2; ++i)); do
    in_box proofline verify /root/vk.json /root/out/$i/public.json /root/out/$i/proof.json >/dev/null || fail "proof $i of job $1 is not valid"
  done
}
no_processes() { [ -z "$(in_box pgrep -u proofline || true)" ]; }
slots_all_free() { [ "$(value '["slots"].__len__()')" = "$(value '["slots"]' | grep -o "'free'" | wc -l)" ]; }

verify_units() {
  local output
  output=$(in_box sh -c 'systemd-analyze verify /usr/lib/systemd/system/proofline*.target /usr/lib/systemd/system/proofline*.socket /usr/lib/systemd/system/proofline*.slice \
    /usr/lib/systemd/system/proofline-coordinator.service proofline-gpu-worker@0.service proofline-synth-worker@0.service' 2>&1) || true
  [ -z "$output" ] || fail "systemd-analyze verify says: $output"
}
# The figures of deploy/README.md, in tenths: worse than these is a failure.
check_security() {
  local unit limit
  while read -r unit limit; do
    in_box systemd-analyze security --offline=true --no-pager "/usr/lib/systemd/system/$unit" >"$build/security-$unit.txt" 2>&1 || true
    tail -n 1 "$build/security-$unit.txt" | sed "s/^/$unit: /"
    in_box systemd-analyze security --offline=true --threshold="$limit" --no-pager "/usr/lib/systemd/system/$unit" >/dev/null 2>&1 || fail "$unit is more exposed than $limit tenths"
  done <<UNITS
proofline-coordinator.service 10
proofline-synth-worker@.service 14
proofline-gpu-worker@.service 18
UNITS
}

start_service() {
  in_box sed -i -e 's/^# bytes = .*/bytes = "8MiB"/' /etc/proofline/proofline.toml
  in_box systemctl start proofline.target
  eventually all_active
  [ "$(in_box ps -o user= -p "$(pid_of $gpu)")" = proofline ] || fail "the owner does not run under its own user"
  in_box stat -c '%U %a' /run/proofline/{work,front,broker}.sock $state | tr '\n' ' ' | grep -qx 'proofline 600 proofline 660 proofline 660 proofline 700 ' || fail "modes of sockets or state directory"
  pl circuit add many --key /root/many.zkey --copy >/dev/null
}

# Who may talk to it: root, the user itself, the group; nobody else.
who_may_talk() {
  in_box setpriv --reuid=proofline --regid=proofline --clear-groups proofline status --state $state >/dev/null || fail "its own user is refused"
  in_box setpriv --reuid=nobody --regid=nogroup --groups="$(in_box getent group proofline | cut -d: -f3)" proofline status --state $state >/dev/null || fail "a member of the group is refused"
  if in_box setpriv --reuid=nobody --regid=nogroup --clear-groups proofline status --state $state >/dev/null 2>&1; then fail "a stranger is served"; fi
}

kill_one() {
  local unit=$1 number=$2 others=$3 job before pid other_pids=
  before=$(restarts_of "$unit")
  pid=$(pid_of "$unit")
  for other in $others; do other_pids+=" $(pid_of "$other")"; done
  job=$(submit 12)
  signal "$number" "$unit"
  finish "$job" 12
  eventually has_pid_other_than "$unit" "$pid"
  [ "$(restarts_of "$unit")" -gt "$before" ] || fail "$unit was not restarted by systemd"
  local now=
  for other in $others; do now+=" $(pid_of "$other")"; done
  [ "$now" = "$other_pids" ] || fail "killing $unit restarted another: $others were$other_pids, are$now"
}

# A client that asks all the time, until the second file is there or so often; the longest that it took, in ms, goes into the first.
ask_all_the_time() {
  local longest=0 start took left=${3:-1000000}
  while [ ! -e "$2" ] && [ "$left" -gt 0 ]; do
    left=$((left - 1))
    start=$(date +%s%N)
    pl status >/dev/null || { echo refused >"$1"; return; }
    took=$((($(date +%s%N) - start) / 1000000))
    [ $took -le $longest ] || longest=$took
    echo $longest >"$1"
  done
}

# `systemctl restart` under load: no job lost, workers untouched, the same slots, clients wait for less than a second.
hot_upgrade() {
  local owner worker jobs=() asker i failed made longest usual
  owner=$(pid_of $gpu) worker=$(pid_of $synth) failed=$(value '["jobs"]["failed"]')
  made=$(in_box journalctl -o cat -u $coordinator | grep -c 'slots made' || true)
  # Starting a program takes its time too, on a busy machine.
  jobs+=("$(submit 10)")
  ask_all_the_time "$box/usual" "$box/stop-asking" 15
  usual=$(cat "$box/usual")
  ask_all_the_time "$box/longest" "$box/stop-asking" &
  asker=$!
  for i in 1 2 3; do
    jobs+=("$(submit 10)")
    in_box systemctl restart $coordinator
  done
  for i in "${jobs[@]}"; do finish "$i" 10; done
  touch "$box/stop-asking"
  wait $asker
  longest=$(cat "$box/longest")
  echo "   longest call of a client over three restarts: $longest ms; without: $usual ms"
  [ "$longest" != refused ] || fail "a client was refused during a hot upgrade"
  # Under a second; on a machine that is so busy that any call takes long, in proportion.
  local limit=$((5 * usual > 1000 ? 5 * usual : 1000))
  [ "$((longest - usual))" -lt $limit ] || fail "a client waited $longest ms over a hot upgrade"
  [ "$(pid_of $gpu) $(pid_of $synth)" = "$owner $worker" ] || fail "a hot upgrade of the coordinator restarted a worker"
  [ "$(in_box journalctl -o cat -u $coordinator | grep -c 'slots made' || true)" = "$made" ] || fail "a hot upgrade made new slots"
  [ "$(value '["jobs"]["failed"]')" = "$failed" ] || fail "a job failed over a hot upgrade"
}

stopped_coordinator() {
  local pid job
  pid=$(pid_of $coordinator)
  signal STOP $coordinator
  job=$(submit 2)
  finish "$job" 2
  has_pid_other_than $coordinator "$pid" || fail "the watchdog did not end a stopped coordinator"
}

bad_configuration() {
  in_box sed -i '1i nonsense = 1' /etc/proofline/proofline.toml
  in_box systemctl restart $gpu 2>/dev/null && fail "an owner starts with a bad configuration"
  eventually test "$(in_box systemctl is-failed $gpu)" = failed
  in_box sed -i 1d /etc/proofline/proofline.toml
  in_box systemctl restart $gpu
  eventually all_active
}

stop_and_start() {
  local job
  signal STOP $gpu
  job=$(submit 4)
  signal CONT $gpu
  in_box systemctl stop proofline.target
  eventually no_processes
  [ "$(in_box systemctl list-units --state=failed --no-legend 'proofline*' | wc -l)" = 0 ] || fail "a unit failed when it was stopped"
  in_box systemctl start proofline.target
  finish "$job" 4
}

nothing_left() {
  local path
  for path in /usr/lib/proofline /usr/bin/proofline /etc/proofline $state /run/proofline /etc/systemd/system/proofline.target.wants; do
    in_box test ! -e $path || fail "$path is left"
  done
  [ -z "$(in_box sh -c 'ls /usr/lib/systemd/system /etc/systemd/system | grep proofline' || true)" ] || fail "unit files are left"
  no_processes || fail "processes are left"
}

step "the package"
(cd "$build" && cpack -G DEB >cpack.log 2>&1) || { cat "$build/cpack.log"; exit 1; }
step "a systemd boots"
box_up "$source" "$build"
cp "$build"/package/proofline_*.deb "$box_root/root/proofline.deb"
cp "$samples/manypublic.zkey" "$box_root/root/many.zkey"
cp "$samples/manypublic.wtns" "$box_root/root/w.wtns"
cp "$samples/manypublic.vk.json" "$box_root/root/vk.json"
in_box dpkg --force-depends -i /root/proofline.deb >"$box/dpkg.log" 2>&1 || { cat "$box/dpkg.log"; fail "the package cannot be installed"; }
step "units"
verify_units
check_security
step "start, prove"
start_service
job=$(submit 3)
finish "$job" 3
who_may_talk
step "kill -9 of each process under load"
kill_one $coordinator KILL "$gpu $synth"
kill_one $gpu KILL "$coordinator $synth"
kill_one $synth KILL "$coordinator $gpu"
step "a hot upgrade"
hot_upgrade
step "a stopped coordinator"
stopped_coordinator
step "a bad configuration"
bad_configuration
step "the package again, over what runs"
job=$(submit 20)
in_box dpkg --force-depends -i /root/proofline.deb >"$box/dpkg.log" 2>&1 || { cat "$box/dpkg.log"; fail "the package cannot be upgraded"; }
finish "$job" 20
step "stop and start"
stop_and_start
eventually slots_all_free
[ "$(value '["jobs"]["failed"]') $(value '["jobs"]["live"]')" = "0 0" ] || fail "jobs failed or are left"
step "gone"
in_box dpkg --purge proofline >"$box/dpkg.log" 2>&1 || { cat "$box/dpkg.log"; fail "the package cannot be removed"; }
nothing_left
step "installed from a build, and gone"
in_box "$source/deploy/install.sh" "$build" >"$box/install.log" 2>&1 || { cat "$box/install.log"; fail "deploy/install.sh"; }
verify_units
start_service
job=$(submit 2)
finish "$job" 2
in_box "$source/deploy/uninstall.sh" --purge >"$box/install.log" 2>&1 || { cat "$box/install.log"; fail "deploy/uninstall.sh"; }
nothing_left
step "passed"
