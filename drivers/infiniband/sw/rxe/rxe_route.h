/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_ROUTE_H
#define RXE_ROUTE_H

#include <linux/types.h>

struct dst_entry;
struct rxe_qp;
struct sk_buff;

/**
 * struct rxe_route - The way to the peer of a connected QP
 * @dst: the route that was found last, or NULL
 * @cookie: tells of IPv6 whether it still holds
 *
 * Each side has its own, which only its run touches.
 */
struct rxe_route {
	struct dst_entry	*dst;
	u32			cookie;
};

/* A side's run, or while it is stopped */
struct dst_entry *rxe_route_find(struct rxe_route *route, struct rxe_qp *qp,
				 const struct sk_buff *skb);
void rxe_route_forget(struct rxe_route *route);

#endif /* RXE_ROUTE_H */
