/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_CQ_BATCH_H
#define RXE_CQ_BATCH_H

#include <linux/types.h>
#include <rdma/ib_verbs.h>

struct rxe_cq;
struct rxe_qp;

/* Completions that wait for each other at most */
#define RXE_CQ_BATCH	16

/**
 * struct rxe_cq_batch - Completions of one side of a QP on their way to a CQ
 * @n: how many
 * @solicited: the consumer wants to be told of one of them, even if it armed
 *	the CQ only for solicited ones
 * @tell: the consumer is to be told of some that have been written
 * @wc: the completions, in order
 *
 * Belongs to the side's run.
 */
struct rxe_cq_batch {
	unsigned int	n;
	bool		solicited;
	bool		tell;
	struct ib_wc	wc[RXE_CQ_BATCH];
};

int rxe_cq_batch_add(struct rxe_cq_batch *batch, struct rxe_cq *cq,
		     const struct ib_wc *wc, bool solicited);
int rxe_cq_batch_flush(struct rxe_cq_batch *batch, struct rxe_cq *cq);
void rxe_cq_batch_tell(struct rxe_cq_batch *batch, struct rxe_cq *cq);

/* Any context */
int rxe_cq_arm(struct rxe_cq *cq, enum ib_cq_notify_flags flags);

#endif /* RXE_CQ_BATCH_H */
