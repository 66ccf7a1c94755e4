#!/bin/sh
# Installs Debian's RabbitMQ for the tests that want a real broker, where it is missing. The package would start a
# broker of its own for the whole machine: a policy keeps it from that, and is taken away again. The tests start theirs.
set -eu

if [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] && command -v erl >/dev/null 2>&1; then
  echo 'install-rabbitmq: it is here already'
  exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo 'install-rabbitmq: it is missing and can be had only by root on Debian: apt-get install rabbitmq-server' >&2
  exit 1
fi

policy=/usr/sbin/policy-rc.d
kept="$policy.before-install-rabbitmq"
restore() {
  rm -f "$policy"
  if [ -e "$kept" ] || [ -L "$kept" ]; then mv -f "$kept" "$policy"; fi
}
if [ -e "$policy" ] || [ -L "$policy" ]; then mv -f "$policy" "$kept"; fi
trap restore EXIT
trap 'exit 1' HUP INT TERM
# 101: whatever asks to be started is told that it may not.
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"

apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rabbitmq-server
echo 'install-rabbitmq: rabbitmq-server is installed, and no broker was started'
