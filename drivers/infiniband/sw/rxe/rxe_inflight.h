/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_INFLIGHT_H
#define RXE_INFLIGHT_H

#include <linux/types.h>

struct rxe_pkt_info;
struct rxe_qp;
struct sk_buff;

/* Process context, once each in the life of a QP with a socket */
void rxe_inflight_init(struct rxe_qp *qp);
void rxe_inflight_cleanup(struct rxe_qp *qp);

/* The QP's runs; @skb must not have an owner yet */
void rxe_inflight_charge(const struct rxe_pkt_info *pkt, struct sk_buff *skb);
void rxe_inflight_join(const struct rxe_pkt_info *pkt, u32 truesize,
		       u32 added);
bool rxe_inflight_full(struct rxe_qp *qp);

/* Any context */
u32 rxe_inflight_bytes(const struct rxe_qp *qp);
u32 rxe_inflight_limit(const struct rxe_qp *qp);

#endif /* RXE_INFLIGHT_H */
