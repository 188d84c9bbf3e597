#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Chooses the driver under test in a guest.
#
#   side load A|B|siw               load the driver of a side; nothing is loaded
#   side link DEV TYPE NETDEV GID...  create a device, wait for all its GIDs
#   side unlink                     delete the software devices of this namespace
#   side unload                     remove the drivers; fails when they are in use
#   side gid DEV GID                print the index of a RoCE v2 GID
set -eu

limit=100	# tries, a tenth of a second apart

fail()
{
	echo "side: $*" >&2
	exit 1
}

# gid DEV GID: its index, or nothing
gid()
{
	for file in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		{ read -r found < "$file"; } 2>/dev/null || continue
		[ "$found" = "$2" ] || continue
		index=${file##*/}
		{ read -r type < "/sys/class/infiniband/$1/ports/1/gid_attrs/types/$index"; } \
			2>/dev/null || continue
		if [ "$type" = "RoCE v2" ]; then
			echo "$index"
			return 0
		fi
	done
	return 1
}

# until_true WHAT COMMAND...: poll a condition
until_true()
{
	what=$1
	shift
	tries=0
	until "$@" > /dev/null; do
		tries=$((tries + 1))
		[ "$tries" -lt "$limit" ] || fail "$what: not within $((limit / 10)) s"
		sleep 0.1
	done
}

active()
{
	read -r state < "/sys/class/infiniband/$1/ports/1/state"
	[ "${state#*ACTIVE}" != "$state" ]
}

unused()
{
	read -r users < "/sys/module/$1/refcnt"
	[ "$users" -eq 0 ]
}

case ${1:-} in
load)
	module=rdma_rxe
	from=$2
	[ "$2" != siw ] || { module=siw; from=A; }
	[ -d "/payload/$from/lib/modules" ] || fail "the payload has no side $from"
	# Not inside an older link to a directory, but instead of it.
	[ -L /run/modules ] || rmdir /run/modules 2>/dev/null || :
	ln -sfn "/payload/$from/lib/modules" /run/modules
	modprobe "$module"
	;;
link)
	dev=$2 type=$3 netdev=$4
	shift 4
	rdma link add "$dev" type "$type" netdev "$netdev"
	until_true "port of $dev active" active "$dev"
	for address; do
		until_true "GID $address of $dev" gid "$dev" "$address"
	done
	;;
unlink)
	for path in /sys/class/infiniband/*; do
		[ -e "$path" ] || continue
		rdma link del "${path##*/}"
	done
	;;
unload)
	for module in rdma_rxe siw; do
		[ -d "/sys/module/$module" ] || continue
		until_true "$module unused" unused "$module"
		rmmod "$module"
	done
	;;
gid)
	gid "$2" "$3" || fail "$2 has no RoCE v2 GID $3"
	;;
*)
	sed -n '3,11s/^# \{0,1\}//p' "$0" >&2
	exit 2
	;;
esac
