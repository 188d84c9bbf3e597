/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef RXE_SQ_H
#define RXE_SQ_H

#include "rxe.h"
#include "rxe_loc.h"
#include "rxe_queue.h"

int rxe_sq_alloc_copies(struct rxe_sq *sq);
void rxe_sq_free_copies(struct rxe_sq *sq);

u64 rxe_sq_iova(const struct rxe_send_wqe *wqe);

/* The side's run, or while it is stopped */
struct rxe_send_wqe *rxe_sq_read(struct rxe_qp *qp);
bool rxe_sq_drop(struct rxe_qp *qp, struct ib_wc *wc);
enum ib_wc_status rxe_sq_check(const struct rxe_sq *sq, enum ib_qp_type type,
			       const struct rxe_send_wqe *wqe);

/**
 * rxe_sq_pending() - How many WQEs are posted that the requester has not begun?
 * @qp: the QP
 *
 * Context: any; only the side's run knows that they do not become fewer.
 */
static inline u32 rxe_sq_pending(const struct rxe_qp *qp)
{
	const struct rxe_queue *q = qp->sq.queue;

	/* a user may have written anything there */
	return (queue_get_producer(q, QUEUE_TYPE_FROM_CLIENT) -
		READ_ONCE(qp->req.wqe_index)) & q->index_mask;
}

/**
 * rxe_sq_wqe() - The driver's own view of a WQE
 * @sq: the send queue
 * @index: of a WQE that has been read
 */
static inline struct rxe_send_wqe *rxe_sq_wqe(const struct rxe_sq *sq,
					      u32 index)
{
	return sq->wqes + ((index & sq->queue->index_mask) <<
			   sq->queue->log2_elem_size);
}

static inline u32 rxe_sq_consumer(const struct rxe_sq *sq)
{
	return queue_get_consumer(sq->queue, QUEUE_TYPE_FROM_CLIENT);
}

/**
 * rxe_sq_sent() - Has all that is posted been sent?
 * @qp: the QP
 *
 * Who posts more kicks the side afterwards, and it looks again.
 */
static inline bool rxe_sq_sent(const struct rxe_qp *qp)
{
	return !rxe_sq_pending(qp);
}

/**
 * rxe_sq_oldest() - The oldest WQE that has been read and not been completed
 * @sq: the send queue
 *
 * Return: the WQE or NULL
 */
static inline struct rxe_send_wqe *rxe_sq_oldest(const struct rxe_sq *sq)
{
	u32 index = rxe_sq_consumer(sq);

	return index == sq->read ? NULL : rxe_sq_wqe(sq, index);
}

#endif /* RXE_SQ_H */
