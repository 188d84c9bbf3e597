/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_INFLIGHT_H
#define RXE_INFLIGHT_H

#include <linux/types.h>

struct rxe_qp;
struct sk_buff;

/* Bytes (truesize) of the QP's packets that the stack has not freed */
int rxe_inflight_bytes(const struct rxe_qp *qp);

/* Process context, once each in the life of a QP with a socket */
void rxe_inflight_init(struct rxe_qp *qp);
void rxe_inflight_cleanup(struct rxe_qp *qp);

/* Any context; @skb must not have an owner yet */
void rxe_inflight_charge(struct rxe_qp *qp, struct sk_buff *skb);

/* Only the QP's tasks */
bool rxe_inflight_full(struct rxe_qp *qp);

#endif /* RXE_INFLIGHT_H */
