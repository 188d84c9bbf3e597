/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A multicast group that UD messages go through: the server's queue pair is
 * a member, and so is its host's IP stack, or no packet would come in.
 */
#ifndef CHECK_GROUP_H
#define CHECK_GROUP_H

#include "check_end.h"

/* An IPv4 or IPv6 multicast address as a GID. */
static void group_parse(struct plan *plan, const char *text)
{
	char mapped[INET6_ADDRSTRLEN + 8];

	snprintf(mapped, sizeof(mapped), "%s%s",
		 strchr(text, ':') ? "" : "::ffff:", text);
	if (inet_pton(AF_INET6, mapped, plan->group) != 1)
		fail("-M %s: no IPv4 or IPv6 address", text);
}

/* Become a member with a socket; returns it, to be closed at the end. */
static int group_join_ip(const struct plan *plan)
{
	struct in6_addr self = side_address();
	struct ip_mreqn four = { 0 };
	struct ipv6_mreq six = { 0 };
	bool mapped;
	int sock, error;

	memcpy(&six.ipv6mr_multiaddr, plan->group, 16);
	mapped = IN6_IS_ADDR_V4MAPPED(&six.ipv6mr_multiaddr);
	sock = socket(mapped ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	if (mapped) {
		memcpy(&four.imr_multiaddr, plan->group + 12, 4);
		memcpy(&four.imr_address, &self.s6_addr[12], 4);
		error = setsockopt(sock, IPPROTO_IP, IP_ADD_MEMBERSHIP, &four,
				   sizeof(four));
	} else {
		six.ipv6mr_interface = side_interface();
		error = setsockopt(sock, IPPROTO_IPV6, IPV6_JOIN_GROUP, &six,
				   sizeof(six));
	}
	if (error)
		fail("cannot join the multicast group: %s", strerror(errno));
	return sock;
}

/* Server: make the queue pair and the host members. */
static void group_join(struct end *end)
{
	union ibv_gid gid;
	int error;

	if (!plan_has_group(&end->plan))
		return;
	memcpy(gid.raw, end->plan.group, sizeof(gid.raw));
	end->group_sock = group_join_ip(&end->plan);
	error = ibv_attach_mcast(end->qp, &gid, 0);
	if (error)
		fail("ibv_attach_mcast: %s", strerror(error));
}

static void group_leave(struct end *end)
{
	union ibv_gid gid;
	int error;

	if (!plan_has_group(&end->plan))
		return;
	memcpy(gid.raw, end->plan.group, sizeof(gid.raw));
	error = ibv_detach_mcast(end->qp, &gid, 0);
	if (error)
		fail("ibv_detach_mcast: %s", strerror(error));
	close(end->group_sock);
}

#endif
