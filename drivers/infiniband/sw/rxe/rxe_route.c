// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The way from here to the peer of a QP.
 *
 * Stage:	tx, for the first packet of a unit
 * In:		a packet with its IP header
 * Out:		a route; a side of a connected QP remembers it
 * Context:	a side's run, which may sleep
 * Locks:	none
 * Never:	uses what is remembered without asking whether it still holds: the
 *		stack makes a route obsolete when an address, a rule, a device or
 *		another route changes
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/route.h>

#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_ns.h"
#include "rxe_route.h"

static struct dst_entry *route4(struct net *net, const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	struct flowi4 flow = {
		.flowi4_oif = skb->dev->ifindex,
		.flowi4_proto = IPPROTO_UDP,
		.saddr = ip->saddr,
		.daddr = ip->daddr,
	};
	struct rtable *rt = ip_route_output_key(net, &flow);

	return IS_ERR(rt) ? NULL : &rt->dst;
}

static struct dst_entry *route6(struct net *net, const struct sk_buff *skb)
{
	const struct ipv6hdr *ip = ipv6_hdr(skb);
	struct flowi6 flow = {
		.flowi6_oif = skb->dev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.saddr = ip->saddr,
		.daddr = ip->daddr,
	};
	struct dst_entry *dst;

	if (!IS_ENABLED(CONFIG_IPV6))
		return NULL;

	dst = ip6_dst_lookup_flow(net, rxe_ns_pernet_sk6(net), &flow, NULL);
	if (IS_ERR(dst))
		return NULL;

	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
	return dst;
}

static struct dst_entry *look_up(const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);

	if (skb->protocol == htons(ETH_P_IP))
		return route4(net, skb);
	return route6(net, skb);
}

static noinline struct dst_entry *find_another(struct rxe_route *route,
					       struct rxe_qp *qp,
					       const struct sk_buff *skb)
{
	struct dst_entry *dst = look_up(skb);

	rxe_route_forget(route);
	if (!dst) {
		rxe_dbg_qp(qp, "Host not reachable\n");
		return NULL;
	}

	if (skb->protocol == htons(ETH_P_IPV6))
		route->cookie = rt6_get_cookie(dst_rt6_info(dst));
	dst_hold(dst);
	route->dst = dst;
	return dst;
}

/**
 * rxe_route_find() - Find the route of a packet
 * @route: what the side remembers
 * @qp: the QP
 * @skb: the packet, from its IP header on; somebody holds its device
 *
 * Return: the route with a reference, or NULL if there is none now
 */
struct dst_entry *rxe_route_find(struct rxe_route *route, struct rxe_qp *qp,
				 const struct sk_buff *skb)
{
	/* datagrams have many peers */
	if (unlikely(!qp_is_connected(qp)))
		return look_up(skb);

	if (likely(route->dst && dst_check(route->dst, route->cookie))) {
		dst_hold(route->dst);
		return route->dst;
	}
	return find_another(route, qp, skb);
}

/**
 * rxe_route_forget() - Forget the route to a peer
 * @route: what a side remembers
 */
void rxe_route_forget(struct rxe_route *route)
{
	dst_release(route->dst);
	route->dst = NULL;
}
