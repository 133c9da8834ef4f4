#!/usr/bin/env bash
# usage: deploy/uninstall.sh [--purge]      (root)
#
# Stops the service and removes what deploy/install.sh installed. --purge removes configuration, jobs and results (/etc/proofline,
# /var/lib/proofline) too. The user proofline stays: files that it owned may be elsewhere. An installation from the .deb: apt-get remove proofline.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

action=remove
case "${1:-}" in
  '') ;;
  --purge) action=purge ;;
  *) fail "usage: deploy/uninstall.sh [--purge]" ;;
esac
[ "$(id -u)" -eq 0 ] || fail "removing needs root: sudo $0 $*"
[ "$(dpkg-query -W -f '${db:Status-Status}' proofline 2>/dev/null || true)" != installed ] || fail "it was installed as a package: apt-get $action proofline"
if [ -x /usr/lib/proofline/setup ]; then /usr/lib/proofline/setup "$action"; fi
rm -rf /usr/lib/proofline /usr/share/proofline /usr/share/doc/proofline
rm -f /usr/bin/proofline /usr/lib/sysusers.d/proofline.conf /usr/lib/tmpfiles.d/proofline.conf
for unit in "$deploy_dir"/systemd/*.{service,socket,target,slice}; do rm -f "/usr/lib/systemd/system/${unit##*/}"; done
if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi
echo "removed"
