# A real systemd to test in (sourced, bash with `set -euo pipefail`): a copy-on-write view of this machine's root, booted by systemd-nspawn in a
# mount namespace of its own. Nothing outside of it changes, and nothing of it is left when the script ends, however it ends.
#
#   box_enter "$0" "$@"   first of all: skips the test (exit 77) where this cannot work, else runs the script again in the namespace
#   box_up [FOLDER...]    boots, with these folders at the same place inside; $box_root is the box's root folder, seen from outside
#   in_box CMD...         runs a command in it
#   box_down

skip() {
  echo "skipped: $*"
  exit 77
}

box_enter() {
  [ "${PROOFLINE_BOX:-}" != entered ] || return 0
  [ "$(id -u)" -eq 0 ] || skip "booting a systemd needs root"
  local tool
  for tool in systemd-nspawn nsenter unshare setpriv; do
    command -v "$tool" >/dev/null || skip "$tool is not there (packages systemd-container, util-linux)"
  done
  unshare -m --propagation private true 2>/dev/null || skip "no mount namespace can be made here"
  PROOFLINE_BOX=entered exec unshare -m --propagation private "$@"
}

box_up() {
  box=$(mktemp -d /tmp/pl-box-XXXXXX)
  box_root=$box/root
  trap box_down EXIT
  mkdir "$box/rw" "$box_root"
  mount -t tmpfs -o size=2G tmpfs "$box/rw" 2>/dev/null || skip "no tmpfs can be mounted"
  mkdir "$box/rw/upper" "$box/rw/work"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$box/rw/upper,workdir=$box/rw/work" "$box_root" 2>/dev/null || skip "no overlay of the root can be mounted"
  box_quieten
  local folder binds=()
  for folder in "$@"; do binds+=("--bind=$folder"); done
  # Without CAP_IPC_LOCK nspawn's own filter refuses mlock.
  SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 SYSTEMD_LOG_LEVEL=warning setpriv --pdeathsig KILL systemd-nspawn -q --register=no --keep-unit --private-network \
    --capability=all "${binds[@]}" --console=pipe -b -D "$box_root" --machine="plbox$$" </dev/null >"$box/console.log" 2>&1 &
  box_pid=$!
  local deadline=$((SECONDS + 60))
  box_leader=
  until [ -n "$box_leader" ] && nsenter -t "$box_leader" -a systemctl is-system-running 2>/dev/null | grep -qE 'running|degraded'; do
    if ! kill -0 "$box_pid" 2>/dev/null || [ $SECONDS -gt $deadline ]; then
      tail -n 20 "$box/console.log"
      skip "systemd does not boot in a container here"
    fi
    sleep 0.1
    box_leader=$(pgrep -P "$box_pid" | head -n 1 || true)
  done
}

# Only systemd itself, its journal and the message bus.
box_quieten() {
  local etc=$box_root/etc/systemd/system unit
  rm -f "$box_root/etc/machine-id"
  touch "$box_root/etc/machine-id"
  mkdir -p "$etc"
  find "$etc" -name '*.wants' -type d -exec rm -rf {} +
  ln -sf /lib/systemd/system/multi-user.target "$etc/default.target"
  for unit in getty.target getty@tty1.service console-getty.service systemd-logind.service systemd-networkd.service systemd-resolved.service \
    systemd-timesyncd.service systemd-udevd.service apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer fstrim.timer man-db.timer; do
    ln -sf /dev/null "$etc/$unit"
  done
  # Nothing of an installation of the machine's own.
  rm -rf "$etc"/proofline* "$box_root"/{etc,run}/proofline "$box_root"/var/lib/proofline "$box_root"/usr/lib/proofline "$box_root"/usr/lib/systemd/system/proofline*
}

in_box() { nsenter -t "$box_leader" -a -- "$@"; }

box_down() {
  local code=$?
  trap - EXIT
  if [ -n "${box_leader:-}" ]; then
    kill -s RTMIN+4 "$box_leader" 2>/dev/null || true
    local i
    for i in $(seq 80); do
      kill -0 "$box_pid" 2>/dev/null || break
      sleep 0.1
    done
  fi
  if [ -n "${box_pid:-}" ]; then kill -KILL "$box_pid" 2>/dev/null || true; fi
  wait 2>/dev/null || true
  umount -l "$box_root" "$box/rw" 2>/dev/null || true
  rm -rf "$box"
  exit "$code"
}
