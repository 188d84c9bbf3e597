/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_RECV_H
#define RXE_RECV_H

#include <linux/skbuff.h>
#include <linux/types.h>

#include "rxe_icrc_row.h"

struct rxe_qp;

/**
 * struct rxe_arrivals - What arrives together, on its way to the QPs
 * @why: RXE_KICK_* bit that says from where
 * @kind: of the packets in @skbs: transport, and request or answer
 * @qpn: where they say they go to
 * @qp: whose they are; NULL as long as there was none
 * @skbs: checked, in order, and not yet with the QP
 * @icrc_row: headers of one of them, for the ICRC of the next
 *
 * Most of what arrives together is for one side of one QP, which is looked up,
 * and told, once.
 */
struct rxe_arrivals {
	u32			why;
	u32			kind;
	u32			qpn;
	struct rxe_qp		*qp;
	struct sk_buff_head	skbs;
	struct rxe_icrc_row	icrc_row;
};

static inline void rxe_arrivals_init(struct rxe_arrivals *arrivals, u32 why)
{
	arrivals->why = why;
	arrivals->qp = NULL;
	__skb_queue_head_init(&arrivals->skbs);
	rxe_icrc_row_begin(&arrivals->icrc_row);
}

/* Bottom halves disabled, RCU reader until all is delivered */
void rxe_rcv(struct rxe_arrivals *arrivals, struct sk_buff *skb);
void rxe_arrivals_deliver(struct rxe_arrivals *arrivals);

#endif /* RXE_RECV_H */
