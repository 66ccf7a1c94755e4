#!/bin/sh
# Installs Debian's RabbitMQ for the tests that need a real broker, unless it is installed. The package would start a
# broker as a service; a temporary policy prevents that. The tests start their own brokers.
set -eu

if [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] && command -v erl >/dev/null 2>&1; then
  echo 'install-rabbitmq: already installed'
  exit 0
fi
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null 2>&1; then
  echo 'install-rabbitmq: not installed; as root on Debian, run: apt-get install rabbitmq-server' >&2
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
# 101: the package may not start its service.
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"

apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends rabbitmq-server
echo 'install-rabbitmq: installed rabbitmq-server; no broker was started'
